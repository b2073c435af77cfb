"""What executors add to a batch: predictions, probabilities and reasons; no cluster is needed."""

import numpy as np
import pyarrow as pa
import pytest

from priory import Classifier, Settings
from priory.base.errors import SchemaError
from priory.spark.predicting import Answer

N = 400


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, N)
    x = np.where(rng.random(N) < 0.1, np.nan, rng.normal(y, 1.0))
    size = np.where(rng.random(N) < 0.5, np.take(["s", "m", "l"], y), "s")
    return pa.table({"x": x, "size": size, "other": np.arange(N)}), y


@pytest.mark.parametrize("settings", [Settings.textbook(), Settings()], ids=["textbook", "tuned"])
@pytest.mark.parametrize("names", [("a", "b", "c"), (10, 20, 30), (0.5, 1, 2), ("a", 1, True)])
def test_predictions_have_the_type_of_the_classes(rows, settings, names):
    table, y = rows
    labels = [names[k] for k in y]
    classifier = Classifier(settings).update(table.select(["x", "size"]), labels)
    answer = Answer("model", ("x", "size"), proba=True, explain=True)
    found = answer.columns(classifier, table, "row {}".format)
    p = classifier.predict_proba(table.select(["x", "size"]))
    predicted = [classifier.classes[k] for k in p.argmax(axis=1)]
    if names[0] == "a":
        predicted = list(map(str, predicted))
    assert found["prediction"].to_pylist() == predicted
    np.testing.assert_allclose(found["probability"].to_numpy(), p.max(axis=1), rtol=1e-12)
    by_class = [found[f"P({k})"].to_numpy() for k in classifier.classes]
    np.testing.assert_allclose(np.stack(by_class, axis=1), p, rtol=1e-12)
    for i in range(0, N, 37):
        explained = classifier.explain(table.slice(i, 1).select(["x", "size"]))[0]
        first, second = np.argsort(-explained.posterior, kind="stable")[:2]
        expected = {c: s[first] - s[second] for c, s in explained.by_column().items()}
        reasons = found["explanation"][i].as_py()
        assert {r["column"]: pytest.approx(r["log_odds"], abs=1e-9) for r in reasons} == {
            column: odds for column, odds in expected.items() if odds != 0
        }
        odds = [abs(r["log_odds"]) for r in reasons]
        assert odds == sorted(odds, reverse=True)
        assert all(r["value"] == table["size"][i].as_py() for r in reasons if r["column"] == "size")


def test_a_value_that_does_not_fit_names_its_row_and_column(rows):
    table, y = rows
    classifier = Classifier(Settings.textbook()).update(table.select(["x", "size"]), y)
    texts = table.set_column(0, "x", pa.array(["1.5"] * 7 + ["seven"] * (N - 7)))
    answer = Answer("model", ("x", "size"), proba=False, explain=False)
    with pytest.raises(SchemaError, match="Row 7 of it: column 'x' is read as numbers, but holds"):
        answer.columns(classifier, texts, "row {} of it".format)
