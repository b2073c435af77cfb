"""The printed sum is the sum."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats

from priory import Classifier, Settings

X = {
    "outlook": ["Sunny", "Rain", "Rain", "Sunny", "Rain"],
    "humidity": [85.0, 70.0, 72.5, None, 90.0],
    "windy": [True, False, None, True, False],
}
Y = ["No", "Yes", "Yes", "No", "Maybe"]


@pytest.fixture
def classifier():
    return Classifier(Settings.textbook(smoothing=1.0, families={"humidity": "student-t"})).learn(
        X, Y
    )


def printed(text):
    """Return the numbers of every line, by the title of the line."""
    lines = [line.rsplit(maxsplit=3) for line in text.splitlines()[1:]]
    return {title.strip(): np.array(numbers, dtype=float) for title, *numbers in lines}


def test_printed_factors_multiply_to_the_printed_joint(classifier):
    row = {"outlook": "Sunny", "humidity": 80.0, "windy": True}
    numbers = printed(str(classifier.explain(row)))
    factors = [v for title, v in numbers.items() if title == "P(class)" or title.startswith("×")]
    assert len(factors) == 4
    joint = np.prod(factors, axis=0)
    np.testing.assert_allclose(joint, numbers["= P(class, row)"], rtol=2e-3)
    np.testing.assert_allclose(joint / joint.sum(), numbers["P(class | row)"], atol=1e-3)
    np.testing.assert_allclose(
        numbers["P(class | row)"], classifier.predict_proba(row)[0], atol=5e-5
    )


def test_text(classifier):
    text = str(classifier.explain({"outlook": "Rain", "humidity": None, "windy": False}))
    lines = text.splitlines()
    assert lines[0].split() == ["Maybe", "No", "Yes"]
    assert [line.split("  ")[0] for line in lines[1:3]] == [
        "P(class)",
        "× P(outlook = Rain | class)",
    ]
    assert "humidity is missing" in lines[3]
    assert lines[3].count("–") == 3
    assert "windy = False" in lines[4]


def test_numbers_add_up_exactly(classifier):
    for worked in classifier.explain(X):
        total = worked.log_prior + sum(factor.log_likelihood for factor in worked.factors)
        np.testing.assert_allclose(worked.log_joint, total, rtol=1e-14)
        assert worked.posterior.sum() == pytest.approx(1.0, rel=1e-14)


def test_it_is_a_sequence(classifier):
    explanation = classifier.explain(X)
    assert len(explanation) == 5
    assert [row.factors[0].value for row in explanation] == X["outlook"]
    assert str(explanation).count("P(class | row)") == 5
    assert str(explanation[1]) in str(explanation)


def test_no_rows(classifier):
    assert len(classifier.explain({name: [] for name in X})) == 0


def test_gap_as_a_category_is_told():
    classifier = Classifier(Settings.textbook(missing={"windy": "category"})).learn(X, Y)
    text = str(
        classifier.explain({"outlook": ["Rain"] * 2, "humidity": [70.0] * 2, "windy": [None, True]})
    )
    assert "× P(windy is missing | class)" in text
    assert "× P(windy is there | class)" in text


def test_counts_show_true_probabilities():
    x, y = {"x": [0, 2, 3, 7, 5]}, ["a", "a", "a", "b", "b"]
    worked = (
        Classifier(Settings.textbook(families="poisson", smoothing=0.0))
        .learn(x, y)
        .explain({"x": 3})[0]
    )
    expected = stats.poisson.logpmf(3, [5 / 3, 6])
    np.testing.assert_allclose(worked.factors[0].log_likelihood, expected, rtol=1e-12)


def test_sparse_rows_are_described():
    matrix = sp.csr_matrix(np.array([[1.0, 0, 2], [0, 3, 0]]))
    worked = Classifier(Settings.textbook()).learn(matrix, ["a", "b"]).explain(matrix)[0]
    assert "2 columns present, sum 3" in str(worked)
    p = np.array([[2 / 6, 1 / 6, 3 / 6], [1 / 6, 4 / 6, 1 / 6]])
    expected = [stats.multinomial.logpmf([1, 0, 2], 3, row) for row in p]
    np.testing.assert_allclose(worked.factors[0].log_likelihood, expected, rtol=1e-12)


def test_family_without_a_likelihood_is_explained_all_the_same():
    counts = np.array([[1.0, 0, 2], [0, 3, 0]])
    worked = (
        Classifier(Settings.textbook(families="complement"))
        .learn(counts, ["a", "b"])
        .explain(counts)[0]
    )
    assert worked.posterior[0] > worked.posterior[1]


def test_tiny_numbers_are_powers_of_e():
    classifier = Classifier(Settings.textbook()).learn(
        {"x": [0.0, 1.0, 100.0, 101.0]}, ["a", "a", "b", "b"]
    )
    text = str(classifier.explain({"x": 100.5}))
    assert "e^-2" in text  # (100.5 − 0.5)² / (2 · 0.25) = 20,000


def test_many_classes_are_cut_off():
    n = 9
    classifier = Classifier(Settings.textbook()).learn(
        {"x": [f"v{i}" for i in range(n)]}, [f"k{i}" for i in range(n)]
    )
    text = str(classifier.explain({"x": "v8"}))
    assert "(3 less probable classes are not shown)" in text
    assert "k8" in text.splitlines()[0]
