"""Comparing two models on the same rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, chi2, norm

from priory import compare
from priory.base.errors import InputError, NoProbabilitiesError, SettingError
from priory.evaluation import Comparison, Evaluation, delong
from priory.evaluation.comparison import mcnemar

from .strategies import few, judged


@few
@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 3))
def test_exact_mcnemar(b, c, agreed):
    d = np.array([-1.0] * b + [1.0] * c + [0.0] * agreed)
    p, name = mcnemar(d, None)
    assert name == "McNemar's exact test"
    assert p == pytest.approx(min(1.0, 2 * binom.cdf(min(b, c), b + c, 0.5)))


@few
@given(st.integers(0, 60), st.integers(25, 60))
def test_mcnemar_of_many(b, c):
    p, name = mcnemar(np.array([-1.0] * b + [1.0] * c), None)
    assert name == "McNemar's test"
    assert p == pytest.approx(chi2.sf((abs(b - c) - 1) ** 2 / (b + c), 1))


def test_weighted_mcnemar():
    d = np.array([-1.0] * 10 + [1.0] * 30 + [0.0])
    for weight in (1.0, 7.0):  # equal weights say nothing
        p, name = mcnemar(d, np.full(41, weight))
        assert name == "McNemar's weighted test"
        assert p == pytest.approx(chi2.sf(20**2 / 40, 1))
    assert mcnemar(np.zeros(3), np.ones(3))[0] == 1.0


@few
@given(judged(classes=(2, 3)), st.randoms(use_true_random=False))
def test_differences(rows, random):
    truth, p, w = rows
    k = p.shape[1]
    order = list(range(len(truth)))
    random.shuffle(order)
    a, b = Evaluation(truth, p, range(k), w), Evaluation(truth, p[order], range(k), w)
    c = compare(a, b, n_resamples=20)
    assert c.accuracy_difference == pytest.approx(b.accuracy - a.accuracy, abs=1e-12)
    assert c.log_loss_difference == pytest.approx(b.log_loss - a.log_loss, abs=1e-9)
    np.testing.assert_equal(c.auc_difference, b.auc - a.auc)
    counted = np.ones(len(truth), dtype=bool) if w is None else w > 0
    alone = [(x.correct & ~y.correct & counted).sum() for x, y in ((a, b), (b, a))]
    assert c.only_correct == tuple(alone)
    back = compare(b, a, n_resamples=20)
    assert back.p_value == pytest.approx(c.p_value)
    assert back.log_loss_interval == pytest.approx(
        (-c.log_loss_interval.high, -c.log_loss_interval.low), abs=1e-9
    )


def two(n=300, seed=0):
    """Return a model that knows the classes' probabilities, and one that exaggerates them."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet([0.8, 0.8], n)
    truth = (p[:, 1] > rng.random(n)).astype(int)
    sharp = p**4 / (p**4).sum(axis=1, keepdims=True)
    return Evaluation(truth, p, [0, 1]), Evaluation(truth, sharp, [0, 1])


def test_what_is_said():
    true, sharp = two()
    c = compare(true, sharp, ("true", "sharp"))
    assert isinstance(c, Comparison)
    text = str(c)
    assert "correct where the other is wrong: true 0, sharp 0; McNemar's exact test p = 1" in text
    assert "accuracy: no significant difference" in text
    assert "log-loss: true is better" in text
    assert all(len(line) <= 80 for line in text.splitlines())
    assert c.log_loss_interval.low > 0
    narrow = compare(true, sharp, level=0.5)
    assert c.log_loss_interval.low < narrow.log_loss_interval.low
    assert "50 %" in str(narrow)
    assert c.to_dict()["names"] == ["true", "sharp"]
    assert c.to_dict()["log_loss_interval"] == list(c.log_loss_interval)
    worse = Evaluation.of_predictions(true.labels, 1 - true.predicted_codes, [0, 1])
    assert "accuracy: first is better" in str(compare(true, worse))
    assert "accuracy: second is better" in str(compare(worse, true))


def test_names_are_escaped_in_html():
    html = compare(*two(), names=("<script>", "b"))._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html


def test_of_predictions_alone():
    a = Evaluation.of_predictions([0, 1, 1], [0, 1, 0])
    c = compare(a, two(3)[0]._with(true_codes=a.true_codes))
    assert (c.log_loss_difference, c.log_loss_interval, c.auc_difference) == (None, None, None)
    assert "log-loss" not in str(c)
    assert c.to_dict()["log_loss_difference"] is None


def test_classes_may_be_in_another_order():
    a = Evaluation(["x", "y"], [0.2, 0.7], ["x", "y"])
    b = Evaluation(["x", "y"], [[0.2, 0.1, 0.7], [0.6, 0.1, 0.3]], ["y", "z", "x"])
    assert compare(a, b).accuracy_difference == 0


def direct(truth, first, second):
    """Return DeLong's standard error by his own formula: every pair, and matrices of covariance."""
    m, n = int((truth == 1).sum()), int((truth == 0).sum())
    V10, V01 = np.empty((2, m)), np.empty((2, n))
    for r, score in enumerate((first, second)):
        x, y = score[truth == 1], score[truth == 0]
        kernel = (y[None] < x[:, None]) + 0.5 * (y[None] == x[:, None])
        V10[r], V01[r] = kernel.mean(axis=1), kernel.mean(axis=0)
    S = np.cov(V10) / m + np.cov(V01) / n
    contrast = np.array([-1.0, 1.0])
    return float(np.sqrt(max(0.0, contrast @ S @ contrast)))


@few
@given(st.integers(2, 20), st.integers(2, 20), st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_delong_is_his_formula_ties_included(m, n, steps, seed):
    rng = np.random.default_rng(seed)
    truth = rng.permutation([1] * m + [0] * n)
    p, q = rng.integers(0, steps + 1, (2, m + n)) / steps  # few values: many ties
    a, b = Evaluation(truth, p, [0, 1]), Evaluation(truth, q, [0, 1])
    found = delong(a, b)
    assert found.difference == pytest.approx(b.auc - a.auc, abs=1e-12)
    assert found.standard_error == pytest.approx(direct(truth, p, q), abs=1e-9)
    if found.difference and found.standard_error > 1e-9:
        z = found.difference / found.standard_error
        assert found.p_value == pytest.approx(2 * norm.sf(abs(z)))
        half = norm.ppf(0.975) * found.standard_error
        ends = np.clip([found.difference - half, found.difference + half], -1, 1)
        assert found.interval == pytest.approx(ends)
    back = delong(b, a)
    assert back.difference == pytest.approx(-found.difference, abs=1e-12)
    assert back.standard_error == pytest.approx(found.standard_error)


def noisy(rng, n, classes, strength):
    """Return labels and two models that are equally good, and not independent."""
    truth = rng.permutation(np.arange(n) % classes)
    common = strength * np.eye(classes)[truth] + rng.normal(size=(n, classes))
    scores = [common + rng.normal(size=(n, classes)) for _ in range(2)]
    return truth, [np.exp(s) / np.exp(s).sum(axis=1, keepdims=True) for s in scores]


@pytest.mark.parametrize("classes", [2, 3])
def test_delong_finds_a_difference_where_there_is_none_one_time_in_twenty(classes):
    rng = np.random.default_rng(classes)
    found, runs = 0, 1000
    for _ in range(runs):
        truth, (p, q) = noisy(rng, 120, classes, 1.0)
        a, b = (Evaluation(truth, x, range(classes)) for x in (p, q))
        found += delong(a, b).p_value < 0.05
    assert 0.03 < found / runs < 0.07  # 0.05 ± 2.9 · √(0.05 · 0.95 / 1000)


def test_delong_of_weights():
    rng = np.random.default_rng(0)
    truth, (p, q) = noisy(rng, 80, 3, 1.0)
    some = rng.random(80) < 0.7

    def found(rows, weights):
        return delong(*(Evaluation(truth[rows], x[rows], range(3), weights) for x in (p, q)))

    whole = found(slice(None), None)
    for weight in (1.0, 7.0, 1e30):  # equal weights say nothing
        same = found(slice(None), np.full(80, weight))
        assert same.standard_error == pytest.approx(whole.standard_error)
    out = found(slice(None), some.astype(float))  # a row that weighs nothing is no row
    assert out.difference == pytest.approx(found(some, None).difference)
    assert out.standard_error == pytest.approx(found(some, None).standard_error)
    runs = []  # with weights drawn anew the differences vary as much as is said
    for _ in range(300):
        truth, (p, q) = noisy(rng, 80, 3, 1.0)
        runs.append(found(slice(None), rng.exponential(size=80)))
    spread = np.std([run.difference for run in runs])
    assert np.mean([run.standard_error for run in runs]) == pytest.approx(spread, rel=0.15)


def test_verdicts_on_the_area():
    rng = np.random.default_rng(1)
    truth, (p, _) = noisy(rng, 300, 2, 2.0)
    good, guess = Evaluation(truth, p, [0, 1]), Evaluation(truth, rng.random(300), [0, 1])
    c = compare(good, guess, ("good", "guess"))
    assert 0 < c.auc.p_value < 1e-6
    assert c.to_dict()["auc_p_value"] == c.auc.p_value
    assert c.to_dict()["auc_interval"] == list(c.auc.interval)
    assert f"AUC: good is better by {good.auc - guess.auc:.4f} (DeLong's test p = " in str(c)
    assert "AUC: second is better by" in str(compare(guess, good))
    assert c.auc.to_dict()["interval"] == list(c.auc.interval)
    same = compare(good, good)
    assert (same.auc.p_value, same.auc.interval) == (1.0, (0.0, 0.0))
    assert "AUC: no significant difference (DeLong's test p = 1)" in str(same)
    wrong = Evaluation([0, 0, 1, 1], [0.9, 0.8, 0.2, 0.1], [0, 1])
    right = Evaluation([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9], [0, 1])
    c = compare(wrong, right)  # no row differs from the others of its class: no variance
    assert np.isnan(c.auc.p_value)
    assert np.isnan(c.auc.interval).all()
    assert "AUC: no test: the rows of a class all have the same rank" in str(c)
    assert c.to_dict()["auc_p_value"] is None


def test_areas_that_cannot_be_compared():
    one = Evaluation([0, 0], [0.2, 0.7], [0, 1])
    with pytest.raises(InputError, match="needs rows of at least two classes, but all rows are of"):
        delong(one, one)
    assert "AUC: no test. The area under a ROC curve needs rows" in str(compare(one, one))
    assert compare(one, one).to_dict()["auc_interval"] is None
    lone = Evaluation([0, 0, 1], [0.2, 0.7, 0.8], [0, 1])
    with pytest.raises(
        InputError, match=r"at least two rows of every class .* there is only one of 1"
    ):
        delong(lone, lone)
    zero = Evaluation([0, 0, 1, 1], [0.2, 0.7, 0.8, 0.1], [0, 1], [1, 1, 1, 0])
    with pytest.raises(InputError, match="there is only one of 1"):
        delong(zero, zero)
    bare = Evaluation.of_predictions([0, 0, 1, 1], [0, 0, 1, 0])
    with pytest.raises(NoProbabilitiesError, match="made of predictions alone"):
        delong(bare, bare)
    with pytest.raises(InputError, match="the first has 2, the second 3"):
        delong(one, lone)
    with pytest.raises(SettingError, match="level must be between 0 and 1"):
        delong(lone, lone, level=95)


def test_what_it_refuses():
    a = Evaluation([0, 1], [0.2, 0.7], [0, 1])
    with pytest.raises(SettingError, match=r"compare takes two evaluations, not 0.5"):
        compare(a, 0.5)
    with pytest.raises(InputError, match="the first has 2, the second 1"):
        compare(a, Evaluation([0], [0.2], [0, 1]))
    with pytest.raises(InputError, match="the true labels of row 1 are 1 and 0"):
        compare(a, Evaluation([0, 0], [0.2, 0.7], [0, 1]))
    with pytest.raises(InputError, match="the true labels of row 0 are 0 and '0'"):
        compare(a, Evaluation(["0", "1"], [0.2, 0.7], ["0", "1"]))
    with pytest.raises(InputError, match="the same sample_weight in both"):
        compare(a, Evaluation([0, 1], [0.2, 0.7], [0, 1], [1, 2]))
    with pytest.raises(SettingError, match="names must be two names, not 'ab'"):
        compare(a, a, "ab")
    with pytest.raises(SettingError, match="level must be between 0 and 1"):
        compare(a, a, level=95)
