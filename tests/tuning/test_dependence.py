"""Pairs of columns that depend on each other, read out by counts and by ranks."""

from itertools import pairwise

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import multivariate_normal, norm

from priory import Classifier, NaiveBayes, Settings
from priory.data.schema import Block, Kind
from priory.export import to_sql
from priory.tuning.coded import CodedColumn
from priory.tuning.dependence import APART, counted_ratio, narrower, normal_ratio
from priory.tuning.pairs import Pair


def cells_of_a_normal(r, bins):
    """Return how probable each cell of two standard normals is, cut at their quantiles."""
    ends = norm.ppf(np.linspace(0, 1, bins + 1)).clip(-9, 9)
    below = multivariate_normal([0, 0], [[1, r], [r, 1]]).cdf(
        np.stack(np.meshgrid(ends, ends, indexing="ij"), axis=-1)
    )
    return np.diff(np.diff(below, axis=0), axis=1)


@pytest.mark.parametrize("r", [-0.9, -0.5, 0.3, 0.8])
def test_ranks_tell_what_a_normal_dependence_is(r):
    p = cells_of_a_normal(r, 16)
    found = normal_ratio(1e6 * p[:, :, None])[:, :, 0]
    expected = np.log((1 - APART) * p * 16**2 + APART)
    assert (p * np.abs(found - expected)).sum() < 0.04
    told = (p * found).sum()  # the information of the two, less what is taken to be apart
    assert told == pytest.approx((p * expected).sum(), abs=0.02)


def test_a_class_has_its_own_correlation_once_it_has_rows():
    many, few = cells_of_a_normal(0.9, 8), cells_of_a_normal(-0.9, 8)

    def corner(rows):
        n = np.stack([1000 * many, rows * few], axis=-1)
        return normal_ratio(n)[0, 0]

    assert corner(1000)[0] > 0.5 > -0.5 > corner(1000)[1]
    assert corner(3)[1] > 0.5, "three rows have that of all rows"


@given(
    arrays(
        np.float64,
        st.tuples(st.integers(2, 5), st.integers(2, 5), st.integers(1, 3), st.integers(1, 3)),
        elements=st.sampled_from([0.0, 0.0, 1.0, 2.0, 30.0, 1e5]),
    )
)
def test_ratios_are_numbers_whatever_was_counted(n):
    for ratio in counted_ratio(n), normal_ratio(n):
        assert ratio.shape == n.shape
        assert np.isfinite(ratio).all()
    assert normal_ratio(n).min() >= np.log(APART) - 1e-9


@given(
    st.lists(st.integers(0, 60).map(lambda x: x / 2), min_size=2, max_size=200),
    st.integers(2, 8),
    st.integers(1, 3),
)
def test_scores_of_wide_cells_are_those_of_the_narrow_ones_within(values, bins, times):
    frame = pd.DataFrame({"x": values, "y": values[::-1]})
    y = np.resize(["a", "b"], len(frame))
    statistics = Classifier(Settings.textbook()).update(frame, y).statistics
    blocks = [statistics.schema[name] for name in ("x", "y")]
    wide, narrow = (
        tuple(CodedColumn.of(b, statistics.tables[b.name], n) for b in blocks)
        for n in (bins, bins * times)
    )
    for column, finer in zip(wide, narrow, strict=True):
        assert set(column.edges) <= set(finer.edges)
        assert all(a <= b for a, b in pairwise(column.within(finer)))
    scores = np.arange(wide[0].size * wide[1].size, dtype=float)[:, None]
    pair = Pair(wide, np.zeros(0, np.int32), (0, 1), 0.0)
    spread = pair.scores_in(narrow, scores)
    for x, y in frame.to_numpy():
        at = [np.searchsorted(c.edges[1:-1], v) for c, v in zip(wide, (x, y), strict=True)]
        fine = [np.searchsorted(c.edges[1:-1], v) for c, v in zip(narrow, (x, y), strict=True)]
        assert spread[fine[0] * narrow[1].size + fine[1]] == scores[at[0] * wide[1].size + at[1]]


def test_labels_have_no_narrower_cells():
    block = Block("c", ("c",), Kind.LABELS, "strings")
    column = CodedColumn(block, ("a", "b"), None)
    assert column.within(column).tolist() == [0, 1]


def test_cells_are_narrower_where_that_takes_little():
    assert [narrower(k, 30, 8) for k in (4, 5, 10, 11, 100)] == [3, 2, 2, 1, 1]
    assert [narrower(2, pairs, 8) for pairs in (1, 69, 70, 156, 157)] == [3, 3, 2, 2, 1]


def near_copies(n, seed):
    """Return two measurements that are nearly equal, and whether the first is the larger."""
    rng = np.random.default_rng(seed)
    common, apart = rng.normal(size=n), 0.05 * rng.normal(size=n)
    y = np.where(apart + 0.01 * rng.normal(size=n) > 0, "left", "right")
    return pd.DataFrame({"left": common + apart, "right": common - apart}), y


def test_the_difference_of_near_copies_is_seen():
    X, y = near_copies(800, 0)
    new, truth = near_copies(4000, 1)
    model, naive = NaiveBayes().fit(X, y), NaiveBayes(pairs=None).fit(X, y)
    assert naive.score(new, truth) < 0.55
    assert model.score(new, truth) > 0.65
    assert "left × right" in str(model.schema_)


def test_classes_that_differ_in_their_correlation_alone():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 2000)
    x = rng.normal(size=(2000, 2))
    x[:, 1] = np.where(y == 1, 0.9, -0.9) * x[:, 0] + np.sqrt(1 - 0.81) * x[:, 1]
    model = NaiveBayes().fit(x[:1000], y[:1000])
    p = model.predict_proba(x[1000:])[np.arange(1000), y[1000:]]
    density = [multivariate_normal([0, 0], [[1, r], [r, 1]]).pdf(x[1000:]) for r in (-0.9, 0.9)]
    best = np.where(y[1000:] == 1, density[1], density[0]) / sum(density)
    assert -np.log(p).mean() < -np.log(best).mean() + 0.06


@pytest.mark.parametrize("labels", [51, 130])
def test_columns_that_cannot_be_a_pair(labels):
    """Of 51 labels and 8 bins there are too many cells: the tree of pairs has no edge."""
    rng = np.random.default_rng(0)
    names = [f"s{i}" for i in range(labels)]
    X = pd.DataFrame({"state": rng.choice(names, 3000), "age": rng.normal(size=3000)})
    y = rng.integers(0, 2, 3000)
    assert NaiveBayes().fit(X, y).predict_proba(X).shape == (3000, 2)


@pytest.mark.parametrize("n", [135, 150, 225])
def test_how_much_weights_add_up_to_does_not_matter(n):
    """A tenth of 150 rows, scaled to what they are worth, may be a hair less than 150."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 1)) + 0.5 * rng.normal(size=(n, 8))
    y = (X[:, 0] + rng.normal(size=n) > 0).astype(int)
    whole, tenth = (NaiveBayes().fit(X, y, sample_weight=w) for w in (None, np.full(n, 0.1)))
    np.testing.assert_allclose(whole.predict_proba(X), tenth.predict_proba(X), atol=1e-9)


def test_pairs_that_are_all_there_is_are_believed():
    """Each column by itself tells nothing; of 150 rows two pairs tell nearly all."""
    losses = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, 2150)
        x = rng.normal(size=(2150, 4))
        x[:, 1::2] = np.where(y == 1, 0.8, -0.8)[:, None] * x[:, ::2] + 0.6 * x[:, 1::2]
        p = NaiveBayes().fit(x[:150], y[:150]).predict_proba(x[150:])
        losses.append(-np.log(p[np.arange(2000), y[150:]]).mean())
    assert np.mean(losses) < 0.4


def test_terms_and_sql_agree_where_cells_are_narrow():
    X, y = near_copies(600, 0)
    X.loc[::7, "left"] = None
    new = pd.concat([X, X * 1e3, X * 0]).reset_index(drop=True)
    model = NaiveBayes(families="student-t").fit(X, y)
    columns = [c for c in model.classifier_.tuning.corrections if len(c[0].columns) == 2]
    assert max(p.scores.shape[0] for _, p in columns) > 8, "narrower than the bins of counts"
    p = model.predict_proba(new)
    found = duckdb.query(to_sql(model.classifier_, "new")).df()
    np.testing.assert_allclose(found[["P(left)", "P(right)"]], p, atol=1e-12)
    for row, expected in zip(model.explain(new[::50]), p[::50], strict=True):
        total = row.log_prior + sum(row.by_column().values())
        np.testing.assert_allclose(np.exp(total) / np.exp(total).sum(), expected, atol=1e-12)
