"""Corrections of columns and pairs: found, told, kept, exported, forgotten."""

import json

import numpy as np
import pandas as pd
import pytest
from tests.export.scorer import posterior

from priory import NaiveBayes, leave_one_out, load
from priory.export import to_json, to_sql


def table(n=1500, seed=0, classes=2):
    rng = np.random.default_rng(seed)
    x, z = rng.uniform(-2, 2, (2, n))
    a, b = rng.integers(0, 3, (2, n))
    score = 3 * np.sin(2 * x) + np.where(a == b, 1.5, -1.5) + rng.logistic(size=n)
    cuts = [0.0] if classes == 2 else [-1.5, 1.5]
    frame = pd.DataFrame(
        {
            "x": np.round(x, 2),
            "shadow": np.round(x + 0.3 * z, 1),
            "a": np.array(list("pqr"))[a],
            "b": np.array(list("pqr"))[b],
        }
    )
    frame.loc[::11, "x"] = None
    frame.loc[5::13, "a"] = None
    return frame, np.array(["low", "middle", "high"])[np.searchsorted(cuts, score)]


@pytest.fixture(scope="module", params=[2, 3])
def corrected(request):
    X, y = table(classes=request.param)
    model = NaiveBayes().fit(X, y)
    assert model.classifier_.tuning.corrections
    return model, X, y


def test_they_gain_and_what_is_reported_is_true():
    X, y = table()
    new, truth = table(4000, seed=1)
    losses = {}
    for name, options in {
        "naive": {"pairs": None},
        "weights": {"weights": "columns"},
        "all": {},
    }.items():
        model = NaiveBayes(**options).fit(X, y)
        p = model.predict_proba(new)
        own = p[np.arange(len(truth)), np.searchsorted(model.classes_, truth)]
        losses[name] = -np.log(own).mean()
        assert leave_one_out(model, X, y).log_loss == pytest.approx(losses[name], abs=0.03)
    assert losses["all"] < losses["naive"] - 0.05 < losses["weights"]


def test_pairs_are_named_with_their_reason(corrected):
    model, _, _ = corrected
    assert "a × b" in str(model.schema_)
    assert "together they explain" in str(model.schema_) or "they share" in str(model.schema_)


def test_terms_add_up_to_the_probability(corrected):
    model, X, _ = corrected
    some = X.iloc[:200]
    p = model.predict_proba(some)
    for row, expected in zip(model.explain(some), p, strict=True):
        total = row.log_prior + sum(row.by_column().values())
        total = np.exp(total - total.max())
        np.testing.assert_allclose(total / total.sum(), expected, atol=1e-12)
        lines = sum(line.log_p for line in row.lines() if line.log_p is not None)
        np.testing.assert_allclose(lines - lines[0], row.log_joint - row.log_joint[0], atol=1e-9)
    assert "correction of " in str(model.explain(some)[1])


def test_a_file_keeps_them(corrected, tmp_path):
    model, X, _ = corrected
    model.save(tmp_path / "m.priory")
    again = load(tmp_path / "m.priory")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_json_tells_them(corrected):
    model, X, _ = corrected
    told = json.loads(json.dumps(to_json(model.classifier_)))
    p = model.predict_proba(X.iloc[:60])
    for values, expected in zip(X.iloc[:60].to_dict("records"), p, strict=True):
        row = {k: None if isinstance(v, float) and np.isnan(v) else v for k, v in values.items()}
        found = posterior(told, row)
        np.testing.assert_allclose([found[k] for k in model.classes_], expected, atol=1e-9)


def test_sql_computes_them(corrected):
    duckdb = pytest.importorskip("duckdb")
    model, X, _ = corrected
    families = {"x": "histogram", "shadow": "histogram"}
    model = NaiveBayes(families=families).fit(X, table(classes=len(model.classes_))[1])
    query = to_sql(model.classifier_, "X")
    assert duckdb is not None
    found = duckdb.query(query).df()
    names = [f"P({label})" for label in model.classes_]
    np.testing.assert_allclose(found[names], model.predict_proba(X), atol=1e-9)


def test_what_is_forgotten_corrects_nothing():
    X, y = table(1200)
    other, truth = table(300, seed=5)
    flipped = np.where(truth == "low", "middle", "low")
    model = NaiveBayes().fit(pd.concat([X, other], ignore_index=True), np.r_[y, flipped])
    model.forget(other, flipped)
    alone = NaiveBayes().fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), alone.predict_proba(X), atol=1e-4)


def test_chunks_and_merges_give_the_same_corrections():
    X, y = table(1200)
    whole = NaiveBayes().fit(X, y)
    parts = NaiveBayes().fit(X[:500], y[:500])
    parts.partial_fit(X[500:], y[500:])
    merged = NaiveBayes().fit(X[:700], y[:700]) + NaiveBayes().fit(X[700:], y[700:])
    for other in (parts, merged):
        np.testing.assert_allclose(other.predict_proba(X), whole.predict_proba(X), atol=1e-4)


def test_noise_is_not_corrected():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, 30)), columns=[f"x{j}" for j in range(30)])
    y = rng.integers(0, 2, 400)
    model = NaiveBayes().fit(X, y)
    assert all(len(block.columns) == 2 for block, _ in model.classifier_.tuning.corrections)
    new, truth = rng.normal(size=(2000, 30)), rng.integers(0, 2, 2000)
    p = model.predict_proba(pd.DataFrame(new, columns=X.columns))
    assert -np.log(p[np.arange(2000), truth]).mean() < np.log(2) + 0.01


def test_columns_alone_where_nothing_else_is_asked_for():
    X, y = table()
    assert all(
        len(b.columns) == 1
        for b, _ in NaiveBayes(pairs=None).fit(X, y).classifier_.tuning.corrections
    )
    assert not NaiveBayes(weights="columns").fit(X, y).classifier_.tuning.corrections
