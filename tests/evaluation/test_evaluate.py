"""Letting models predict, ours and scikit-learn's, and the notes' examples to the digit."""

import csv
from fractions import Fraction
from math import log
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import priory
from priory import Classifier, NaiveBayes, Settings, evaluate
from priory.base.errors import InputError, NotFittedError, SettingError
from priory.examples import play_tennis

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    return X[::2], names[::2], X[1::2], names[1::2]


@pytest.mark.parametrize(
    "model",
    [
        NaiveBayes(),
        priory.GaussianNB(),
        GaussianNB(),
        make_pipeline(StandardScaler(), LogisticRegression()),
    ],
)
def test_models(model, iris):
    X, y, X_test, y_test = iris
    model.fit(X, y)
    weight = np.arange(len(y_test))
    e = evaluate(model, X_test, y_test, weight, how="every second row")
    assert e.classes == tuple(model.classes_)
    np.testing.assert_allclose(e.probabilities, model.predict_proba(X_test), rtol=1e-12)
    assert (e.predictions == model.predict(X_test)).all()
    assert e.accuracy == pytest.approx(model.score(X_test, y_test, weight))
    assert e.how == "every second row"


def test_classifier(iris):
    X, y, X_test, y_test = iris
    classifier = Classifier(Settings.textbook()).update(X, y)
    e = evaluate(classifier, X_test, y_test)
    assert (e.predictions == classifier.predict(X_test)).all()
    assert e.how == "held-out"
    with pytest.raises(NotFittedError, match="has learned nothing yet"):
        evaluate(Classifier(Settings.textbook()), X_test, y_test)


def test_a_model_with_a_threshold_is_judged_by_what_it_predicts():
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    model = FixedThresholdClassifier(
        GaussianNB(), threshold=0.999999, response_method="predict_proba"
    )
    e = evaluate(model.fit(X, y), X, y)
    assert (e.predictions == model.predict(X)).all()
    assert e.accuracy < 1


def test_a_model_without_probabilities(iris):
    X, y, X_test, y_test = iris
    e = evaluate(LinearSVC().fit(X, y), X_test, y_test)
    assert not e.has_probabilities
    assert e.accuracy > 0.9


def test_a_function(iris):
    X, y, X_test, y_test = iris
    model = GaussianNB().fit(X, y)
    weight = np.arange(len(y_test))
    e = evaluate(lambda rows: model.predict(rows), X_test, y_test, weight)
    assert not e.has_probabilities
    assert e.empirical_risk("zero-one") == pytest.approx(1 - model.score(X_test, y_test, weight))
    with pytest.raises(InputError, match=r"model\(X\) must be a label for each row, not array"):
        evaluate(model.predict_proba, X_test, y_test)
    with pytest.raises(InputError, match=r"model\(X\) must be labels such as those of y, 'setosa'"):
        evaluate(lambda rows: rows[:, 0], X_test, y_test)
    with pytest.raises(InputError, match="a label for each row, not 1"):
        evaluate(lambda rows: 1, X_test, y_test)
    with pytest.raises(InputError, match="predictions has 1 rows, labels has 75"):
        evaluate(lambda rows: ["setosa"], X_test, y_test)


def test_a_class_never_learned_is_wrong(iris):
    X, y, X_test, y_test = iris
    some = y != "virginica"
    for model in (NaiveBayes(), LinearSVC()):
        e = evaluate(model.fit(X[some], y[some]), X_test, y_test)
        assert e.classes == ("setosa", "versicolor", "virginica")
        assert e.recall()[2] == 0
    e = evaluate(NaiveBayes().fit(X[some], y[some]), X_test, y_test)
    assert e.impossible_rows == 25
    assert (e.probabilities[:, 2] == 0).all()


def test_what_it_refuses(iris):
    X, y, X_test, y_test = iris
    model = NaiveBayes().fit(X, y)
    with pytest.raises(InputError, match=r"y must have classes of the model, .* but has 0, 1"):
        evaluate(model, X_test[:2], [0, 1])
    with pytest.raises(InputError, match="probabilities has 75 rows, labels has 74"):
        evaluate(model, X_test, y_test[1:])
    with pytest.raises(SettingError, match=r"model must be a fitted classifier.*Is it fitted"):
        evaluate(GaussianNB(), X_test, y_test)
    with pytest.raises(SettingError, match="model must be a fitted classifier"):
        evaluate(NaiveBayes(), X_test, y_test)
    with pytest.raises(SettingError, match="model must be a fitted classifier"):
        evaluate("model", X_test, y_test)


# The notes' examples, with fractions


def posteriors(rows, target):
    """Return P(k | x) of each row by relative counts, as fractions."""
    classes = sorted({row[target] for row in rows})
    result = []
    for row in rows:
        joint = []
        for k in classes:
            of_class = [r for r in rows if r[target] == k]
            p = Fraction(len(of_class), len(rows))
            for column in row.keys() - {target}:
                p *= Fraction(sum(r[column] == row[column] for r in of_class), len(of_class))
            joint.append(p)
        result.append([p / sum(joint) for p in joint])
    return classes, result


def table(name):
    with open(EXAMPLES / name, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(
    ("name", "target"), [("play_tennis.csv", "play"), ("two_attributes.csv", "c")]
)
def test_worked_examples_to_the_digit(name, target):
    rows = table(name)
    classes, p = posteriors(rows, target)
    truth = [classes.index(row[target]) for row in rows]
    model = NaiveBayes.textbook(smoothing=0)
    X = [{column: row[column] for column in row if column != target} for row in rows]
    y = [row[target] for row in rows]
    e = evaluate(model.fit(X, y), X, y, how="on the rows it learned")
    np.testing.assert_allclose(e.probabilities, np.array(p, dtype=float), rtol=1e-13, atol=1e-15)

    n = len(rows)
    called = [int(row[1] > row[0]) for row in p]
    counts = [
        [sum((g, c) == (i, j) for g, c in zip(truth, called, strict=True)) for j in (0, 1)]
        for i in (0, 1)
    ]
    assert e.confusion_matrix.tolist() == counts
    (tn, fp), (fn, tp) = counts
    assert e.outcomes() == (tp, fp, fn, tn)
    precision, recall = Fraction(tp, tp + fp), Fraction(tp, tp + fn)
    f = 2 * precision * recall / (precision + recall)
    found = e.accuracy, e.precision()[1], e.recall()[1], e.f()[1], e.false_positive_rate()[1]
    expected = Fraction(tp + tn, n), precision, recall, f, Fraction(fp, fp + tn)
    assert found == pytest.approx([float(x) for x in expected], rel=1e-14)

    brier = sum((row[1] - g) ** 2 for row, g in zip(p, truth, strict=True)) / n
    assert e.brier == pytest.approx(float(brier), rel=1e-12)
    loss = -sum(log(row[g]) for row, g in zip(p, truth, strict=True)) / n
    assert e.log_loss == pytest.approx(loss, rel=1e-12)
    ahead = [
        (a[1] > b[1]) + Fraction(a[1] == b[1], 2)
        for a, g in zip(p, truth, strict=True)
        for b, h in zip(p, truth, strict=True)
        if g == 1 and h == 0
    ]
    assert e.auc == pytest.approx(float(sum(ahead) / len(ahead)), rel=1e-14)


def test_the_day_of_the_notes():
    """No with P = 0.7954: one row, its losses by hand. h = log(1/189 ÷ 18/875) = log(125/486)."""
    X, y = play_tennis()
    model = NaiveBayes.textbook(smoothing=0).fit(X, y)
    day = {"outlook": "Sunny", "temperature": "Cool", "humidity": "High", "wind": "Strong"}
    e = evaluate(model, [day], ["No"])
    assert e.predictions.tolist() == ["No"]
    assert round(e.probabilities[0, 0], 4) == 0.7954
    assert e.probabilities[0, 0] == pytest.approx(486 / 611, rel=1e-14)
    assert e.log_loss == pytest.approx(log(611 / 486), rel=1e-13)
    assert e.brier == pytest.approx((125 / 611) ** 2, rel=1e-13)
    h = log(125 / 486)  # y = −1
    assert e.log_odds() == pytest.approx([h], rel=1e-13)
    risks = {"zero-one": 0.0, "squared": (h + 1) ** 2, "hinge": max(0.0, 1 + h)}
    risks["exponential"] = 125 / 486
    for loss, risk in risks.items():
        assert e.empirical_risk(loss) == pytest.approx(risk, rel=1e-12)
