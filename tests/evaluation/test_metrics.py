"""Every metric against scikit-learn, or counted by hand."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from priory.base.errors import InputError, NoProbabilitiesError, SettingError
from priory.evaluation import Evaluation

from .strategies import few, judged

NAMES = ("a", "b", "c", "d")


def quietly(oracle, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return oracle(*args, **kwargs)


def evaluation(rows):
    truth, probabilities, weights = rows
    k = probabilities.shape[1]
    return Evaluation([NAMES[g] for g in truth], probabilities, NAMES[:k], weights)


def kept(rows):
    """Return the rows that weigh something, as scikit-learn is to see them."""
    truth, probabilities, weights = rows
    if weights is None:
        return truth, probabilities, None
    some = weights > 0
    return truth[some], probabilities[some], weights[some]


@few
@given(judged())
def test_right_or_wrong(rows):
    e = evaluation(rows)
    truth, probabilities, w = kept(rows)
    predicted = probabilities.argmax(axis=1)
    places = np.arange(probabilities.shape[1])
    assert e.accuracy == pytest.approx(metrics.accuracy_score(truth, predicted, sample_weight=w))
    assert e.error_rate == pytest.approx(1 - e.accuracy)
    balanced = quietly(metrics.balanced_accuracy_score, truth, predicted, sample_weight=w)
    assert e.balanced_accuracy == pytest.approx(balanced)
    matthews = quietly(metrics.matthews_corrcoef, truth, predicted, sample_weight=w)
    assert e.matthews == pytest.approx(matthews, abs=1e-7)
    matrix = quietly(metrics.confusion_matrix, truth, predicted, labels=places, sample_weight=w)
    np.testing.assert_allclose(e.confusion_matrix, matrix)
    np.testing.assert_allclose(e.support, matrix.sum(axis=1))


@few
@given(judged(), st.sampled_from([0.5, 1.0, 2.0]))
def test_precision_recall_and_f(rows, beta):
    e = evaluation(rows)
    truth, probabilities, w = kept(rows)
    predicted = probabilities.argmax(axis=1)
    for average in ("macro", "micro", "weighted"):
        expected = quietly(
            metrics.precision_recall_fscore_support,
            truth,
            predicted,
            beta=beta,
            average=average,
            sample_weight=w,
        )[:3]
        found = e.precision(average), e.recall(average), e.f(beta, average)
        assert found == pytest.approx(expected)
    places = np.unique([truth, predicted])  # no metric for a class that is nowhere
    expected = quietly(
        metrics.precision_recall_fscore_support, truth, predicted, beta=beta, sample_weight=w
    )
    for found, score in zip((e.precision(), e.recall(), e.f(beta)), expected, strict=False):
        np.testing.assert_allclose(found[places], score)
        assert np.isnan(np.delete(found, places)).all()


@few
@given(judged())
def test_log_loss_and_brier(rows):
    e = evaluation(rows)
    truth, probabilities, w = kept(rows)
    k = probabilities.shape[1]
    if k == 1:  # scikit-learn refuses a single class
        assert (e.log_loss, e.brier) == (0, 0)
        return
    places = np.arange(k)
    told = quietly(metrics.log_loss, truth, probabilities, labels=places, sample_weight=w)
    assert e.log_loss == pytest.approx(told, abs=1e-14)
    if k == 2:
        arguments = {"pos_label": 1, "y_proba": probabilities[:, 1]}
    else:
        arguments = {"labels": places, "y_proba": probabilities}
    brier = quietly(metrics.brier_score_loss, truth, sample_weight=w, **arguments)
    assert e.brier == pytest.approx(brier, abs=1e-14)


def slow_auc(positive, score, w):
    """Count pairs: a positive row above a negative one, equal ones half."""
    won = total = 0.0
    for i in np.flatnonzero(positive):
        for j in np.flatnonzero(~positive):
            total += w[i] * w[j]
            won += w[i] * w[j] * ((score[i] > score[j]) + (score[i] == score[j]) / 2)
    return won / total if total else float("nan")


@few
@given(judged())
def test_auc_counts_pairs(rows):
    e = evaluation(rows)
    truth, probabilities, w = rows
    w = np.ones(len(truth)) if w is None else w
    areas = [slow_auc(truth == k, probabilities[:, k], w) for k in range(len(e.classes))]
    np.testing.assert_allclose(e.one_vs_rest_auc(), areas)
    some = ~np.isnan(areas)
    if not some.any():
        assert np.isnan(e.auc)
        assert np.isnan(e.average_precision)
        return
    areas, support = np.array(areas)[some], e.support[some]
    assert e.one_vs_rest_auc("weighted") == pytest.approx(np.average(areas, weights=support))
    assert e.auc == pytest.approx(areas[1] if len(e.classes) == 2 else areas.mean())


@few
@given(judged(classes=(3, 3)))
def test_auc_and_average_precision_of_several_classes(rows):
    truth, probabilities, w = kept(rows)
    if len(np.unique(truth)) < 3:
        return
    e = evaluation(rows)
    for average in ("macro", "weighted"):
        expected = metrics.roc_auc_score(
            truth, probabilities, multi_class="ovr", average=average, sample_weight=w
        )
        assert e.one_vs_rest_auc(average) == pytest.approx(expected)
    expected = metrics.average_precision_score(truth, probabilities, sample_weight=w)
    assert e.average_precision == pytest.approx(expected)


@few
@given(judged(), st.integers(1, 20))
def test_reliability(rows, bins):
    e = evaluation(rows)
    truth, p, w = kept(rows)
    w = np.ones(len(truth)) if w is None else w
    confidence, right = p.max(axis=1), p.argmax(axis=1) == truth
    place = np.minimum((confidence * bins).astype(int), bins - 1)
    error = sum(abs((w * (confidence - right))[place == b].sum()) / w.sum() for b in range(bins))
    table = e.reliability(bins)
    assert table.error == pytest.approx(error, abs=1e-14)
    assert table.rows.sum() == e.n_rows
    np.testing.assert_allclose(table.weight, np.bincount(place, w, bins))
    assert e.calibration_error == e.reliability(15).error
    some = table.weight > 0
    assert (table.low[some] <= table.accuracy[some] + 1e-12).all()
    assert (table.accuracy[some] <= table.high[some] + 1e-12).all()


@few
@given(judged(classes=(2, 2)))
def test_losses_of_a_margin(rows):
    e = evaluation(rows)
    truth, p, w = rows
    y = np.where(truth == 1, 1, -1)
    with np.errstate(divide="ignore", over="ignore"):
        h = np.log(p[:, 1]) - np.log(p[:, 0])
        expected = {
            "zero-one": (np.where(h > 0, 1, -1) != y).astype(float),
            "squared": (h - y) ** 2,
            "hinge": np.maximum(0, 1 - y * h),
            "exponential": np.exp(-y * h),
        }
    np.testing.assert_array_equal(e.log_odds(), h)
    np.testing.assert_array_equal(e.log_odds("a"), -h)
    for loss, losses in expected.items():
        np.testing.assert_allclose(e.losses(loss), losses)
        finite = losses if w is None else losses[w > 0]
        risk = np.average(finite, weights=None if w is None else w[w > 0])
        assert e.empirical_risk(loss) == pytest.approx(risk)
    assert e.empirical_risk("zero-one") == pytest.approx(e.error_rate)  # a tie is negative in both
    if np.isfinite(h).all() and len(np.unique(y)) == 2:  # scikit-learn guesses the labels
        hinge = metrics.hinge_loss(y, h, labels=[-1, 1], sample_weight=w)
        assert e.empirical_risk("hinge") == pytest.approx(hinge)


@few
@given(judged())
def test_losses_of_any_number_of_classes(rows):
    e = evaluation(rows)
    truth, _, w = rows
    bare = Evaluation.of_predictions(e.labels, e.predictions, e.classes, w)
    wrong = metrics.zero_one_loss(truth, e.predicted_codes, sample_weight=w)
    for one in (e, bare):
        assert one.empirical_risk() == one.empirical_risk("zero-one")
        assert one.empirical_risk("zero-one") == pytest.approx(wrong, abs=1e-12)
        np.testing.assert_array_equal(one.losses("zero-one"), truth != e.predicted_codes)
    assert e.empirical_risk("log") == pytest.approx(e.log_loss)
    assert e.empirical_risk("brier") == pytest.approx(e.brier)


def test_zero_one_is_of_what_is_predicted():
    e = Evaluation([0, 0, 1], [0.1, 0.4, 0.35], [0, 1]).at(0.3)
    assert e.predictions.tolist() == [0, 1, 1]
    assert e.empirical_risk("zero-one") == e.error_rate == pytest.approx(1 / 3)


@few
@given(judged(classes=(2, 2)), st.integers(0, 2**32 - 1))
def test_losses_of_scores(rows, seed):
    truth, _, w = rows
    h = np.random.default_rng(seed).normal(0, 2, len(truth)).round(1)
    e = Evaluation.of_scores(np.array(["a", "b"])[truth], h, ["a", "b"], w)
    assert not e.has_probabilities
    assert (e.predicted_codes == (h > 0)).all()
    y = np.where(truth == 1, 1, -1)
    expected = {
        "zero-one": (h > 0) != (truth == 1),
        "squared": (h - y) ** 2,
        "hinge": np.maximum(0, 1 - y * h),
        "exponential": np.exp(-y * h),
    }
    for loss, losses in expected.items():
        np.testing.assert_allclose(e.losses(loss), losses)
        assert e.empirical_risk(loss) == pytest.approx(np.average(losses, weights=w))
        if loss != "zero-one":  # the other class is positive: y and h change their signs
            np.testing.assert_allclose(e.losses(loss, positive="a"), losses)
    with pytest.raises(NoProbabilitiesError, match="made of scores alone, but the metric needs"):
        _ = e.log_loss


def test_scores_that_are_refused():
    with pytest.raises(InputError, match=r"for two classes; there are 3: 'a', 'b', 'c'"):
        Evaluation.of_scores(list("abc"), [1, 2, 3])
    with pytest.raises(InputError, match=r"there are 1: 'a'. Name both: classes="):
        Evaluation.of_scores(["a", "a"], [1, 2])
    with pytest.raises(InputError, match="scores has 1 rows, labels has 2"):
        Evaluation.of_scores([0, 1], [1.0])
    with pytest.raises(InputError, match="scores must be numbers; row 1 is NaN"):
        Evaluation.of_scores([0, 1], [1.0, np.nan])
    with pytest.raises(InputError, match=r"one number a row, h\(x\); its shape is \(2, 2\)"):
        Evaluation.of_scores([0, 1], np.eye(2))
    with pytest.raises(InputError, match=r"scores must be numbers, h\(x\) of each row"):
        Evaluation.of_scores([0, 1], ["x", "y"])


@few
@given(judged())
def test_outcomes_and_their_rates(rows):
    e = evaluation(rows)
    truth, p, w = rows
    w = np.ones(len(truth)) if w is None else w
    predicted = p.argmax(axis=1)
    for k, label in enumerate(e.classes):
        there, called = truth == k, predicted == k
        tp, fp, fn, tn = (
            w[rows].sum()
            for rows in (there & called, ~there & called, there & ~called, ~there & ~called)
        )
        assert e.outcomes(label) == pytest.approx((tp, fp, fn, tn))
        if fp + tn:
            assert e.false_positive_rate()[k] == pytest.approx(fp / (fp + tn))
            assert e.specificity()[k] == pytest.approx(tn / (fp + tn))
        else:
            assert np.isnan(e.false_positive_rate()[k])
            assert np.isnan(e.specificity()[k])
        figures = e.by_class[k]
        assert figures.label == label
        assert figures.rows == pytest.approx(w[there].sum())
        np.testing.assert_equal(figures.f1, e.f()[k])


SCALARS = (
    "accuracy",
    "balanced_accuracy",
    "matthews",
    "log_loss",
    "brier",
    "calibration_error",
    "auc",
    "average_precision",
)


def scalars(e):
    return {name: pytest.approx(getattr(e, name), abs=1e-7, nan_ok=True) for name in SCALARS}


@few
@given(judged(weighted=True))
def test_rows_that_weigh_nothing_are_no_rows(rows):
    assert scalars(evaluation(kept(rows))) == {
        name: getattr(evaluation(rows), name) for name in SCALARS
    }


@few
@given(judged(weighted=False), st.data())
def test_a_whole_weight_is_so_many_rows(rows, data):
    truth, p, _ = rows
    times = data.draw(st.lists(st.integers(1, 3), min_size=len(truth), max_size=len(truth)))
    again = np.repeat(truth, times), np.repeat(p, times, axis=0), None
    weighted = evaluation((truth, p, np.array(times, dtype=float)))
    assert scalars(evaluation(again)) == {name: getattr(weighted, name) for name in SCALARS}


@few
@given(judged(classes=(3, 4)), st.randoms(use_true_random=False))
def test_the_order_of_rows_and_classes_is_free(rows, random):
    truth, p, w = rows
    e = evaluation(rows)
    order = list(range(len(truth)))
    columns = list(range(p.shape[1]))
    random.shuffle(order)
    random.shuffle(columns)
    shuffled = Evaluation(
        e.labels[order],
        p[order][:, columns],
        [NAMES[k] for k in columns],
        None if w is None else w[order],
        predictions=e.predictions[order],  # of equals the first is predicted
    )
    assert scalars(shuffled) == {name: getattr(e, name) for name in SCALARS}
    np.testing.assert_allclose(shuffled.recall(), e.recall()[columns])


class TestByHand:
    """Ten messages, four of them spam; three are found, and two are wrongly called spam."""

    GOLD = ["spam"] * 4 + ["ham"] * 6
    CALLED = ["spam"] * 3 + ["ham"] + ["spam"] * 2 + ["ham"] * 4

    @pytest.fixture
    def e(self):
        return Evaluation.of_predictions(self.GOLD, self.CALLED)

    def test_outcomes(self, e):
        assert e.outcomes("spam") == e.outcomes() == (3, 2, 1, 4)
        assert e.outcomes("ham") == (4, 1, 2, 3)
        assert e.confusion_matrix.tolist() == [[4, 2], [1, 3]]

    def test_rates(self, e):
        precision, recall = Fraction(3, 5), Fraction(3, 4)
        assert e.precision()[1] == pytest.approx(float(precision), rel=1e-15)
        assert e.recall()[1] == pytest.approx(float(recall), rel=1e-15)
        assert e.false_positive_rate()[1] == pytest.approx(2 / 6, rel=1e-15)
        assert e.specificity()[1] == pytest.approx(4 / 6, rel=1e-15)

    @pytest.mark.parametrize("beta", [0, 0.5, 1, 2, 10])
    def test_f(self, e, beta):
        p, r, b = Fraction(3, 5), Fraction(3, 4), Fraction(beta) ** 2
        assert e.f(beta)[1] == pytest.approx(float((b + 1) * p * r / (b * p + r)), rel=1e-14)

    def test_averages(self, e):
        assert e.precision("macro") == pytest.approx((3 / 5 + 4 / 5) / 2, rel=1e-14)
        assert e.precision("weighted") == pytest.approx(0.4 * 3 / 5 + 0.6 * 4 / 5, rel=1e-14)
        assert e.precision("micro") == e.recall("micro") == e.accuracy == 0.7
        assert e.balanced_accuracy == pytest.approx((3 / 4 + 4 / 6) / 2, rel=1e-14)

    def test_matthews(self, e):
        assert e.matthews == pytest.approx((3 * 4 - 2 * 1) / (5 * 4 * 6 * 5) ** 0.5, rel=1e-14)


class TestOneClassAndNone:
    def test_one_class_in_all(self):
        e = Evaluation(["a", "a"], [[1.0], [1.0]], ["a"])
        assert (e.accuracy, e.log_loss, e.brier, e.calibration_error) == (1, 0, 0, 0)
        assert np.isnan([e.auc, e.average_precision, *e.false_positive_rate()]).all()
        assert "1 class" in str(e)

    def test_one_class_among_the_labels(self):
        e = Evaluation(["a", "a"], [[0.8, 0.2], [0.4, 0.6]], ["a", "b"])
        assert e.balanced_accuracy == 0.5
        assert e.matthews == 0
        assert np.isnan(e.auc)
        assert e.recall().tolist() == [0.5, 0]  # 0/0 is 0 for a class that was predicted

    def test_a_class_that_is_nowhere(self):
        e = Evaluation.of_predictions(["a", "b"], ["a", "a"], ["a", "b", "c"])
        np.testing.assert_equal(e.precision(), [0.5, 0, np.nan])
        assert e.precision("macro") == 0.25
        assert e.confusion_matrix.tolist() == [[1, 0, 0], [1, 0, 0], [0, 0, 0]]

    def test_impossible_rows(self):
        e = Evaluation([0, 1, 1], [0.5, 0.0, 0.0], [0, 1], [1, 1, 0])
        assert e.impossible_rows == 1
        assert e.log_loss == pytest.approx((np.log(2) - np.log(np.finfo(float).eps)) / 2)
        assert "1 row has P = 0 for the true class" in str(e)
        assert e.empirical_risk("exponential") == np.inf


@pytest.mark.parametrize("name", ["log_loss", "brier", "calibration_error", "auc"])
def test_metrics_of_probabilities_need_them(name):
    e = Evaluation.of_predictions(["a", "b"], ["a", "a"])
    with pytest.raises(NoProbabilitiesError, match="made of predictions alone, but the metric"):
        getattr(e, name)
    with pytest.raises(NoProbabilitiesError, match="predictions alone"):
        e.interval(name)


@pytest.mark.parametrize(
    "call", ["roc", "precision_recall", "gain", "threshold", "reliability", "log_odds"]
)
def test_methods_of_probabilities_need_them(call):
    e = Evaluation.of_predictions(["a", "b"], ["a", "a"])
    with pytest.raises(NoProbabilitiesError, match="predictions alone"):
        getattr(e, call)()


def test_wrong_settings():
    two = Evaluation([0, 1], [0.2, 0.7], [0, 1])
    three = Evaluation([0, 1], [[0.2, 0.7, 0.1]] * 2, [0, 1, 2])
    with pytest.raises(SettingError, match="average must be one of 'macro', 'micro', 'weighted'"):
        two.precision("mean")
    with pytest.raises(SettingError, match="average must be one of 'macro', 'weighted' or None"):
        two.one_vs_rest_auc("micro")
    with pytest.raises(SettingError, match="beta must be a finite number of at least 0, not -1"):
        two.f(-1)
    with pytest.raises(SettingError, match="bins must be an integer of at least 1, not 0"):
        two.reliability(0)
    with pytest.raises(SettingError, match=r"loss must be one of 'zero-one'.*Did you mean 'hinge'"):
        two.losses("hing")
    with pytest.raises(
        SettingError, match="zero-one is a loss of all classes: positive must be None"
    ):
        two.losses("zero-one", positive=1)
    with pytest.raises(SettingError, match="margin is for two classes; there are 3: 0, 1, 2"):
        three.losses("hinge")
    with pytest.raises(SettingError, match=r"With 3 classes positive must be given"):
        three.roc()
    with pytest.raises(SettingError, match=r"positive must be a class, not '1'. Classes: 0, 1, 2"):
        three.roc("1")
    with pytest.raises(SettingError, match="positive must be a class, not True"):
        three.roc(True)
    with pytest.raises(SettingError, match="log_odds is for two classes; there are 3: 0, 1, 2"):
        three.log_odds()
