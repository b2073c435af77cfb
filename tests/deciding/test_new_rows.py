"""Counts of new rows: any pieces give the same drift, and counted probabilities the prior."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_ind

from priory import Classifier, NaiveBayes, Settings, TextNB
from priory.data.columns import Frame, Labels, Numbers
from priory.data.schema import Block, Kind, Schema
from priory.deciding.drift import compare
from priory.deciding.new_rows import NewRows
from priory.deciding.priors import estimate_prior
from priory.deciding.probability_cells import ProbabilityCells
from priory.statistics.statistics import Statistics

from .test_drift import drawn

pytestmark = pytest.mark.filterwarnings("ignore::priory.base.errors.DriftWarning")


def made(kind, rng):
    """Give a model, and a function that draws new rows for it."""
    y = rng.integers(0, 3, 300)
    words = [f"w{i}" for i in range(40)]
    if kind == "mixed":
        X = drawn(300, rng)[0]
        return Classifier(Settings.textbook()).update(X, y), lambda n: drawn(n, rng)[0]
    if kind == "joint":
        families = {("label", "flag"): "joint"}
        X = drawn(300, rng)[0]
        model = Classifier(Settings.textbook(families=families)).update(X, y)
        return model, lambda n: drawn(n, rng)[0]
    if kind == "texts":
        texts = [" ".join(rng.choice(words, 6)) for _ in range(300)]
        model = TextNB().fit(texts, y)
        return model, lambda n: [" ".join(rng.choice([*words, "new"], 6)) for _ in range(n)]
    model = NaiveBayes.textbook().fit(sp.csr_matrix(rng.poisson(0.5, (300, 40))), y)
    return model, lambda n: sp.csr_matrix(rng.poisson(0.7, (n, 40)))


@pytest.mark.parametrize("kind", ["mixed", "joint", "texts", "counts"])
def test_pieces_in_any_order_are_the_whole(kind):
    model, draw = made(kind, np.random.default_rng(5))
    X, fitted = draw(90), model._fitted()
    frame = fitted.frame(model._rows(X))
    whole = model.compare_with(X)
    parts = [frame.take(slice(60, 90)), frame.take(slice(0, 1)), frame.take(slice(1, 60))]
    one = NewRows(fitted.statistics)
    for part in parts:
        one.add(part)
    both = one.empty()
    for part in parts:
        piece = one.empty()
        piece.add(part)
        both = both + piece
    for new in (one, both):
        found = compare(new, whole.prior, True)
        assert found.columns == whole.columns and found.n_rows == 90


def test_means_are_compared_where_no_cells_were_kept():
    rng = np.random.default_rng(6)
    X, new = rng.normal(5e8, 1, (200, 2)), rng.normal(5e8, 2, (80, 2))
    new[:, 1] += 3
    new[::4, 0] = np.nan
    schema = Schema(("a", "b"), (Block("m", ("a", "b"), Kind.MOMENTS),))
    y = Labels(np.zeros(200, dtype=np.int32), (0,))
    statistics = Statistics.count(Frame(200, {"m": Numbers(X)}), y, schema)
    found = NewRows(statistics)
    for piece in np.array_split(new, 3):
        found.add(Frame(len(piece), {"m": Numbers(piece)}))
    for j, one in enumerate(found.differences()):
        there = new[~np.isnan(new[:, j]), j]
        expected = ttest_ind(X[:, j], there, equal_var=False).pvalue
        assert one.p == pytest.approx(expected, rel=1e-6)
        assert one.missing == (0.25 if j == 0 else 0.0)
    counts = NewRows(statistics, only_counts=True)
    assert counts.left_out == ("a", "b") and list(counts.differences()) == []


def test_what_was_never_learned_is_a_count():
    model = Classifier(Settings.textbook()).update({"x": [1.0, 2.0], "c": ["a", "b"]}, [0, 1])
    new = NewRows(model.statistics)
    new.add(model.frame(pd.DataFrame({"x": [9.5, 1.5], "c": ["sentinel", "other"]})))
    assert {one.column: one.unseen for one in new.differences()} == {"x": 0.5, "c": 1.0}
    assert [sums.tolist() for sums in new._sums] == [[1, 1, 0, 1], [0, 0, 2, 0]]


@given(st.integers(2, 5), st.integers(0, 2**32 - 1))
def test_probabilities_as_counts_give_the_prior(n_classes, seed):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(n_classes, 0.3), 400)
    learned = p.mean(axis=0)
    shift = rng.dirichlet(np.full(n_classes, 5.0))
    p = p * shift / (p @ shift)[:, None]
    cells = ProbabilityCells(n_classes)
    for piece in np.array_split(p, 3):
        cells.add(piece)
    about, counts = cells.table()
    exact = estimate_prior(p, learned, tuple(range(n_classes)), n=1000)
    found = estimate_prior(about, learned, tuple(range(n_classes)), n=1000, counts=counts)
    assert found.n_rows == 400
    assert np.abs(found.prior - exact.prior).max() < 0.02
    assert np.abs(found.low - exact.low).max() < 0.03
    again = estimate_prior(
        np.repeat(about, counts.astype(int), axis=0), learned, tuple(range(n_classes)), n=1000
    )
    assert np.allclose(again.prior, found.prior) and np.isclose(again.p_value, found.p_value)


@given(st.integers(0, 2**32 - 1), st.permutations(range(4)))
def test_cells_are_few_and_the_same_in_any_order(seed, order):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(4, 0.2), 300)
    whole, pieces, sums = (ProbabilityCells(4, limit=30) for _ in range(3))
    whole.add(p)
    for i in order:
        pieces.add(p[i::4])
        part = ProbabilityCells(4, limit=30)
        part.add(p[i::4])
        sums = sums + part
    expected = whole.table()
    assert len(expected[1]) <= 30 and expected[1].sum() == 300
    for one in (pieces, sums):
        assert all(map(np.array_equal, one.table(), expected))
