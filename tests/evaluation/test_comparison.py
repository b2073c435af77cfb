"""Comparing two models on the same rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, chi2

from priory import Comparison, Evaluation, compare
from priory.errors import InputError, SettingError
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
    gold, p, w = rows
    k = p.shape[1]
    order = list(range(len(gold)))
    random.shuffle(order)
    a, b = Evaluation(gold, p, range(k), w), Evaluation(gold, p[order], range(k), w)
    c = compare(a, b, n_resamples=20)
    assert c.accuracy_difference == pytest.approx(b.accuracy - a.accuracy, abs=1e-12)
    assert c.log_loss_difference == pytest.approx(b.log_loss - a.log_loss, abs=1e-9)
    np.testing.assert_equal(c.auc_difference, b.auc - a.auc)
    counted = np.ones(len(gold), dtype=bool) if w is None else w > 0
    alone = [(x.right & ~y.right & counted).sum() for x, y in ((a, b), (b, a))]
    assert c.right_alone == tuple(alone)
    back = compare(b, a, n_resamples=20)
    assert back.p_value == pytest.approx(c.p_value)
    assert back.log_loss_interval == pytest.approx(
        (-c.log_loss_interval.high, -c.log_loss_interval.low), abs=1e-9
    )


def two(n=300, seed=0):
    """Return a model that knows the classes' probabilities, and one that exaggerates them."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet([0.8, 0.8], n)
    gold = (p[:, 1] > rng.random(n)).astype(int)
    sharp = p**4 / (p**4).sum(axis=1, keepdims=True)
    return Evaluation(gold, p, [0, 1]), Evaluation(gold, sharp, [0, 1])


def test_what_is_said():
    true, sharp = two()
    c = compare(true, sharp, ("true", "sharp"))
    assert isinstance(c, Comparison)
    text = str(c)
    assert "right alone: true 0, sharp 0; McNemar's exact test p = 1" in text
    assert "accuracy: the difference may be chance" in text
    assert "log-loss: true is better" in text
    assert all(len(line) <= 80 for line in text.splitlines())
    assert c.log_loss_interval.low > 0
    narrow = compare(true, sharp, level=0.5)
    assert c.log_loss_interval.low < narrow.log_loss_interval.low
    assert "50 %" in str(narrow)
    assert c.to_dict()["names"] == ["true", "sharp"]
    assert c.to_dict()["log_loss_interval"] == list(c.log_loss_interval)
    worse = Evaluation.of_predictions(true.labels, 1 - true.predicted, [0, 1])
    assert "accuracy: first is better" in str(compare(true, worse))
    assert "accuracy: second is better" in str(compare(worse, true))


def test_names_are_escaped_in_html():
    html = compare(*two(), names=("<script>", "b"))._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html


def test_of_predictions_alone():
    a = Evaluation.of_predictions([0, 1, 1], [0, 1, 0])
    c = compare(a, two(3)[0]._with(gold=a.gold))
    assert (c.log_loss_difference, c.log_loss_interval, c.auc_difference) == (None, None, None)
    assert "log-loss" not in str(c)
    assert c.to_dict()["log_loss_difference"] is None


def test_classes_may_be_in_another_order():
    a = Evaluation(["x", "y"], [0.2, 0.7], ["x", "y"])
    b = Evaluation(["x", "y"], [[0.2, 0.1, 0.7], [0.6, 0.1, 0.3]], ["y", "z", "x"])
    assert compare(a, b).accuracy_difference == 0


def test_what_it_refuses():
    a = Evaluation([0, 1], [0.2, 0.7], [0, 1])
    with pytest.raises(SettingError, match=r"compare takes two evaluations, not 0.5"):
        compare(a, 0.5)
    with pytest.raises(InputError, match="the first has 2, the second 1"):
        compare(a, Evaluation([0], [0.2], [0, 1]))
    with pytest.raises(InputError, match="the gold labels of row 1 are 1 and 0"):
        compare(a, Evaluation([0, 0], [0.2, 0.7], [0, 1]))
    with pytest.raises(InputError, match="the gold labels of row 0 are 0 and '0'"):
        compare(a, Evaluation(["0", "1"], [0.2, 0.7], ["0", "1"]))
    with pytest.raises(InputError, match="the same sample_weight in both"):
        compare(a, Evaluation([0, 1], [0.2, 0.7], [0, 1], [1, 2]))
    with pytest.raises(SettingError, match="names must be two names, not 'ab'"):
        compare(a, a, "ab")
    with pytest.raises(SettingError, match="level must be between 0 and 1"):
        compare(a, a, level=95)
