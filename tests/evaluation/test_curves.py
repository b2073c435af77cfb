"""Curves over all thresholds against scikit-learn, and counted by hand."""

import numpy as np
import pytest
from hypothesis import assume, given
from sklearn import metrics

from priory.base.errors import InputError, SettingError
from priory.evaluation import Evaluation
from priory.evaluation.curves import macro_roc

from .strategies import few, judged


def both(rows):
    """Return two classes as scikit-learn is to see them, both of them there."""
    truth, p, w = rows
    counted = truth if w is None else truth[w > 0]
    assume(len(np.unique(counted)) == 2)
    return Evaluation(truth, p, [0, 1], w), truth == 1, p[:, 1], w


@few
@given(judged(classes=(2, 2)))
def test_roc(rows):
    e, positive, score, w = both(rows)
    curve = e.roc()
    false, true, thresholds = metrics.roc_curve(positive, score, sample_weight=w)
    np.testing.assert_array_equal(curve.false_positive_rate, false)
    np.testing.assert_array_equal(curve.true_positive_rate, true)
    np.testing.assert_array_equal(curve.thresholds, thresholds)
    assert curve.auc == pytest.approx(e.auc)
    assert e.roc(0).auc == pytest.approx(e.auc)


@few
@given(judged(classes=(2, 2)))
def test_every_point_is_what_its_threshold_gives(rows):
    e, *_ = both(rows)
    curve = e.roc()
    points = zip(curve.thresholds, curve.false_positive_rate, curve.true_positive_rate, strict=True)
    for threshold, false, true in points:
        at = e.at(threshold)
        assert at.false_positive_rate()[1] == pytest.approx(false)
        assert at.recall()[1] == pytest.approx(true)


@few
@given(judged(classes=(2, 2)))
def test_precision_recall(rows):
    e, positive, score, w = both(rows)
    curve = e.precision_recall()
    precision, recall, thresholds = metrics.precision_recall_curve(positive, score, sample_weight=w)
    np.testing.assert_array_equal(curve.precision, precision)
    np.testing.assert_array_equal(curve.recall, recall)
    np.testing.assert_array_equal(curve.thresholds, thresholds)
    area = metrics.average_precision_score(positive, score, sample_weight=w)
    assert curve.average_precision == pytest.approx(area)
    assert e.average_precision == pytest.approx(area)


@few
@given(judged(classes=(2, 2)))
def test_gain(rows):
    e, positive, score, w = both(rows)
    w = np.ones(len(score)) if w is None else w
    curve = e.gain()
    for share, found in zip(curve.share, curve.found, strict=True):
        # The rows that score highest: by a threshold, so that equals go together.
        shares = [w[score >= t].sum() / w.sum() for t in np.unique(score)]
        best = [t for t, s in zip(np.unique(score), shares, strict=True) if s <= share + 1e-12]
        called = score >= min(best) if best else np.zeros(len(score), dtype=bool)
        assert found == pytest.approx(w[called & positive].sum() / w[positive].sum())
    assert (curve.share[0], curve.found[0]) == (0, 0)
    assert (curve.share[-1], curve.found[-1]) == (1, 1)
    assert curve.lift(1) == 1


@few
@given(judged(classes=(3, 3)))
def test_the_area_under_the_mean_curve_is_the_mean_area(rows):
    truth, p, w = rows
    e = Evaluation(truth, p, [0, 1, 2], w)
    assume(np.isfinite(e.one_vs_rest_auc()).any())
    curves = [e.roc(k) for k in range(3) if np.isfinite(e.one_vs_rest_auc()[k])]
    false, true = macro_roc(curves)
    assert np.trapezoid(true, false) == pytest.approx(e.auc)
    assert (np.diff(false) >= 0).all()
    assert (np.diff(true) >= -1e-12).all()


def test_by_hand():
    """Scores .9 + .8 − .7 + .6 − .5 −: at .6 all three positives and one of three others."""
    e = Evaluation(list("ppnpnn"), [0.9, 0.8, 0.7, 0.6, 0.5, 0.4], ["n", "p"])
    curve = e.roc()
    at = dict(zip(curve.thresholds, zip(curve.false_positive_rate, curve.true_positive_rate)))  # noqa: B905
    assert at[0.6] == pytest.approx((1 / 3, 1))
    assert at[0.7] == pytest.approx((1 / 3, 2 / 3))
    assert curve.auc == pytest.approx(8 / 9)  # 8 of the 9 pairs are in order
    assert e.average_precision == pytest.approx((1 + 1 + 3 / 4) / 3)
    assert e.gain().at(0.5) == pytest.approx(2 / 3)
    assert e.gain().lift(0.5) == pytest.approx(4 / 3)


def test_many_points_are_printed_in_part():
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=300)
    e = Evaluation(truth, np.clip(truth * 0.3 + rng.random(300) * 0.7, 0, 1), [0, 1])
    for curve in (e.roc(), e.precision_recall()):
        lines = str(curve).splitlines()
        assert len(lines) == 15
        assert "points between these are not shown" in lines[-1]


def test_what_curves_refuse():
    e = Evaluation([0, 0], [0.1, 0.2], [0, 1])
    with pytest.raises(InputError, match=r"A curve of 1 needs rows of that class.*no row is"):
        e.roc()
    with pytest.raises(InputError, match=r"A curve of 0 needs.*every row is of that class"):
        e.precision_recall(0)
    weighted = Evaluation([0, 1], [0.1, 0.2], [0, 1], [1, 0])
    with pytest.raises(InputError, match="no row is"):
        weighted.gain()
    gain = Evaluation([0, 1], [0.1, 0.2], [0, 1]).gain()
    with pytest.raises(SettingError, match=r"share must be between 0 and 1, not 1\.5"):
        gain.at(1.5)
    with pytest.raises(SettingError, match="share must be above 0"):
        gain.lift(0)
