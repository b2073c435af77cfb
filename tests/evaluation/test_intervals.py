"""Intervals against SciPy's, and that they hold what they promise."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import binomtest, sem

from priory.base.errors import SettingError
from priory.evaluation import Evaluation
from priory.evaluation.evaluation import RESAMPLED
from priory.evaluation.intervals import (
    auc_of,
    average_precision_of,
    balanced_of,
    bootstrap,
    calibration_of,
    matthews_of,
    mean_of,
    wilson,
)
from priory.evaluation.reliability import bins_of

from .strategies import few, judged


@few
@given(st.integers(0, 30), st.integers(1, 30), st.sampled_from([0.5, 0.9, 0.95]))
def test_wilson(hits, others, level):
    n = hits + others
    rows = np.arange(n) < hits
    told = binomtest(hits, n).proportion_ci(level, method="wilson")
    assert wilson(rows, None, level) == pytest.approx((told.low, told.high), abs=1e-12)
    doubled = wilson(rows, np.full(n, 2.0), level)  # equal weights say nothing
    assert doubled == pytest.approx((told.low, told.high), abs=1e-12)


def test_wilson_of_weighted_rows_has_fewer():
    """Weights 3, 1, 1, 1: (Σw)²/Σw² = 36/12 = 3 rows, half of them hits."""
    found = wilson(np.array([True, False, False, False]), np.array([3.0, 1, 1, 1]))
    z2, n = 1.959963984540054**2, 3
    centre, half = 0.5, np.sqrt(z2) * np.sqrt(0.25 / n + z2 / (4 * n * n)) / (1 + z2 / n)
    assert found == pytest.approx((centre - half, centre + half))
    assert wilson(np.array([], dtype=bool), None) == (0, 1)


@few
@given(judged(classes=(2, 3), weighted=False))
def test_shares(rows):
    truth, p, _ = rows
    e = Evaluation(truth, p, range(p.shape[1]))
    k, predicted = 1, p.argmax(axis=1)
    shares = {
        "precision": (predicted == k, truth == k),
        "recall": (truth == k, predicted == k),
        "specificity": (truth != k, predicted != k),
        "false_positive_rate": (truth != k, predicted == k),
    }
    for name, (among, hits) in shares.items():
        n, x = int(among.sum()), int((among & hits).sum())
        expected = (0, 1)
        if n:
            told = binomtest(x, n).proportion_ci(0.9, method="wilson")
            expected = (told.low, told.high)
        assert e.interval(name, 0.9, positive=1) == pytest.approx(expected, abs=1e-12)
    right, n = int((truth == predicted).sum()), len(truth)
    told = binomtest(right, n).proportion_ci(method="wilson")
    assert e.interval() == pytest.approx((told.low, told.high), abs=1e-12)
    low, high = e.interval("error_rate")
    assert (low, high) == pytest.approx((1 - told.high, 1 - told.low), abs=1e-12)


@few
@given(judged())
def test_what_is_bootstrapped_is_the_metric(rows):
    """Each metric as a function of weights, at the rows' own weights, is the metric."""
    truth, p, w = rows
    e = Evaluation(truth, p, range(p.shape[1]), w)
    weights = (np.ones(len(truth)) if w is None else w)[None]
    for name in RESAMPLED:
        if name in ("auc", "average_precision") and np.isnan(e.auc):
            with pytest.raises(SettingError, match="not defined: all rows are of one class"):
                e.interval(name)
            continue
        found = e._statistic(name)(np.vstack([weights, weights]))
        np.testing.assert_allclose(found, [getattr(e, name)] * 2, atol=1e-12)


@few
@given(judged(classes=(3, 3)), st.data())
def test_many_weights_at_once(rows, data):
    truth, p, _ = rows
    n = len(truth)
    assume(len(np.unique(truth)) == 3)
    several = np.array(
        data.draw(st.lists(st.integers(1, 5), min_size=3 * n, max_size=3 * n)), dtype=float
    ).reshape(3, n)
    right, confidence = (p.argmax(axis=1) == truth).astype(float), p.max(axis=1)
    found = (
        auc_of(truth, p, [0, 1, 2])(several),
        average_precision_of(truth, p, [0, 1, 2])(several),
        balanced_of(truth, p.argmax(axis=1))(several),
        matthews_of(truth, p.argmax(axis=1))(several),
        calibration_of(confidence, right, bins_of(confidence, 15))(several),
        mean_of(right)(several),
    )
    for i, weights in enumerate(several):
        e = Evaluation(truth, p, [0, 1, 2], weights)
        expected = (
            *(e.auc, e.average_precision, e.balanced_accuracy, e.matthews),
            *(e.calibration_error, e.accuracy),
        )
        assert [figure[i] for figure in found] == pytest.approx(expected, abs=1e-12)


def make(n=400, seed=0, k=3):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(k), n)
    truth = (p.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
    return Evaluation(truth, p, range(k))


def test_the_bootstrap_of_a_mean_is_about_two_standard_errors():
    x = np.random.default_rng(0).normal(size=500)
    low, high = bootstrap(mean_of(x), np.ones(500), n_resamples=4000)
    error = sem(x)
    assert (low, high) == pytest.approx(
        (x.mean() - 1.96 * error, x.mean() + 1.96 * error), abs=0.15 * error
    )


@pytest.mark.parametrize("name", RESAMPLED)
def test_intervals_surround_the_metric_and_narrow(name):
    e = make(60)
    told = {level: e.interval(name, level, n_resamples=80) for level in (0.5, 0.95)}
    assert told[0.95].low <= told[0.5].low <= told[0.5].high <= told[0.95].high
    if name != "calibration_error":  # drawing rows anew makes it larger: it is mirrored back
        assert told[0.95].low < getattr(e, name) < told[0.95].high
    assert e.interval(name, 0.95, n_resamples=80) == told[0.95]  # seeded
    other = e.interval(name, 0.95, n_resamples=80, random_state=1)
    assert other != told[0.95]


def test_calibrated_probabilities_may_have_no_calibration_error():
    e = make(2000)
    low, high = e.interval("calibration_error")
    assert low < 0.005
    assert e.calibration_error / 2 < high < 0.1


def test_strata_keep_every_class():
    truth = [0] * 200 + [1] * 2
    e = Evaluation(truth, [0.1] * 100 + [0.3] * 100 + [0.2, 0.9], [0, 1])
    low, high = e.interval("auc", n_resamples=200)  # one class alone would have no area
    assert 0 < low < high <= 1


def test_rows_that_weigh_nothing_are_not_drawn():
    e = Evaluation([0, 1, 0, 1], [0.1, 0.9, 0.4, 0.6], [0, 1], [1, 1, 0, 0])
    losses = -np.log([0.9, 0.9])
    assert e.interval("log_loss", n_resamples=50) == pytest.approx((losses[0], losses[1]))
    assert e.interval("auc", n_resamples=50) == (1, 1)


def test_few_at_a_time_are_the_same(monkeypatch):
    e = make(50)
    whole = e.interval("brier", n_resamples=30)
    monkeypatch.setattr("priory.evaluation.intervals.ENTRIES", 120)
    assert e.interval("brier", n_resamples=30) == pytest.approx(whole, rel=1e-14)


def test_wrong_settings():
    e = make(20)
    with pytest.raises(SettingError, match=r"no interval for 'logloss'.*Did you mean 'log_loss'"):
        e.interval("logloss")
    for level in (0, 1, 95):
        with pytest.raises(SettingError, match=f"level must be between 0 and 1, not {level}"):
            e.interval("accuracy", level)
        with pytest.raises(SettingError, match=f"level must be between 0 and 1, not {level}"):
            e.interval("brier", level)
    with pytest.raises(SettingError, match="n_resamples must be an integer of at least 2"):
        e.interval("brier", n_resamples=1)
    with pytest.raises(
        SettingError, match="accuracy is a metric of all classes: positive must be None"
    ):
        e.interval("accuracy", positive=1)
    with pytest.raises(SettingError, match="With 3 classes positive must be given"):
        e.interval("recall")
