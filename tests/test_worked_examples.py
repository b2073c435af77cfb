"""The lecture notes' worked examples, to the digit."""

import csv
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from priory import NaiveBayes
from priory.base.errors import ImpossibleEvidenceWarning

EXAMPLES = Path(__file__).parent.parent / "examples"
DAY = {"outlook": "Sunny", "temperature": "Cool", "humidity": "High", "wind": "Strong"}


def table(name, target, as_type=str):
    """Return the columns of an example and its classes; an empty cell is None."""
    with open(EXAMPLES / name, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    columns = {c: [as_type(row[c]) if row[c] else None for row in rows] for c in rows[0]}
    return columns, columns.pop(target)


def joint(model, row):
    """Return P(k, row) of each class."""
    return dict(zip(model.classes_, np.exp(model.predict_joint_log_proba(row))[0], strict=True))


def exactly(fraction):
    return pytest.approx(float(fraction), rel=1e-14)


class TestPlayTennis:
    @pytest.fixture
    def model(self):
        return NaiveBayes.textbook(smoothing=0).fit(*table("play_tennis.csv", "play"))

    def test_joint(self, model):
        assert joint(model, DAY) == {
            "No": exactly(Fraction(18, 875)),
            "Yes": exactly(Fraction(1, 189)),
        }

    def test_answer(self, model):
        no = Fraction(18, 875) / (Fraction(18, 875) + Fraction(1, 189))
        assert model.predict(DAY).tolist() == ["No"]
        assert model.predict_proba(DAY)[0, 0] == exactly(no)
        assert round(model.predict_proba(DAY)[0, 0], 4) == 0.7954

    def test_overcast_never_comes_with_no(self, model):
        found = joint(model, {**dict.fromkeys(DAY), "outlook": "Overcast"})
        assert found["No"] == 0.0
        assert found["Yes"] == exactly(Fraction(4, 14))

    def test_explanation_shows_the_sum(self, model):
        text = str(model.explain(DAY)[0])
        assert "0.02057" in text  # 18/875
        assert "0.005291" in text  # 1/189
        assert "0.7954" in text


def test_two_attributes():
    model = NaiveBayes.textbook(smoothing=0).fit(*table("two_attributes.csv", "c"))
    row = {"a": "m", "b": "q"}
    assert joint(model, row) == {"f": exactly(Fraction(1, 25)), "t": exactly(Fraction(2, 25))}
    assert model.predict(row).tolist() == ["t"]
    assert model.predict_proba(row)[0, 1] == exactly(Fraction(2, 3))


def test_generative_table():
    X, y = table("generative.csv", "c", int)
    model = NaiveBayes(families="categorical", smoothing=0, weights=None).fit(X, y)
    likelihood = np.exp(model.predict_joint_log_proba({"x": [1, 2]}) - model.model_.log_prior)
    np.testing.assert_allclose(likelihood, [[2 / 3, 0], [1 / 3, 1]], rtol=1e-14)
    assert likelihood[0, 1] == 0.0
    posterior = model.predict_proba({"x": [1, 2]})
    np.testing.assert_allclose(posterior, [[1, 0], [0.5, 0.5]], rtol=1e-14)


def test_gaussian():
    X, y = table("gaussian.csv", "y", float)
    model = NaiveBayes(families="gaussian", smoothing=0, weights=None).fit(X, y)
    k = model.classes_.tolist().index(1)
    term = model.model_.terms[0]
    assert term.parameters.mean[k, 0] == pytest.approx(1.0, rel=1e-14)
    assert term.parameters.variance[k, 0] == pytest.approx(7.28 / 3, rel=1e-14)
    assert round(term.parameters.variance[k, 0], 4) == 2.4267
    x = np.array([-1.0, 0.0, 0.5, 3.0])
    density = np.exp(-((x - 1) ** 2) / 4.853) / 3.905
    rows = {**{name: [None] * 4 for name in X}, "x1": x}
    found = np.exp(model.predict_joint_log_proba(rows) - model.model_.log_prior)[:, k]
    np.testing.assert_allclose(found, density, rtol=1e-3)


class TestBernoulli:
    """P(y) = .5, P(x1|0) = .9, P(x1|1) = .2, P(x2|0) = .8, P(x2|1) = .05."""

    P1, P2 = (0.9, 0.2), (0.8, 0.05)

    @pytest.fixture
    def model(self):
        """Every (y, x1, x2) once, weighted by its probability."""
        rows = [(y, a, b) for y in (0, 1) for a in (False, True) for b in (False, True)]
        weight = [
            0.5 * (self.P1[y] if a else 1 - self.P1[y]) * (self.P2[y] if b else 1 - self.P2[y])
            for y, a, b in rows
        ]
        y, x1, x2 = zip(*rows, strict=True)
        return NaiveBayes.textbook(smoothing=0).fit({"x1": x1, "x2": x2}, y, weight)

    @staticmethod
    def evidence(model, x1, x2):
        return np.exp(model.score_samples({"x1": [x1], "x2": [x2]}))[0]

    def test_dependent(self, model):
        together = self.evidence(model, True, True)
        apart = self.evidence(model, True, None) * self.evidence(model, None, True)
        assert together == pytest.approx(0.365, rel=1e-12)
        assert apart == pytest.approx(0.23375, rel=1e-12)

    def test_independent_given_the_class(self, model):
        def likelihood(x1, x2):
            row = {"x1": [x1], "x2": [x2]}
            return np.exp(model.predict_joint_log_proba(row) - model.model_.log_prior)[0]

        product = likelihood(True, None) * likelihood(None, True)
        np.testing.assert_allclose(likelihood(True, True), product, rtol=1e-14)
        np.testing.assert_allclose(product, [0.72, 0.01], rtol=1e-12)


class TestBernoulliMaximumLikelihood:
    @staticmethod
    def fit(X, y):
        model = NaiveBayes(families="bernoulli", smoothing=0, weights=None).fit(X, y)
        on = {t.block.name: np.exp(t.parameters.log_on[0]) for t in model.model_.terms}
        return dict(zip(model.classes_.tolist(), on["x1"], strict=True))

    def test_unlabelled_row_left_out(self):
        X, y = table("bernoulli.csv", "y", int)
        kept = [i for i, label in enumerate(y) if label is not None]
        assert len(kept) == len(y) - 1
        X = {name: [values[i] for i in kept] for name, values in X.items()}
        found = self.fit(X, [y[i] for i in kept])
        assert found[1] == exactly(Fraction(1, 3))
        assert found[2] == exactly(Fraction(2, 3))

    def test_row_labelled_one(self):
        X, y = table("bernoulli.csv", "y", int)
        found = self.fit(X, [1 if label is None else label for label in y])
        assert found[1] == exactly(Fraction(1, 4))

    def test_unlabelled_row_is_refused(self):
        with pytest.raises(ValueError, match=r"y has 1 missing labels .* the first in row 4"):
            self.fit(*table("bernoulli.csv", "y", int))


class TestGiraffeAndChoir:
    """One document holds a word never seen with class 1 and one never seen with class 2."""

    @staticmethod
    def fit(smoothing):
        X, y = table("giraffe_choir.csv", "class", int)
        model = NaiveBayes(families="bernoulli", smoothing=smoothing, weights=None).fit(X, y)
        return model, {**{name: [None] for name in X}, "giraffe": [1], "choir": [1]}

    def test_without_smoothing_it_is_impossible(self):
        model, document = self.fit(0)
        with pytest.warns(ImpossibleEvidenceWarning, match=r"'(giraffe|choir)', '(giraffe|choir)'"):
            posterior = model.predict_proba(document)
        np.testing.assert_allclose(posterior[0], np.exp(model.model_.log_prior), rtol=1e-14)
        assert np.isneginf(model.predict_joint_log_proba(document)).all()

    def test_with_smoothing_it_is_not(self):
        model, document = self.fit(1)
        posterior = model.predict_proba(document)
        assert posterior.sum() == pytest.approx(1.0, rel=1e-14)
        assert ((posterior > 0) & (posterior < 1)).all()
