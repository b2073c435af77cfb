"""Exported decisions are those that `decide` makes: costs, thresholds, other priors, "unsure"."""

import json

import numpy as np
import pandas as pd
import pytest

from priory import Classifier, Settings
from priory.base.errors import SettingError
from priory.cli.app import run
from priory.export import to_json, to_onnx, to_sql

from .engines import ENGINES

runtime = pytest.importorskip("onnxruntime")
pytest.importorskip("sqlglot")

COSTS = [[0, 1, 7], [4, 0, 2], [1, 3, 0]]
RULES = [
    {"costs": COSTS},
    {"costs": COSTS, "unsure_cost": 0.8},
    {"unsure": 0.7},
    {"unsure_cost": 0.3},
    {"threshold": 0.6, "positive": "mid"},
    {"threshold": 0.4, "positive": "low", "unsure": 0.5},
    {"prior": {"high": 0.7, "low": 0.2, "mid": 0.1}},
    {"prior": {"high": 0.5, "low": 0.5, "mid": 0.0}, "costs": COSTS},
]


@pytest.fixture(scope="module")
def learned():
    rng = np.random.default_rng(5)
    n = 200
    y = rng.integers(0, 3, n)
    number = rng.normal(y, 1.0, n).round(2)
    number[::7] = np.nan
    word = rng.choice(["it's", "b", None], n)
    X = pd.DataFrame({"number": number, "word": word})
    labels = np.array(["low", "mid", "high"], dtype=object)[y]
    return Classifier(Settings.textbook(weights="columns")).update(X, labels), X


def by_onnx(decided, X):
    session = runtime.InferenceSession(to_onnx(decided), providers=["CPUExecutionProvider"])
    texts = X["word"].fillna("").to_numpy(dtype=object).reshape(-1, 1)
    feed = {"number": X["number"].to_numpy().reshape(-1, 1), "word": texts}
    labels, p = session.run(["label", "probabilities"], feed)
    return labels.tolist(), p


@pytest.mark.parametrize("options", RULES, ids=lambda options: " ".join(options))
def test_the_same_everywhere(learned, options):
    classifier, X = learned
    decided = classifier.decide(**options)
    expected, shares = decided.predict(X).tolist(), decided.predict_proba(X)
    assert len(set(expected)) > 1
    for engine in ENGINES:
        numbered = X.assign(i=np.arange(len(X)))
        found = engine(numbered, to_sql(decided, "days", engine.__name__)).sort_values("i")
        assert found["prediction"].tolist() == expected
        p = found[[f"P({label})" for label in classifier.classes]].to_numpy(dtype=np.float64)
        np.testing.assert_allclose(p, shares, rtol=0, atol=1e-9)
        if "costs" in options:
            least = decided.expected_costs(X).min(axis=1)
            np.testing.assert_allclose(found["expected cost"].astype(float), least, atol=1e-9)
    labels, p = by_onnx(decided, X)
    assert labels == expected
    np.testing.assert_allclose(p, shares, rtol=0, atol=1e-9)


def test_a_view_tells_the_decision_and_its_probability(learned):
    classifier, X = learned
    decided = classifier.decide(costs=COSTS)
    for engine in ENGINES[:1]:
        query = to_sql(decided, "days", engine.__name__, view="judged", reasons=1)
        found = engine(X.assign(i=np.arange(len(X))), query.partition(" AS\n")[2])
        found = found.sort_values("i")
        expected = decided.predict(X)
        assert found["prediction"].tolist() == expected.tolist()
        codes = [classifier.classes.index(label) for label in expected]
        own = decided.predict_proba(X)[np.arange(len(X)), codes]
        np.testing.assert_allclose(found["probability"].astype(float), own, atol=1e-9)


def test_numbers_and_unsure_are_one_column():
    classifier = Classifier(Settings.textbook(weights="columns"))
    X = pd.DataFrame({"x": ["a", "a", "b", "b", "b"]})
    decided = classifier.update(X, [0, 0, 1, 1, 0]).decide(unsure=0.9, unsure_label="ask")
    expected = [str(label) for label in decided.predict(X)]
    assert ENGINES[0](X, to_sql(decided, "days"))["prediction"].tolist() == expected


def test_json_and_the_shell(learned, tmp_path, capsys):
    classifier, _ = learned
    told = to_json(classifier.decide(costs=COSTS, unsure_cost=0.8))["decision"]
    assert told["decisions"] == ["high", "low", "mid", "unsure"]
    assert np.shape(told["costs"]) == (3, 4)
    assert "decision" not in to_json(classifier)
    model, costs = tmp_path / "m.priory", tmp_path / "costs.csv"
    classifier.save(model)
    costs.write_text(",high,low,mid\nhigh,0,1,7\nlow,4,0,2\nmid,1,3,0\n")
    assert run(["export", str(model), "--to", "json", "--costs", str(costs)]) == 0
    assert json.loads(capsys.readouterr().out)["decision"]["costs"] == COSTS
    with pytest.raises(SettingError, match="positive must name"):
        run(["export", str(model), "--to", "sql", "--threshold", "0.9"])
