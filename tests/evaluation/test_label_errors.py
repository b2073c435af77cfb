"""Wrong labels come first, and every row is judged."""

import numpy as np
import pytest

from priory import Classifier, NaiveBayes, find_label_errors, leave_one_out
from priory.base.errors import InputError, SettingError


def table(n=300, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = {"a": rng.normal(3 * y), "b": rng.integers(0, 4, n), "c": (y + rng.integers(0, 2, n)) % 3}
    return X, y


def test_wrong_labels_come_first():
    X, y = table()
    wrong = np.arange(0, 300, 20)
    noisy = y.copy()
    noisy[wrong] = (y[wrong] + 1) % 3
    errors = find_label_errors(X, noisy)
    assert np.isin(errors.rows[:9], wrong).all()
    assert sorted(errors.rows.tolist()) == list(range(300))
    first = errors.rows[0]
    assert errors.labels[0] == noisy[first]
    assert errors.suggested[0] == y[first]
    assert (np.diff(errors.log_odds) >= 0).all()
    assert errors.n_suspicious == (errors.log_odds < 0).sum()
    assert "rows are suspicious, cross-fitted" in str(errors)
    assert errors.to_frame().shape == (300, 5)
    assert errors.to_dict()["row"][0] == first
    assert "<table>" in errors._repr_html_()


def test_odds_are_those_of_leave_one_out():
    X, y = table()
    model = NaiveBayes.textbook().fit(X, y)
    errors, left = find_label_errors(X, y, model), leave_one_out(model, X, y)
    p = np.empty(300)
    p[errors.rows] = errors.probability
    np.testing.assert_array_equal(p, left.probabilities[np.arange(300), y])


def test_leave_one_out_answers_rows_that_were_not_sampled_in_their_order():
    """The default tunes on a sample; rows outside of it are scored too, each in its place."""
    X, y = table(900)
    model = NaiveBayes(sample_size=200).fit(X, y)
    assert len(model.classifier_.tuning_sample) <= 200
    left = leave_one_out(model, X, y)
    assert left.n_rows == 900
    part = {name: values[400:500] for name, values in X.items()}
    some = leave_one_out(model, part, y[400:500])
    np.testing.assert_array_equal(some.probabilities, left.probabilities[400:500])


def test_a_classifier_will_do():
    X, y = table(60)
    assert len(find_label_errors(X, y, Classifier())) == 60


def test_errors():
    with pytest.raises(SettingError, match="model must be one of priory's"):
        find_label_errors({"x": [1, 2]}, [0, 1], model=3)
    with pytest.raises(InputError, match="y must have two classes or more"):
        find_label_errors({"x": [1.0, 2.0, 3.0]}, [0, 0, 0])
