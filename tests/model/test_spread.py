"""A class whose numbers do not vary says so, instead of deciding in silence."""

import warnings

import numpy as np
import pytest

from priory import Classifier, GaussianNB, NaiveBayes, Settings
from priory.base.errors import VanishingVarianceWarning
from priory.families import MultivariateGaussian
from priory.families.priors import NormalInverseGamma

X = {"x": [1.5, 2.0, 2.5, 4.0], "z": [0.5, 0.1, 0.7, 0.2]}
Y = ["a", "a", "a", "b"]


def spikes(fit):
    """Return what is said of classes without spread."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit()
    return [str(w.message) for w in caught if w.category is VanishingVarianceWarning]


def test_one_row_of_a_class_names_column_class_and_cure():
    said = spikes(lambda: NaiveBayes.textbook().fit(X, Y))
    assert [text.partition(" have variance 0")[0] for text in said] == [
        "The numbers of column 'x' in class 'b'",
        "The numbers of column 'z' in class 'b'",
    ]
    with pytest.warns(VanishingVarianceWarning, match=r"smoothing=\{'x': NormalInverseGamma\(\)\}"):
        NaiveBayes.textbook().fit({"x": X["x"]}, Y)


@pytest.mark.parametrize(
    "settings",
    [
        {"smoothing": NormalInverseGamma()},
        {"families": "gaussian-shared"},
        {"families": "student-t"},
        {"families": "categorical"},
    ],
)
def test_the_cures_cure(settings):
    assert spikes(lambda: NaiveBayes.textbook(**settings).fit(X, Y)) == []


def test_the_same_number_in_all_rows_of_a_class():
    x = np.array([0.5, 0.5, 0.5, 1.5, 2.5, 3.5])
    (said,) = spikes(lambda: NaiveBayes.textbook().fit({"x": x}, list("aaabbb")))
    assert "in class 'a' have variance 0" in said
    (said,) = spikes(lambda: NaiveBayes.textbook().fit({"x": x}, list("abcdef")))
    assert "in classes 'a', 'b', 'c', 'd', 'e' and 1 more have variance 0" in said


def test_a_block_of_columns_is_named_by_all_of_them():
    block = ("x", "z")
    said = spikes(lambda: NaiveBayes.textbook(families={block: "gaussian"}).fit(X, Y))
    assert len(said) == 2 and "smoothing={('x', 'z'): NormalInverseGamma()}" in said[0]
    cured = NaiveBayes.textbook({block: NormalInverseGamma()}, {block: "gaussian"})
    assert spikes(lambda: cured.fit(X, Y)) == []


def test_shared_variance_that_vanishes_in_all_classes():
    model = NaiveBayes.textbook(families="gaussian-shared")
    (said,) = spikes(lambda: model.fit({"x": [1, 9]}, Y[2:]))
    assert "in classes 'a', 'b'" in said


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([1.5, 1.5, 1.5, 1.5], list("aabb")),  # the column does not vary at all
        ([1.5, 2.5, 1.0, np.nan], list("aaab")),  # a class that has nothing but gaps
        ([1e9 + 0.25, 1e9, 1e9 + 1, 1e9 + 1.5], list("aabb")),
    ],
)
def test_what_is_no_spike(x, y):
    assert spikes(lambda: NaiveBayes.textbook().fit({"x": x}, y)) == []


def test_a_class_without_rows_is_no_spike():
    classifier = (
        Classifier(Settings.textbook()).update({"x": [1.5, 2.5]}, ["a", "a"]).declare(["b"])
    )
    assert spikes(lambda: classifier.model) == []


def test_it_is_said_once():
    classifier = Classifier(Settings.textbook()).update(X, Y)
    assert len(spikes(lambda: classifier.predict(X))) == 2
    classifier.update(X, Y[::-1])
    assert spikes(lambda: classifier.predict(X)) == []


def test_scikit_learns_rule_needs_no_word():
    assert spikes(lambda: GaussianNB().fit([[1.5], [2.5], [4.0]], ["a", "a", "b"])) == []


# Several columns together

BLOCK = {("x", "z"): "multivariate-gaussian"}


def test_a_covariance_that_cannot_be_inverted():
    said = spikes(lambda: NaiveBayes.textbook(families=BLOCK).fit(X, Y))
    assert len(said) == 1 and "column 'x, z' in class 'b' have a singular covariance" in said[0]
    assert "shrinkage='auto'" in said[0]
    line = {"x": [1.5, 2.0, 3.5, 4.0, 6.0, 1.0], "z": [3.0, 4.0, 7.0, 8.0, 5.0, 9.0]}
    (said,) = spikes(lambda: NaiveBayes.textbook(families=BLOCK).fit(line, list("aaaabb")))
    assert "in classes 'a', 'b' have a singular" in said  # 2x = z; and two rows are a line as well


@pytest.mark.parametrize("family", [MultivariateGaussian("auto"), MultivariateGaussian(0.5)])
def test_shrinkage_cures_it(family):
    line = {"x": [1.5, 2.0, 3.5, 4.0, 6.0, 1.0, 2.0], "z": [3.0, 4.0, 7.0, 8.0, 5.0, 9.0, 1.0]}
    fit = NaiveBayes.textbook(families={("x", "z"): family}).fit
    assert spikes(lambda: fit(line, list("aaaabbb"))) == []


def test_a_shared_covariance():
    fit = NaiveBayes.textbook(families={("x", "z"): MultivariateGaussian(shared=True)}).fit
    assert spikes(lambda: fit(X, Y)) == []
    (said,) = spikes(lambda: fit({"x": [1.0, 2.0, 5.0], "z": [2.0, 4.0, 5.0]}, ["a", "a", "b"]))
    assert "in classes 'a', 'b' have a singular covariance" in said
