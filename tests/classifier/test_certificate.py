"""Certificates of forgetting."""

import json
import os

import numpy as np
import pandas as pd
import pytest

from priory import Classifier, Settings
from priory.base.errors import InputError
from priory.classifier.certificate import Certificate, digest, forget_certified


def drawn(rng, n):
    X = pd.DataFrame(
        {
            "label": rng.choice(list("abcde"), n),
            "number": rng.normal(size=n).round(int(rng.integers(0, 6)))
            * 10.0 ** rng.integers(-3, 4),
            "flag": rng.random(n) < 0.3,
            "text": [" ".join(rng.choice(["red", "green", "blue", "x"], 4)) for _ in range(n)],
        }
    )
    X.loc[rng.random(n) < 0.2, "number"] = np.nan
    return X, rng.choice(["u", "v", "w"], n)


def test_forgetting_is_never_having_learned():
    """To the bit for counts; `CASES=1000 pytest tests/classifier/test_certificate.py`."""
    settings = Settings.textbook(text=["text"])
    for seed in range(int(os.environ.get("CASES", "80"))):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(3, 25))
        X, y = drawn(rng, n)
        gone = rng.random(n) < rng.uniform(0.1, 0.9)
        gone[0], gone[1] = False, True
        model = Classifier(settings).update(X, y)
        if seed % 3 == 0:  # in pieces, in another order
            order = rng.permutation(n)
            X, y, gone = X.iloc[order], y[order], gone[order]
            model = Classifier(settings).update(X[:2], y[:2]).update(X[2:], y[2:])
        model.forget(X[gone], y[gone])
        fresh = model.blank().update(X[~gone], y[~gone])
        same = digest(model.statistics, True) == digest(fresh.statistics, True)
        assert same, seed


def test_a_certificate_holds_and_notices_changes():
    rng = np.random.default_rng(1)
    X, y = drawn(rng, 60)
    model = Classifier(Settings.textbook()).update(X, y)
    before = model.copy()
    paper = forget_certified(model, X[:5], y[:5])
    gone = before.blank().update(X[:5], y[:5]).statistics
    assert all(paper.check(model.statistics, before.statistics, gone).values())
    assert (paper.rows, paper.before_rows, paper.after_rows) == (5, 60, 55)
    assert len(set(paper.row_digests)) == 5 and "sums alone" in paper.tuning
    model.update(X[:1], y[:1])
    assert not any(paper.check(model.statistics).values())
    other = before.blank().update(X[1:6], y[1:6]).statistics
    found = paper.check(before.statistics, before.statistics, other)
    assert not found["before − rows = after"]


def test_digests_do_not_give_rows_away():
    rng = np.random.default_rng(2)
    X, y = drawn(rng, 30)
    papers = []
    for _ in range(2):
        papers.append(forget_certified(Classifier(Settings.textbook()).update(X, y), X[:2], y[:2]))
    assert papers[0].after == papers[1].after
    assert not set(papers[0].row_digests) & set(papers[1].row_digests)


def test_tuning_is_told():
    rng = np.random.default_rng(3)
    X, y = drawn(rng, 120)
    model = Classifier().update(X, y)
    paper = forget_certified(model, X[:5], y[:5])
    assert "chosen anew" in paper.tuning
    assert not model.tuning_sample.holds(*model._learned_rows(X[:5], y[:5], None)[:2]).any()
    stale = Classifier().update_statistics(Classifier().update(X, y).statistics)
    assert "kept" in forget_certified(stale, X[:5], y[:5]).tuning
    assert (
        "nothing is left"
        in forget_certified(Classifier(Settings.textbook()).update(X, y), X, y).tuning
    )


def test_json_there_and_back():
    rng = np.random.default_rng(4)
    X, y = drawn(rng, 20)
    paper = forget_certified(Classifier(Settings.textbook()).update(X, y), X[:2], y[:2])
    assert Certificate.from_json(paper.to_json()) == paper
    plain = json.loads(paper.to_json())
    for broken in (
        "no json",
        "[]",
        "{}",
        json.dumps({**plain, "certificate": "other"}),
        json.dumps({**plain, "salt": "zz"}),
        json.dumps({**plain, "more": 1}),
        json.dumps({**plain, "after": 3}),
    ):
        with pytest.raises(InputError, match="no certificate of priory"):
            Certificate.from_json(broken)
