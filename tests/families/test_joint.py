"""Joint against tables counted by pandas and sums over all values."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from priory import NaiveBayes
from priory.base.errors import SettingError
from priory.families import Joint
from priory.families.priors import MEstimate

COLUMNS = ("colour", "size", "wet")
DOMAINS = (("blue", "green", "red"), (1, 2, 3, 4), (False, True))


@pytest.fixture
def data():
    rng = np.random.default_rng(11)
    y = rng.integers(0, 3, 120)
    size = rng.integers(1, 5, 120)
    frame = pd.DataFrame(
        {
            "colour": np.array(DOMAINS[0])[(rng.integers(0, 2, 120) + y * size) % 3],
            "size": size,
            "wet": (size + y + rng.integers(0, 2, 120)) % 2 == 0,
        }
    )
    return frame, np.array(["a", "b", "c"])[y]


def fitted(data, smoothing=1.0):
    return NaiveBayes(
        weights=None, missing="skip", families={COLUMNS: "joint"}, smoothing=smoothing
    ).fit(*data)


def likelihood(model, frame):
    return np.exp(model.predict_joint_log_proba(frame) - model.model_.log_prior)


def every_row():
    return pd.DataFrame(list(product(*DOMAINS)), columns=COLUMNS)


def counted(data):
    """Return the counts of every combination, combinations × classes, by pandas."""
    frame, y = data
    table = pd.crosstab([frame[c] for c in COLUMNS], y)
    index = pd.MultiIndex.from_product(DOMAINS)
    return table.reindex(index, fill_value=0).to_numpy().astype(float)


def test_without_smoothing_it_is_the_counted_table(data):
    counts = counted(data)
    found = likelihood(fitted(data, 0.0), every_row())
    assert (counts == 0).any(), "some combinations were never seen"
    np.testing.assert_allclose(found, counts / counts.sum(axis=0), rtol=1e-14, atol=0)
    # The posterior is the share of each class among the rows of the combination.
    seen = counts.sum(axis=1) > 0
    expected = counts[seen] / counts[seen].sum(axis=1, keepdims=True)
    p = fitted(data, 0.0).predict_proba(every_row()[seen])
    np.testing.assert_allclose(p, expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("alpha", [0.5, 1.0, 7.0])
def test_smoothing_counts_all_combinations(data, alpha):
    counts = counted(data)
    expected = (counts + alpha) / (counts.sum(axis=0) + alpha * 24)
    found = likelihood(fitted(data, alpha), every_row())
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(found.sum(axis=0), 1.0, rtol=1e-12)


@pytest.mark.parametrize("prior", ["uniform", "marginal"])
def test_m_estimate(data, prior):
    counts = counted(data)
    total = counts.sum(axis=1, keepdims=True)
    guess = 1 / 24 if prior == "uniform" else (total + 1) / (total.sum() + 24)
    expected = (counts + 5 * guess) / (counts.sum(axis=0) + 5)
    found = likelihood(fitted(data, MEstimate(5.0, prior)), every_row())
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("gone", [("colour",), ("size",), ("colour", "wet"), ("size", "wet")])
@pytest.mark.parametrize("smoothing", [0.0, 1.0, MEstimate(5.0), MEstimate(5.0, "marginal")])
def test_gaps_are_summed_out(data, gone, smoothing):
    model = fitted(data, smoothing)
    whole = every_row()
    kept = [c for c in COLUMNS if c not in gone]
    p = pd.DataFrame(likelihood(model, whole)).assign(**{c: whole[c] for c in kept})
    summed = p.groupby(kept).transform("sum").to_numpy()
    holes = whole.astype(object)
    holes[list(gone)] = None
    np.testing.assert_allclose(likelihood(model, holes), summed, rtol=1e-12, atol=1e-15)


def test_nothing_but_gaps_says_nothing(data):
    row = pd.DataFrame([[None, None, None]], columns=COLUMNS, dtype=object)
    assert likelihood(fitted(data), row).tolist() == [[1.0, 1.0, 1.0]]


def test_a_value_never_seen_is_summed_out(data):
    model = fitted(data)
    unseen = pd.DataFrame({"colour": ["mauve"], "size": [2], "wet": [True]})
    gap = unseen.assign(colour=[None])
    np.testing.assert_allclose(likelihood(model, unseen), likelihood(model, gap), rtol=1e-14)


def test_rows_with_a_gap_are_not_counted(data):
    frame, y = data
    holes = frame.astype(object)
    holes.loc[::4, "size"] = None
    whole = np.arange(len(y)) % 4 != 0
    rest = fitted((frame[whole], y[whole]))
    found = likelihood(fitted((holes, y)), frame)
    np.testing.assert_allclose(found, likelihood(rest, frame), rtol=1e-12)


def test_it_stands_beside_other_columns(data):
    frame, y = data
    x = np.random.default_rng(0).normal(size=len(y))
    model = NaiveBayes(
        weights=None, missing="skip", families={COLUMNS: "joint"}, smoothing=1.0
    ).fit(frame.assign(x=x), y)
    alone = NaiveBayes.textbook().fit({"x": x}, y)
    expected = np.log(likelihood(fitted(data), frame)) + alone.predict_joint_log_proba({"x": x})
    found = model.predict_joint_log_proba(frame.assign(x=x))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)


def test_chunks_merging_and_forgetting_are_exact(data):
    frame, y = data
    whole = fitted(data)
    parts = [fitted((frame[i::3], y[i::3])) for i in range(3)]
    assert (parts[0] + parts[1] + parts[2]).statistics_ == whole.statistics_
    assert whole.forget(frame[::3], y[::3]).statistics_ == (parts[1] + parts[2]).statistics_


def test_a_class_without_rows_stays_out(data):
    model = fitted(data, 0.0).partial_fit(*data, classes=["a", "b", "c", "d"])
    p = model.predict_proba(data[0])
    assert np.isfinite(p).all()
    assert (p[:, 3] == 0).all()


@pytest.mark.parametrize("smoothing", [0.0, 2.0])
def test_samples_have_its_frequencies(data, smoothing):
    model = fitted(data, smoothing)
    n = 30_000
    drawn, _ = model.sample(n, ["b"] * n, random_state=0)
    assert list(drawn.columns) == list(COLUMNS)
    found = drawn.value_counts().reindex(pd.MultiIndex.from_product(DOMAINS), fill_value=0) / n
    np.testing.assert_allclose(found, likelihood(model, every_row())[:, 1], atol=0.01)


def test_guesses_for_single_values_are_refused(data):
    with pytest.raises(SettingError, match=r"joint takes an m-estimate with p='uniform'"):
        NaiveBayes(
            weights=None,
            missing="skip",
            families={COLUMNS: Joint()},
            smoothing=MEstimate(1.0, {"red": 1.0}),
        ).fit(*data)
