"""What a model says of the rows that it learned, beside what rows that it has not seen say."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax
from sklearn.metrics import log_loss

from priory import Classifier, NaiveBayes, Settings, cross_validate, leave_one_out
from priory.classifier.held_out import GAIN
from priory.data.reading import infer, read, read_labels
from priory.statistics.dealing import FOLDS
from priory.statistics.hashing import row_hashes


def noise(n=150, d=30, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, d)), columns=[f"x{j}" for j in range(d)])
    return X, rng.integers(0, 2, n)


def test_columns_of_noise_are_not_told_to_help():
    figures = [leave_one_out(NaiveBayes(), *noise(seed=seed)).log_loss for seed in range(2)]
    assert np.mean(figures) > 0.67  # the class prior has 0.693


def test_a_figure_is_about_that_of_folds_with_everything_chosen_anew():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 400)
    X = pd.DataFrame({"a": rng.normal(size=400) + y, "b": np.sin(3.0 * y) + rng.normal(size=400)})
    model = NaiveBayes().fit(X, y)
    told, folds = leave_one_out(model, X, y), cross_validate(NaiveBayes(), X, y)
    assert told.how == "cross-fitted"
    assert told.log_loss == pytest.approx(folds.log_loss, abs=0.02)


def test_a_figure_is_put_right_for_the_rows_that_models_without_a_fold_lack():
    """The same is worked out by models that are fitted one by one."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 90)
    X = pd.DataFrame({f"x{j}": rng.normal(size=90) + y * (j < 3) for j in range(8)})
    fold = (row_hashes(read(X, infer(X)), read_labels(y)) % np.uint64(FOLDS)).astype(int)
    scores, learned = np.empty((90, 3)), np.zeros((90, 3))
    for f in range(FOLDS):
        found = NaiveBayes().fit(X[fold != f], y[fold != f]).predict_log_proba(X)
        scores[fold == f] = found[fold == f]
        learned[fold != f] += found[fold != f] / (FOLDS - 1)
    without, of_learned = log_loss(y, softmax(scores, 1)), log_loss(y, softmax(learned, 1))
    assert of_learned < without - 0.05
    model = NaiveBayes().fit(X, y)
    told = leave_one_out(model, X, y).log_loss
    assert told == pytest.approx(without - GAIN * (without - of_learned) / FOLDS, abs=1e-3)
    kept = model.classifier_.checked_scores[1].scores  # thresholds are found on these
    np.testing.assert_allclose(np.exp(kept).sum(axis=1), 1.0, rtol=1e-12)


def test_a_class_of_one_row_and_rows_that_are_all_alike_have_figures():
    X = {"c": list("aabbababc")}
    told = leave_one_out(NaiveBayes(), X, [0, 0, 1, 1, 0, 1, 0, 1, 2])
    assert np.isfinite(told.log_loss)
    alike = leave_one_out(NaiveBayes(), {"x": [1.5] * 4}, [0, 0, 1, 1])
    assert np.isfinite(alike.log_loss)


@pytest.mark.filterwarnings("ignore:Column 'name'")
def test_a_unique_identifier_is_no_help():
    X, y = noise(120, 2)
    X["x0"] += y
    named = X.assign(name=[f"row {i}" for i in range(120)])
    wanted = leave_one_out(NaiveBayes(), X, y).log_loss  # in other folds, for rows are other rows
    assert leave_one_out(NaiveBayes(), named, y).log_loss == pytest.approx(wanted, abs=0.05)


def test_figures_do_not_depend_on_the_road():
    X, y = noise(120, 4)
    X["x0"] += y
    whole = Classifier(Settings()).fit(X, y)
    parts = Classifier(Settings()).update(X[:50], y[:50]).update(X[50:], y[50:])
    wanted = leave_one_out(whole, X, y).log_loss
    assert leave_one_out(parts, X, y).log_loss == pytest.approx(wanted, abs=1e-6)
    some = leave_one_out(whole, X[:30], y[:30])
    rows = leave_one_out(whole, X, y).probabilities[:30]
    np.testing.assert_allclose(some.probabilities, rows, atol=1e-9)


def test_a_prior_moves_the_figures_by_its_odds():
    X, y = noise(150, 3)
    X["x0"] += y
    plain, moved = (
        leave_one_out(NaiveBayes(class_prior=prior), X, y).probabilities
        for prior in (None, {0: 0.9, 1: 0.1})
    )
    odds = np.log(moved[:, 0] / moved[:, 1]) - np.log(plain[:, 0] / plain[:, 1])
    shares = np.bincount(y) / len(y)
    np.testing.assert_allclose(odds, np.log(9.0) - np.log(shares[0] / shares[1]), atol=1e-6)
