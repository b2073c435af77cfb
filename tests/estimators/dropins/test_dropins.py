"""The drop-ins against scikit-learn's classes, and what they can do beyond them."""

from contextlib import nullcontext

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
import sklearn.naive_bayes as theirs
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, MinMaxScaler, StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import priory
from priory import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, NaiveBayes
from priory.base.errors import (
    DriftWarning,
    ForgetError,
    InputError,
    SettingError,
    UnseenValueError,
)
from priory.families.priors import MEstimate

ALL = [BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB]
DISCRETE = [BernoulliNB, CategoricalNB, ComplementNB, MultinomialNB]
OVER_COUNTS = [BernoulliNB, ComplementNB, MultinomialNB]
ATTRIBUTES = {
    BernoulliNB: ("feature_count_", "feature_log_prob_", "class_count_", "class_log_prior_"),
    CategoricalNB: ("category_count_", "feature_log_prob_", "class_count_", "n_categories_"),
    ComplementNB: ("feature_count_", "feature_all_", "feature_log_prob_", "class_count_"),
    GaussianNB: ("theta_", "var_", "epsilon_", "class_prior_", "class_count_"),
    MultinomialNB: ("feature_count_", "feature_log_prob_", "class_count_", "class_log_prior_"),
}


def count_data(n=120):
    """Return counts of five columns in three classes that differ in size."""
    rng = np.random.default_rng(3)
    y = np.array(["ant", "bee", "cat"])[rng.choice(3, n, p=[0.5, 0.3, 0.2])]
    shift = np.array([{"ant": 0, "bee": 1, "cat": 2}[label] for label in y])
    rates = np.array([[3, 0.5, 1, 2, 0.2], [0.5, 3, 1, 1, 0.2], [1, 1, 4, 0.3, 1.0]])
    return rng.poisson(rates[shift]).astype(float), y


def same(a, b, atol=1e-10):
    for x, y in zip(a, b, strict=True) if isinstance(a, list) else [(a, b)]:
        np.testing.assert_allclose(x, y, rtol=1e-10, atol=atol)


def same_model(a, b, X):
    """Hold two estimators to each other: classes, counts and answers."""
    assert a.classes_.tolist() == b.classes_.tolist()
    same(a.class_count_, b.class_count_)
    same(a.predict_joint_log_proba(X), b.predict_joint_log_proba(X))


def snapshot(model, X):
    return model.statistics_, model.classes_.tolist(), model.predict_log_proba(X).tolist()


# scikit-learn's rules and results


@pytest.mark.parametrize("missing", ["error", "skip"])
@pytest.mark.parametrize("Estimator", ALL)
def test_check_estimator(Estimator, missing):
    done = check_estimator(Estimator(missing=missing), on_fail=None, on_skip=None)
    skipped = {"check_array_api_input"}  # which needs SCIPY_ARRAY_API=1 from the start
    others = [c["check_name"] for c in done if c["status"] != "passed"]
    assert set(others) <= skipped
    assert sum(check["status"] == "passed" for check in done) > 45


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("Estimator", DISCRETE)
@pytest.mark.parametrize("options", [{}, {"alpha": 0.1}, {"fit_prior": False}], ids=str)
def test_results_equal_scikit_learns(Estimator, options, weighted):
    X, y = count_data()
    weight = np.random.default_rng(1).uniform(0.2, 3, len(y)) if weighted else None
    their = getattr(theirs, Estimator.__name__)(**options).fit(X, y, weight)
    ours = Estimator(**options).fit(X, y, weight)
    assert ours.classes_.tolist() == their.classes_.tolist()
    for name in ATTRIBUTES[Estimator]:
        same(getattr(ours, name), getattr(their, name))
    for answer in ("predict_joint_log_proba", "predict_log_proba", "predict_proba"):
        same(getattr(ours, answer)(X), getattr(their, answer)(X))
    assert ours.predict(X).tolist() == their.predict(X).tolist()


def test_complement_norm_and_binarize_equal_scikit_learns():
    X, y = count_data()
    pairs = [(ComplementNB, {"norm": True}), (BernoulliNB, {"binarize": 2.5})]
    for Estimator, options in pairs:
        their = getattr(theirs, Estimator.__name__)(**options).fit(X, y)
        ours = Estimator(**options).fit(X, y)
        same(ours.predict_joint_log_proba(X), their.predict_joint_log_proba(X))
    plain = theirs.BernoulliNB(binarize=None).fit((X > 0) * 1.0, y)
    ours = BernoulliNB(binarize=None).fit((X > 0) * 1.0, y)
    same(ours.predict_joint_log_proba(X > 0), plain.predict_joint_log_proba(X > 0))


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
@pytest.mark.parametrize("priors", [None, "given"])
def test_gaussian_equals_scikit_learns(load, priors):
    X, y = load(return_X_y=True)
    if priors == "given":
        priors = np.arange(1, len(set(y)) + 1) / np.arange(1, len(set(y)) + 1).sum()
    their, ours = (m.GaussianNB(priors=priors).fit(X, y) for m in (theirs, priory))
    for name in ATTRIBUTES[GaussianNB]:
        np.testing.assert_allclose(getattr(ours, name), getattr(their, name), rtol=1e-10)
    found, expected = (m.predict_joint_log_proba(X) for m in (ours, their))
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


def test_gaussian_weights_equal_scikit_learns_without_smoothing():
    X, y = load_iris(return_X_y=True)
    weight = np.random.default_rng(2).uniform(0.2, 3, len(y))
    their = theirs.GaussianNB(var_smoothing=0).fit(X, y, weight)
    ours = GaussianNB(var_smoothing=0).fit(X, y, weight)
    for name in ("theta_", "var_", "class_prior_", "class_count_"):
        same(getattr(ours, name), getattr(their, name))
    same(ours.predict_joint_log_proba(X), their.predict_joint_log_proba(X))


@pytest.mark.parametrize("Estimator", ALL)
def test_weights_are_repetition(Estimator):
    X, y = count_data()
    times = np.random.default_rng(4).integers(0, 4, len(y))
    options = {"var_smoothing": 0.1} if Estimator is GaussianNB else {}
    weighted = Estimator(**options).fit(X, y, times.astype(float))
    repeated = Estimator(**options).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    same_model(weighted, repeated, X)
    for name in ATTRIBUTES[Estimator]:
        same(getattr(weighted, name), getattr(repeated, name))


# One path for dense, sparse, single rows and chunks


@pytest.mark.parametrize("Estimator", OVER_COUNTS)
def test_dense_is_sparse(Estimator):
    X, y = count_data()
    dense, sparse = Estimator().fit(X, y), Estimator().fit(sp.csr_array(X), y)
    assert dense.statistics_ == sparse.statistics_
    same_model(dense, sparse, X)
    same(dense.predict_log_proba(sp.csr_array(X)), dense.predict_log_proba(X))
    same(dense.predict_log_proba(sp.csc_array(X)), dense.predict_log_proba(X))


@pytest.mark.parametrize("Estimator", ALL)
def test_rows_are_answered_one_by_one_as_together(Estimator):
    X, y = count_data()
    model = Estimator().fit(X, y)
    one_by_one = np.concatenate([model.predict_log_proba(X[[i]]) for i in range(len(X))])
    same(one_by_one, model.predict_log_proba(X), atol=1e-12)


@pytest.mark.parametrize("size", [1, 7, 60])
@pytest.mark.parametrize("Estimator", ALL)
def test_partial_fit_in_chunks_is_fit(Estimator, size):
    X, y = count_data()
    whole, chunked = Estimator().fit(X, y), Estimator()
    for i in range(0, len(y), size):
        chunked.partial_fit(X[i : i + size], y[i : i + size], classes=np.unique(y))
    same_model(chunked, whole, X)
    for name in ATTRIBUTES[Estimator]:
        same(getattr(chunked, name), getattr(whole, name))


class TestSingleRows:
    """A stream of single rows takes a shorter way, which must lead to the same place."""

    X, _ = count_data()
    y = np.arange(120) % 3

    def streamed(self, start, X, y):
        for i in range(len(y)):
            start.partial_fit(X[i : i + 1], y[i : i + 1])
        return start

    @pytest.mark.parametrize("order", ["C", "F"])
    @pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
    @pytest.mark.parametrize("options", [{}, {"missing": "skip", "new_classes": "add"}])
    def test_as_learned_together(self, options, dtype, order):
        X = np.asarray(self.X, dtype=dtype, order=order)
        start = GaussianNB(**options).fit(X[:60], self.y[:60])
        streamed = self.streamed(start, X[60:], self.y[60:])
        whole = GaussianNB(**options).fit(X, self.y)
        same_model(streamed, whole, X)
        same(streamed.var_, whole.var_)
        assert streamed.classes_.dtype == whole.classes_.dtype
        assert (streamed.statistics_.rows == whole.statistics_.rows).all()

    def test_truths_are_classes_too(self):
        truths = self.y > 0
        start = GaussianNB().fit(self.X[:60], truths[:60])
        same_model(
            self.streamed(start, self.X[60:], truths[60:]), GaussianNB().fit(self.X, truths), self.X
        )

    def test_what_others_hold_does_not_change(self):
        model = GaussianNB().fit(self.X, self.y)
        held, twin = model.statistics_, model + GaussianNB().fit(self.X, self.y)
        before, twins = held.copy(), twin.statistics_.copy()
        old_model, answers = model.model_, model.predict_proba(self.X)
        for _ in range(2):
            model.partial_fit(self.X[:1], self.y[:1])
        assert held == before
        assert twin.statistics_ == twins
        assert model.statistics_.n_rows == before.n_rows + 2
        assert model.model_ is not old_model
        assert (model.predict_proba(self.X) != answers).any()

    def test_what_is_out_of_the_ordinary_is_looked_into(self):
        model = GaussianNB().fit(self.X, self.y)
        before = model.statistics_.copy()
        row, known, gap = self.X[:1], self.y[:1], np.full((1, 5), np.nan)
        with pytest.raises(InputError, match="do not exist in the initial classes"):
            model.partial_fit(row, np.array([7]))
        with pytest.raises(ValueError, match="contains NaN"):
            model.partial_fit(gap, known)
        with pytest.raises(ValueError, match="infinity"):
            model.partial_fit(row + np.inf, known)
        with pytest.raises(ValueError, match="4 features"):
            model.partial_fit(row[:, :4], known)
        with pytest.raises(InputError, match="is not the same as on last call"):
            model.partial_fit(row, known, classes=[1, 2])
        with pytest.raises(SettingError, match="missing must be"):
            model.set_params(missing="what").partial_fit(row, known)
        assert model.statistics_ == before

    def test_gaps_and_new_classes_are_let_in_if_they_may(self):
        model = GaussianNB(missing="skip", new_classes="add").fit(self.X, self.y)
        row = self.X[:1].copy()
        row[0, 2] = np.nan
        model.partial_fit(row, self.y[:1]).partial_fit(self.X[1:2], np.array([7]))
        assert model.classes_.tolist() == [0, 1, 2, 7]
        assert model.class_count_.tolist() == [41, 40, 40, 1]
        assert model.statistics_.tables["X"].rows[0].tolist() == [41, 41, 40, 41, 41]

    def test_names_of_columns_are_missed(self):
        frame = load_iris(as_frame=True)
        model = GaussianNB().fit(frame.data, frame.target)
        with pytest.warns(UserWarning, match="does not have valid feature names"):
            model.partial_fit(frame.data.to_numpy()[:1], frame.target.to_numpy()[:1])
        plain = model.fit(frame.data.to_numpy(), frame.target.to_numpy())
        assert not hasattr(plain, "feature_names_in_")


# Smoothing


def test_alpha_for_each_column():
    X, y = count_data()
    alpha = np.array([0.0, 0.5, 1.0, 2.0, 10.0])
    for Estimator in (MultinomialNB, ComplementNB):
        their = getattr(theirs, Estimator.__name__)(alpha=alpha).fit(X + 1, y)
        ours = Estimator(alpha=alpha).fit(X + 1, y)
        same(ours.predict_joint_log_proba(X + 1), their.predict_joint_log_proba(X + 1))
    # scikit-learn's BernoulliNB cannot: it adds alpha to the counts of the classes.
    whole = BernoulliNB(alpha=alpha).fit(X, y)
    n = np.array([[np.sum(y == label)] for label in ("ant", "bee", "cat")])
    present = np.stack([(X[y == label] > 0).sum(axis=0) for label in ("ant", "bee", "cat")])
    same(np.exp(whole.feature_log_prob_), (present + alpha) / (n + 2 * alpha))
    by_column = BernoulliNB(alpha=alpha, missing="skip").fit(X, y)
    same(by_column.feature_log_prob_, whole.feature_log_prob_)


def test_alpha_for_each_column_of_categories():
    X, y = count_data()
    alpha = [0.5, 1.0, 2.0, 3.0, 10.0]
    model = CategoricalNB(alpha=alpha).fit(X, y)
    for j, a in enumerate(alpha):
        alone = theirs.CategoricalNB(alpha=a).fit(X[:, [j]], y)
        same(model.feature_log_prob_[j], alone.feature_log_prob_[0])


def test_alpha_may_be_a_prior():
    X, y = count_data()
    found = np.exp(MultinomialNB(alpha=MEstimate(3.0)).fit(X, y).feature_log_prob_)
    counts = np.stack([X[y == label].sum(axis=0) for label in ("ant", "bee", "cat")])
    same(found, (counts + 3 / 5) / (counts.sum(axis=1, keepdims=True) + 3))
    found = np.exp(BernoulliNB(alpha=MEstimate(4.0)).fit(X, y).feature_log_prob_)
    n = np.array([[np.sum(y == label)] for label in ("ant", "bee", "cat")])
    present = np.stack([(X[y == label] > 0).sum(axis=0) for label in ("ant", "bee", "cat")])
    same(found, (present + 2) / (n + 4))


@pytest.mark.parametrize("Estimator", [MultinomialNB, BernoulliNB, CategoricalNB])
def test_alpha_0_means_0(Estimator):
    X, y = np.array([[1, 0, 2], [2, 0, 1], [0, 1, 2], [0, 2, 1]]), np.array([0, 0, 1, 1])
    model = Estimator(alpha=0).fit(X, y)
    found = model.predict_proba([[1, 0, 2], [0, 1, 1]])
    assert found.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert np.isneginf(model.predict_log_proba([[1, 0, 2]])[0, 1])


def test_small_alpha_is_raised_without_force_alpha():
    X, y = count_data()
    with pytest.warns(UserWarning, match=r"alpha too small will result in numeric errors"):
        raised = MultinomialNB(alpha=0, force_alpha=False).fit(X, y)
    same_model(raised, MultinomialNB(alpha=1e-10).fit(X, y), X)


# Gaps and categories never seen


def with_gaps(X, share=0.2):
    X = X.copy()
    X[np.random.default_rng(9).random(X.shape) < share] = np.nan
    return X


def test_gaussian_leaves_gaps_out():
    X, y = load_iris(return_X_y=True)
    X = with_gaps(X)
    model = GaussianNB(missing="skip", var_smoothing=0).fit(X, y)
    for j in range(X.shape[1]):
        there = ~np.isnan(X[:, j])
        alone = theirs.GaussianNB(var_smoothing=0).fit(X[there][:, [j]], y[there])
        same(model.theta_[:, [j]], alone.theta_)
        same(model.var_[:, [j]], alone.var_)
    row = np.array([[5.0, np.nan, np.nan, np.nan]])
    expected = np.log(model.class_prior_) + (
        -0.5 * np.log(2 * np.pi * model.var_[:, 0])
        - (5.0 - model.theta_[:, 0]) ** 2 / (2 * model.var_[:, 0])
    )
    same(model.predict_joint_log_proba(row)[0], expected)


@pytest.mark.parametrize("Estimator", [BernoulliNB, CategoricalNB])
def test_gaps_in_columns_of_values_are_left_out(Estimator):
    X, y = count_data()
    X = with_gaps(X)
    model = Estimator(missing="skip").fit(X, y)
    expected = np.zeros((len(y), 3)) + model.class_log_prior_
    for j in range(X.shape[1]):
        there = ~np.isnan(X[:, j])
        alone = getattr(theirs, Estimator.__name__)().fit(X[there][:, [j]], y[there])
        scores = alone.predict_joint_log_proba(X[there][:, [j]]) - alone.class_log_prior_
        expected[there] += scores
    same(model.predict_joint_log_proba(X), expected)


@pytest.mark.parametrize("Estimator", [MultinomialNB, ComplementNB])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_a_count_that_is_not_known_adds_nothing(Estimator, container):
    X, y = count_data()
    gaps = with_gaps(X)
    model = Estimator(missing="skip").fit(container(gaps), y)
    same_model(model, Estimator().fit(np.nan_to_num(gaps), y), np.nan_to_num(gaps))
    same(
        model.predict_log_proba(container(gaps)),
        model.predict_log_proba(np.nan_to_num(gaps)),
    )
    assert np.isnan(gaps).any(), "the data of the user stay as they were"


@pytest.mark.parametrize("Estimator", ALL)
def test_gaps_stop_by_default(Estimator):
    X, y = count_data()
    with pytest.raises(ValueError, match="NaN"):
        Estimator().fit(with_gaps(X), y)


def test_unseen_categories():
    X, y = np.array([[0, 1], [1, 1], [2, 0], [2, 1]]), np.array([0, 0, 1, 1])
    known, new = [[2, 1]], [[7, 1]]
    skip = CategoricalNB().fit(X, y)
    alone = CategoricalNB().fit(X[:, [1]], y)
    same(skip.predict_log_proba(new), alone.predict_log_proba([[1]]))
    smooth = CategoricalNB(unseen="smooth").fit(X, y)
    # One more place in each column: (0 + 1) / (2 + 4) in both classes, then 3/5 and 2/5.
    same(smooth.predict_proba(new), [[3 / 5, 2 / 5]])
    strict = CategoricalNB(unseen="error").fit(X, y)
    same(strict.predict_log_proba(known), skip.predict_log_proba(known))
    with pytest.raises(UnseenValueError, match=r"value 7 was never learned"):
        strict.predict(new)


def test_categories_may_come_later():
    X, y = count_data()
    first, later = CategoricalNB().fit(X[:60], y[:60]), CategoricalNB().fit(X, y)
    assert first.n_categories_.tolist() < later.n_categories_.tolist()
    same_model(first.partial_fit(X[60:], y[60:]), later, X)


# Classes


@pytest.mark.parametrize("Estimator", ALL)
def test_new_classes(Estimator):
    X, y = count_data()
    old = y != "cat"
    model = Estimator(new_classes="add").partial_fit(X[old], y[old])
    assert model.classes_.tolist() == ["ant", "bee"]
    model.partial_fit(X[~old], y[~old])
    same_model(model, Estimator().fit(X, y), X)
    strict = Estimator().partial_fit(X[old], y[old], classes=["ant", "bee"])
    before = snapshot(strict, X)
    with pytest.raises(InputError, match=r"\['cat'\] in y do not exist in the initial classes"):
        strict.partial_fit(X, y)
    assert snapshot(strict, X) == before


@pytest.mark.parametrize("Estimator", ALL)
def test_longer_names_of_classes_are_not_cut(Estimator):
    X, y = count_data()
    long = ["a much longer name"] * 5
    model = Estimator(new_classes="add").partial_fit(X, y).partial_fit(X[:5], long)
    assert model.classes_.tolist() == ["a much longer name", "ant", "bee", "cat"]
    merged = Estimator().fit(X, y) + Estimator().fit(X[:5], long)
    assert merged.classes_.tolist() == model.classes_.tolist()
    named = Estimator().partial_fit(X, y, classes=[*np.unique(y), "long after"])
    assert named.classes_.tolist() == ["ant", "bee", "cat", "long after"]


@pytest.mark.parametrize("Estimator", [*ALL, NaiveBayes])
def test_classes_of_another_type(Estimator):
    X, y = count_data()
    numbers = (y == "ant") * 1
    model = Estimator().fit(X, numbers.astype(np.int8))
    assert model.classes_.dtype == np.int8
    assert model.fit(X, y).classes_.tolist() == ["ant", "bee", "cat"]
    options = {} if Estimator is NaiveBayes else {"new_classes": "add"}
    model = Estimator(**options).partial_fit(X, numbers + 300)
    model.partial_fit(X[:9], numbers[:9].astype(np.int8))
    assert model.classes_.tolist() == [0, 1, 300, 301]
    with pytest.warns(DriftWarning) if Estimator is NaiveBayes else nullcontext():
        mixed = model.partial_fit(X[:9], y[:9]).classes_.tolist()
    assert [c for c in mixed if not isinstance(c, str)] == [0, 1, 300, 301]
    assert set(y[:9]) < set(mixed)


@pytest.mark.parametrize("Estimator", ALL)
def test_masked_arrays(Estimator):
    X, y = count_data()
    mask = np.zeros(X.shape, dtype=bool)
    mask[3, 1] = mask[8, 2] = True
    for masked in (np.ma.masked_array(X, mask), np.ma.masked_array(X.astype(int), mask)):
        with pytest.raises(ValueError, match=r"NaN"):
            Estimator().fit(masked, y)
        if Estimator in (GaussianNB, CategoricalNB):
            plain = np.where(mask, np.nan, X)
            np.testing.assert_array_equal(
                Estimator(missing="skip").fit(masked, y).predict_proba(masked),
                Estimator(missing="skip").fit(plain, y).predict_proba(plain),
            )
    unmasked = np.ma.masked_array(X, np.zeros(X.shape, dtype=bool))
    model = Estimator().fit(unmasked, y)
    np.testing.assert_array_equal(model.predict_proba(X), Estimator().fit(X, y).predict_proba(X))
    with pytest.raises(ValueError, match=r"NaN"):
        model.predict(np.ma.masked_array(X, mask))
    with pytest.raises(InputError, match=r"y has 1 missing labels .* first in row 2"):
        Estimator().fit(X, np.ma.masked_array(y, np.arange(len(y)) == 2))


@pytest.mark.parametrize("options", [{}, {"uniform": True}], ids=["shares", "uniform"])
@pytest.mark.parametrize("Estimator", ALL)
def test_a_declared_class_without_rows_never_wins(Estimator, options):
    X, y = count_data()
    kwargs = {"fit_prior": False} if options and Estimator is not GaussianNB else {}
    model = Estimator(**kwargs).partial_fit(X, y, classes=["ant", "bee", "cat", "dog"])
    p = model.predict_proba(np.concatenate([X, 100 * X, np.zeros((1, 5))]))
    assert np.isfinite(p).all()
    if Estimator is not ComplementNB:  # whose scores do not use the class prior
        assert (p[:, 3] == 0).all()
    assert "dog" not in model.predict(X)
    assert model.class_count_[3] == 0


# Forgetting, merging, fading


@pytest.mark.parametrize("Estimator", ALL)
def test_forgetting_is_never_having_seen(Estimator):
    X, y = count_data()
    model = Estimator().fit(X, y).forget(X[40:], y[40:])
    same_model(model, Estimator().fit(X[:40], y[:40]), X)


@pytest.mark.parametrize("Estimator", ALL)
def test_what_was_never_learned_cannot_be_forgotten(Estimator):
    X, y = count_data()
    model = Estimator().fit(X, y)
    before = snapshot(model, X)
    with pytest.raises(ForgetError, match=r"rows, so 240 cannot be forgotten|was never learned"):
        model.forget(np.concatenate([X, X]), ["ant"] * 240)
    with pytest.raises(ForgetError, match=r"Class 'dog' was never learned"):
        model.forget(X[:1], ["dog"])
    assert snapshot(model, X) == before


@pytest.mark.parametrize("Estimator", ALL)
def test_merging_is_learning_both(Estimator):
    X, y = count_data()
    a, b = Estimator().fit(X[:50], y[:50]), Estimator().fit(X[50:], y[50:])
    whole, before = Estimator().fit(X, y), snapshot(a, X)
    together = a + b
    same_model(together, whole, X)
    assert snapshot(a, X) == before, "+ makes a new one"
    same_model(a.merge(b), whole, X)


@pytest.mark.parametrize("Estimator", ALL)
def test_merging_classes_that_only_one_knows(Estimator):
    X, y = count_data()
    a, b = (Estimator().fit(X[y == c], y[y == c]) for c in ("ant", "cat"))
    some = y != "bee"
    same_model(a + b, Estimator().fit(X[some], y[some]), X)
    with pytest.raises(NotFittedError, match="not fitted"):
        a.merge(Estimator())


@pytest.mark.parametrize("Estimator", ALL)
def test_decay_halves_the_weights(Estimator):
    X, y = count_data()
    faded = Estimator().fit(X, y).decay(half_life=10, elapsed=20)
    same_model(faded, Estimator().fit(X, y, np.full(len(y), 0.25)), X)
    with pytest.raises(SettingError, match=r"half_life must be a finite number above 0, not 0"):
        faded.decay(0)


# Errors


@pytest.mark.parametrize("Estimator", ALL)
def test_a_call_that_fails_changes_nothing(Estimator):
    X, y = count_data()
    model = Estimator().fit(X, y)
    before = snapshot(model, X)
    for wrong in (-np.inf, np.nan):
        broken = X.copy()
        broken[3, 2] = wrong
        for learn in (model.fit, model.partial_fit):
            with pytest.raises(ValueError, match=r"NaN|infinity"):
                learn(broken, y)
    for learn in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match=r"inconsistent numbers of samples"):
            learn(X, y[:-1])
        with pytest.raises(ValueError, match=r"sample_weight must be finite and at least 0"):
            learn(X, y, sample_weight=-np.ones(len(y)))
    assert snapshot(model, X) == before


@pytest.mark.parametrize("Estimator", DISCRETE)
def test_a_fit_whose_settings_fail_changes_nothing(Estimator):
    X, y = count_data()
    model = Estimator().fit(X, y)
    before = snapshot(model, X)
    model.set_params(class_prior=[0.5, 0.5])
    with pytest.raises(SettingError, match=r"Number of priors must match number of classes"):
        model.partial_fit(X[:2], y[:2])
    model.set_params(class_prior=None)
    assert snapshot(model, X) == before


@pytest.mark.parametrize("Estimator", ALL)
def test_a_fit_of_other_columns_that_fails_changes_nothing(Estimator):
    X, y = count_data()
    model = Estimator().fit(X, y)
    before = snapshot(model, X)
    with pytest.raises(ValueError, match=r"sample_weight must be finite and at least 0"):
        model.fit(X[:, :3].astype(np.float32), y, sample_weight=-np.ones(len(y)))
    assert model.n_features_in_ == 5
    assert snapshot(model, X) == before
    fresh = Estimator()
    with pytest.raises(ValueError, match=r"sample_weight must be finite and at least 0"):
        fresh.partial_fit(X, y, np.unique(y), -np.ones(len(y)))
    same_model(fresh.partial_fit(X[:, :3], y, np.unique(y)), model.fit(X[:, :3], y), X[:, :3])


@pytest.mark.parametrize("Estimator", ALL)
def test_wrong_settings_are_named(Estimator):
    X, y = count_data()
    with pytest.raises(SettingError, match=r"missing must be 'error' or 'skip', not 'drop'"):
        Estimator(missing="drop").fit(X, y)
    with pytest.raises(SettingError, match=r"new_classes must be 'error' or 'add', not 1"):
        Estimator(new_classes=1).fit(X, y)
    with pytest.raises(InputError, match=r"classes must be passed on the first call"):
        Estimator().partial_fit(X, y)
    with pytest.raises(InputError, match=r"requires y to be passed"):
        Estimator().fit(X, None)
    with pytest.raises(NotFittedError, match="not fitted"):
        Estimator().predict(X)
    with pytest.raises(InputError, match=r"is not the same as on last call"):
        Estimator().fit(X, y).partial_fit(X, y, classes=["ant", "bee"])


@pytest.mark.parametrize("Estimator", DISCRETE)
def test_wrong_alpha_is_named(Estimator):
    X, y = count_data()
    with pytest.raises(SettingError, match=r"alpha must be greater than 0"):
        Estimator(alpha=-1.0).fit(X, y)
    with pytest.raises(SettingError, match=r"Got 2 elements instead of 5"):
        Estimator(alpha=[1.0, 2.0]).fit(X, y)


@pytest.mark.parametrize("Estimator", DISCRETE)
def test_negative_counts_are_refused(Estimator):
    X, y = count_data()
    if Estimator is BernoulliNB:
        assert BernoulliNB(binarize=-2.0).fit(X - 1, y).feature_count_.sum() == X.size
        return
    with pytest.raises(ValueError, match=r"Negative values in data"):
        Estimator().fit(X - 1, y)


def test_complement_has_no_evidence():
    X, y = count_data()
    assert not hasattr(ComplementNB(), "score_samples")
    for Estimator in (BernoulliNB, MultinomialNB, CategoricalNB, GaussianNB):
        evidence = Estimator().fit(X, y).score_samples(X)
        assert evidence.shape == (len(X),)
        assert np.isfinite(evidence).all()


# In scikit-learn's tools


def tables():
    iris, wine = load_iris(return_X_y=True), load_wine(return_X_y=True)
    digits, cancer = load_digits(return_X_y=True), load_breast_cancer(return_X_y=True)
    binned = make_pipeline(KBinsDiscretizer(4, encode="ordinal", quantile_method="linear"))
    return [
        pytest.param(GaussianNB(), *iris, 0.93, id="GaussianNB"),
        pytest.param(MultinomialNB(), *digits, 0.85, id="MultinomialNB"),
        pytest.param(BernoulliNB(binarize=8), *digits, 0.85, id="BernoulliNB"),
        pytest.param(ComplementNB(), *digits, 0.75, id="ComplementNB"),
        pytest.param(CategoricalNB(), binned.fit_transform(cancer[0]), cancer[1], 0.9, id="Cat"),
        pytest.param(NaiveBayes(), *wine, 0.93, id="NaiveBayes"),
    ]


@pytest.mark.parametrize(("model", "X", "y", "least"), tables())
def test_ensembles_and_searches(model, X, y, least):
    model = clone(model)
    for wrapped in (
        make_pipeline(MinMaxScaler((0, 16)), model),
        CalibratedClassifierCV(model, cv=3),
        BaggingClassifier(model, n_estimators=3, random_state=0),
        VotingClassifier([("a", model), ("b", clone(model))], voting="soft"),
    ):
        assert wrapped.fit(X, y).score(X, y) > least
    boosted = AdaBoostClassifier(model, n_estimators=3, random_state=0).fit(X, y)
    assert boosted.score(X, y) > 0.6


@pytest.mark.parametrize(("model", "X", "y", "least"), tables())
def test_grid_search(model, X, y, least):
    name, values = "alpha", [1e-3, 1.0]
    if isinstance(model, GaussianNB):
        name, values = "var_smoothing", [1e-9, 1e3]
    if isinstance(model, NaiveBayes):
        name, values = "families", ["gaussian", "histogram"]
    search = GridSearchCV(clone(model), {name: values}, cv=3).fit(X, y)
    assert search.best_score_ > least - 0.05
    assert len(set(search.cv_results_["mean_test_score"])) == 2, "the parameter has an effect"
    assert getattr(search.best_estimator_, name) == search.best_params_[name]


@pytest.mark.parametrize("container", ["pandas", "polars"])
@pytest.mark.parametrize("model", [GaussianNB(), NaiveBayes.textbook(families="gaussian")], ids=str)
def test_set_output(container, model):
    frame = load_iris(as_frame=True)
    X, y = frame.data, frame.target
    plain = make_pipeline(StandardScaler(), clone(model)).fit(X.to_numpy(), y)
    scaler = StandardScaler().set_output(transform=container)
    named = make_pipeline(scaler, clone(model)).fit(X, y)
    assert named[-1].feature_names_in_.tolist() == X.columns.tolist()
    same(named.predict_log_proba(X), plain.predict_log_proba(X.to_numpy()))


@pytest.mark.parametrize("model", [GaussianNB(), NaiveBayes()], ids=str)
def test_sample_weights_are_routed(model):
    X, y = load_wine(return_X_y=True)
    weight = np.where(y == 2, 5.0, 0.1)
    with sklearn.config_context(enable_metadata_routing=True):
        asking = clone(model).set_fit_request(sample_weight=True)
        asking.set_score_request(sample_weight=True)
        pipe = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), asking)
        pipe.fit(X, y, sample_weight=weight)
        routed = pipe[-1].predict_proba(pipe[:-1].transform(X))
        done = cross_validate(
            pipe, X, y, params={"sample_weight": weight}, return_estimator=True, cv=3
        )
        search = GridSearchCV(pipe, {"standardscaler__with_mean": [True]}, cv=3)
        search.fit(X, y, sample_weight=weight)
        same(search.predict_proba(X), pipe.predict_proba(X))
    Z = StandardScaler().fit_transform(X)
    same(routed, clone(model).fit(Z, y, weight).predict_proba(Z))
    for fold in done["estimator"]:
        shares = np.exp(fold[-1].model_.log_prior)
        assert shares[2] > 0.9, "the third class got almost all the weight"


def test_naive_bayes_of_gaussians_is_the_drop_in():
    X, y = load_iris(return_X_y=True)
    same(
        NaiveBayes(families="gaussian", weights=None).fit(X, y).predict_joint_log_proba(X),
        GaussianNB(var_smoothing=0).fit(X, y).predict_joint_log_proba(X),
    )


def test_pandas_columns_must_keep_their_names():
    frame = load_iris(as_frame=True)
    model = GaussianNB().fit(frame.data, frame.target)
    assert model.feature_names_in_.tolist() == frame.data.columns.tolist()
    with pytest.raises(ValueError, match=r"feature names should match"):
        model.predict(frame.data.rename(columns=str.upper))
