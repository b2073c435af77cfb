"""Thresholds against a search over all of them."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from priory.base.errors import SettingError
from priory.evaluation import Evaluation

from .strategies import few, judged


def both(rows):
    truth, p, w = rows
    e = Evaluation(truth, p, [0, 1], w)
    assume((e.support > 0).all())
    return e


def attained(e):
    """Return what every threshold attains, the infinite one first, by trying it."""
    p, w = e.probabilities[:, 1], e.weights
    scores = np.unique(p if w is None else p[w > 0])[::-1]
    result = []
    for threshold in (np.inf, *scores):
        at = e.at(threshold)
        tp, fp, fn, tn = at.outcomes()
        precision = tp / (tp + fp) if tp + fp else float("nan")
        result.append((threshold, precision, tp / (tp + fn), fp / (fp + tn), fp, fn))
    return result


@few
@given(judged(classes=(2, 2)), st.sampled_from([0.0, 0.3, 0.5, 0.8, 1.0]))
def test_precision(rows, least):
    e = both(rows)
    keep = [t for t in attained(e)[1:] if t[1] >= least - 1e-9]
    if not keep:
        best = max(t[1] for t in attained(e)[1:])
        with pytest.raises(SettingError, match=f"precision of at least {least:g}: the highest is"):
            e.threshold(precision=least)
        assert best < least
        return
    found = e.threshold(precision=least)
    assert found.recall == pytest.approx(max(t[2] for t in keep))
    assert found.precision >= least - 1e-9
    check(e, found)


@few
@given(judged(classes=(2, 2)), st.sampled_from([0.0, 0.3, 0.5, 0.8, 1.0]))
def test_recall(rows, least):
    e = both(rows)
    found = e.threshold(recall=least)
    keep = [t for t in attained(e)[1:] if t[2] >= least - 1e-9]
    assert found.recall >= least - 1e-9
    assert found.precision == pytest.approx(max(t[1] for t in keep))
    check(e, found)


@few
@given(judged(classes=(2, 2)), st.sampled_from([0.0, 0.1, 0.5, 1.0]))
def test_false_positive_rate(rows, most):
    e = both(rows)
    keep = [t for t in attained(e)[1:] if t[3] <= most + 1e-9]
    if not keep:
        with pytest.raises(SettingError, match=f"rate of at most {most:g}: the lowest is"):
            e.threshold(false_positive_rate=most)
        return
    found = e.threshold(false_positive_rate=most)
    assert found.recall == pytest.approx(max(t[2] for t in keep))
    assert found.false_positive_rate <= most + 1e-9
    check(e, found)


@few
@given(judged(classes=(2, 2)), st.sampled_from([(1, 1), (0, 1), (1, 0), (1, 10), (5, 1)]))
def test_cost(rows, cost):
    e = both(rows)
    found = e.threshold(cost=cost)
    costs = [(cost[0] * t[4] + cost[1] * t[5]) / e.support.sum() for t in attained(e)]
    assert found.cost == pytest.approx(min(costs))
    tp, fp, fn, tn = check(e, found).outcomes()
    assert (cost[0] * fp + cost[1] * fn) / (tp + fp + fn + tn) == pytest.approx(found.cost)


def check(e, found):
    """Hold a threshold to what it says it attains."""
    at = e.at(found)
    assert at.recall()[1] == pytest.approx(found.recall)
    assert at.false_positive_rate()[1] == pytest.approx(found.false_positive_rate)
    if np.isinf(found.threshold):
        assert np.isnan(found.precision)
    else:
        assert at.precision()[1] == pytest.approx(found.precision)
    return at


@few
@given(judged(classes=(2, 2)))
def test_the_other_class_may_be_the_positive_one(rows):
    e = both(rows)
    mirrored = Evaluation(1 - e.true_codes, e.probabilities[:, ::-1], [0, 1], e.weights)
    one, other = e.threshold(recall=0.5, positive=0), mirrored.threshold(recall=0.5)
    assert one.threshold == other.threshold
    assert one.recall == other.recall
    assert (e.at(one).predicted_codes == 1 - mirrored.at(other).predicted_codes).all()


def test_at():
    e = Evaluation([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], [0, 1], how="10-fold")
    at = e.at(0.4)
    assert at.predictions.tolist() == [0, 1, 0, 1]
    assert at.how == "10-fold, 1 if P ≥ 0.4"
    assert at.log_loss == e.log_loss
    assert e.at(0.5).accuracy == e.accuracy
    assert e.at(0.6, positive=0).predictions.tolist() == [0, 0, 0, 1]
    assert e.at(np.inf).how == "10-fold, no row predicted 1"


def test_nobody_is_an_answer_where_mistakes_cost_that_much():
    e = Evaluation([0, 0, 1], [0.9, 0.2, 0.3], [0, 1])
    found = e.threshold(cost=(10, 1))
    assert found.threshold == np.inf
    assert "none: no row is predicted 1  for costs of 10" in str(found)
    assert found.to_dict()["threshold"] is None
    assert found.cost == pytest.approx(1 / 3)
    assert "cost per row" in str(found)


def test_wrong_settings():
    e = Evaluation([0, 1], [0.6, 0.4], [0, 1])
    with pytest.raises(SettingError, match=r"Give exactly one of precision.*there is none"):
        e.threshold()
    with pytest.raises(SettingError, match="there are precision and recall"):
        e.threshold(precision=0.5, recall=0.5)
    with pytest.raises(SettingError, match=r"No threshold gives a precision of at least 0\.9"):
        e.threshold(precision=0.9)
    with pytest.raises(SettingError, match=r"at most 0\.5: the lowest is 1, at P ≥ 0\.6"):
        e.threshold(false_positive_rate=0.5)
    with pytest.raises(SettingError, match="recall must be between 0 and 1, not 90"):
        e.threshold(recall=90)
    with pytest.raises(SettingError, match="precision must be a finite number"):
        e.threshold(precision=float("nan"))
    with pytest.raises(SettingError, match="cost must be a pair"):
        e.threshold(cost=3)
    with pytest.raises(SettingError, match="cost must be a finite number of at least 0, not -1"):
        e.threshold(cost=(1, -1))
    with pytest.raises(SettingError, match="cost must be above 0 for at least one kind of error"):
        e.threshold(cost=(0, 0))
    with pytest.raises(SettingError, match="threshold must be a finite number"):
        e.at(float("nan"))
    alone = Evaluation([0, 0], [0.6, 0.4], [0, 1])
    with pytest.raises(SettingError, match="needs rows of both classes; there are none of 1"):
        alone.threshold(recall=0.5)
    three = Evaluation([0, 1], [[0.2, 0.7, 0.1]] * 2, [0, 1, 2])
    for call in (lambda: three.threshold(recall=0.5), lambda: three.at(0.5)):
        with pytest.raises(SettingError, match="is for two classes; there are 3"):
            call()
