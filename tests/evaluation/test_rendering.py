"""Evaluations as text, HTML and JSON."""

import json
import math

import numpy as np
import pytest
from hypothesis import given

from priory.evaluation import Evaluation
from priory.evaluation.rendering import shown

from .strategies import few, judged


def many(k, n=500, names=None, how="10-fold"):
    rng = np.random.default_rng(k)
    truth = rng.integers(k, size=n)
    scores = rng.normal(size=(n, k))
    scores[np.arange(n), truth] += 2
    p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    names = names or [f"class {i}" for i in range(k)]
    return Evaluation([names[g] for g in truth], p, names, how=how)


@few
@given(judged())
def test_json(rows):
    truth, p, w = rows
    e = Evaluation(truth, p, range(p.shape[1]), w)
    told = json.loads(json.dumps(e.to_dict(), allow_nan=False))
    assert told == e.to_dict()
    assert told["accuracy"] == e.accuracy
    assert told["confusion_matrix"] == e.confusion_matrix.tolist()
    assert [row["label"] for row in told["by_class"]] == list(range(p.shape[1]))
    assert (told["auc"] is None) == math.isnan(e.auc)
    assert str(e)
    assert e._repr_html_().count("<table>") == 3


def test_json_of_predictions_alone():
    told = Evaluation.of_predictions(["a", True], ["a", "a"], how="guessed").to_dict()
    assert "log_loss" not in told
    assert told["classes"] == [True, "a"]
    assert told["how"] == "guessed"
    assert told["by_class"][0]["auc"] is None


@pytest.mark.parametrize("k", [2, 3, 5, 20, 60])
def test_text_fits_a_terminal(k):
    e = many(k)
    lines = str(e).splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) < 60
    assert lines[0] == f"10-fold: 500 rows, {k} classes"
    assert ("true ↓ predicted →" in str(e)) == (k <= 5)
    assert ("predicted as" in str(e)) == (k > 5)
    assert ("classes with fewer rows are not shown" in str(e)) == (k == 60)
    assert ("35 classes with fewer" in e._repr_html_()) == (k == 60)


def test_a_wide_matrix_numbers_its_columns():
    lines = str(many(20).confusion_table).splitlines()
    assert lines[0].split()[4:] == [str(i) for i in range(1, 21)]
    assert lines[1].startswith(" 1 class 0")
    assert lines[20].startswith("20 class 19")


def test_mistakes():
    e = Evaluation.of_predictions(list("aaabbc"), list("abbbac"))
    assert e.confusion_table.mistakes() == [("a", "b", 2), ("b", "a", 1)]
    assert e.confusion_table.mistakes(1) == [("a", "b", 2)]
    weighted = Evaluation.of_predictions(list("ab"), list("ba"), sample_weight=[0.5, 2])
    assert weighted.confusion_table.mistakes() == [("b", "a", 2.0), ("a", "b", 0.5)]
    assert "(weight 2.5)" in str(weighted)
    assert "weight" in str(weighted).splitlines()[6]


def test_odd_labels():
    names = ["<b>&", "x" * 60, "two\nlines", "", "\x1b"]
    e = many(5, names=names, how="<i>")
    text = str(e)
    assert max(map(len, text.splitlines())) <= 80
    assert "two\\nlines" in text
    assert shown("\ud800") == "\\ud800"
    assert text.encode()
    html = e._repr_html_()
    assert "<b>" not in html
    assert "<i>" not in html
    assert "&lt;b&gt;&amp;" in html
    assert "&lt;b&gt;&amp;" in e.confusion_table._repr_html_()


def test_undefined_metrics_are_dashes():
    e = Evaluation(["a", "a"], [[0.8, 0.2, 0], [0.4, 0.6, 0]], ["a", "b", "c"])
    lines = str(e).splitlines()
    assert [line.split()[1] for line in lines if line.startswith("AUC")] == ["–"]
    assert next(line for line in lines if line.startswith("c ")).split() == [*"c0", *"––––"]
