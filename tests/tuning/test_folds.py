"""Scores of rows by sums without their fold, against models that were learned without it."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.datasets import load_wine
from sklearn.metrics import log_loss

from priory import NaiveBayes, leave_one_out
from priory.data.columns import Counts, Frame, Labels
from priory.data.reading import infer, read, read_labels
from priory.families import Categorical, Gaussian, Histogram, Poisson, StudentT
from priory.families.priors import Laplace, MEstimate, NormalInverseGamma
from priory.model.model import Model
from priory.model.term import Choice
from priory.statistics.chance import equal_by_chance, too_even_for_chance
from priory.statistics.dealing import deal
from priory.statistics.sampling import Sample
from priory.statistics.statistics import Statistics
from priory.text.analyzer import Analyzer
from priory.tuning.folds import FoldedRows

WAYS = {
    "label": [Choice(Categorical(), Laplace(1.0))],
    "number": [
        Choice(StudentT(), NormalInverseGamma()),
        Choice(Gaussian(), None),
    ],
    "count": [
        Choice(Poisson(), Laplace(1.0)),
        Choice(Histogram(cut="mdl"), Laplace(1.0)),
    ],
}


def table(n=200, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    frame = pd.DataFrame(
        {
            "label": np.array(list("abcd"))[(y + rng.integers(0, 3, n)) % 4],
            "number": rng.normal(size=n) + y,
            "count": rng.poisson(2 + 2 * y),
        }
    )
    frame.loc[::7, "number"] = None
    frame.loc[::9, "label"] = None
    return frame, np.array(list("xyz"))[y]


@pytest.mark.parametrize("weighted", [False, True])
def test_they_are_those_of_models_without_the_fold(weighted):
    X, y = table()
    schema, labels = infer(X), read_labels(y)
    frame = read(X, schema)
    weight = np.random.default_rng(1).exponential(size=len(y)) if weighted else None
    statistics = Statistics.count(frame, labels, schema, weight)
    sample = Sample.of(frame, labels, weight, 1000)
    rows = FoldedRows.of(statistics, sample, 1.0)
    for name, ways in WAYS.items():
        column = rows.column(schema[name], statistics.tables[name])
        for choice in ways:
            losses, grid = column.score(choice)
            found = column.scored([losses], [grid]).rows
            # What all classes share is that of all rows, not of those outside of the fold.
            near = 0.1 if isinstance(choice.family, StudentT | Poisson) else 1e-5
            for f in range(10):
                mine = np.flatnonzero(rows.fold == f)
                part, of = rows.frame.take(mine), Labels(rows.y[mine], statistics.classes)
                rest = statistics - Statistics.count(part, of, schema, rows.own[mine])
                rest = rest.with_classes(statistics.classes)
                out = np.zeros((len(mine), 3))
                Model.read(rest, {name: choice}).terms[0].add_log_likelihood(part, out)
                expected = out - out.max(axis=1, keepdims=True)
                np.testing.assert_allclose(found[mine], expected, atol=near, rtol=1e-5)


def test_smoothing_towards_the_column_is_that_of_all_rows():
    X, y = table()
    schema, labels = infer(X), read_labels(y)
    frame = read(X, schema)
    statistics = Statistics.count(frame, labels, schema)
    rows = FoldedRows.of(statistics, Sample.of(frame, labels, None, 1000), 1.0)
    column = rows.column(schema["label"], statistics.tables["label"])
    losses = [
        column.score(Choice(Categorical(), MEstimate(m, "marginal")))[0].sum()
        for m in (0.5, 2.0, 1e6)
    ]
    assert losses[2] == pytest.approx(rows.no_loss, rel=1e-3)
    assert losses[1] < rows.no_loss


def test_copies_of_measurements_share_a_fold_and_equal_labels_do_not():
    X, y = table(100)
    X = X.dropna()
    y = y[X.index]
    twice = pd.concat([X, X], ignore_index=True)
    sample = Sample.of(read(twice, infer(twice)), read_labels(np.r_[y, y]), None, 1000)
    assert sample.copied.all()
    assert len(deal(sample.hashes, sample.rows, sample.copied)[0]) == len(sample)
    few = pd.DataFrame({"a": list("xy") * 50, "b": list("uuvv") * 25})
    sample = Sample.of(read(few, infer(few)), read_labels(list("pq") * 50), None, 1000)
    assert not sample.copied.any()
    assert len(deal(sample.hashes, sample.rows, sample.copied)[0]) > len(sample)


def test_rows_of_many_labels_are_equal_by_copying_alone():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({f"c{j}": rng.choice(list("acgt"), 200) for j in range(40)})
    y = rng.integers(0, 2, 200)
    twice = pd.concat([X, X], ignore_index=True)
    sample = Sample.of(read(twice, infer(twice)), read_labels(np.r_[y, y]), None, 1000)
    assert sample.copied.all()
    alike = [f"c{j}" for j in range(3)]  # some of these are equal by chance
    sample = Sample.of(read(X[alike], infer(X[alike])), read_labels(y), None, 1000)
    assert (sample.rows > 1).any() and not sample.copied.any()


def test_rows_that_are_there_too_evenly_were_copied():
    rng = np.random.default_rng(0)
    rate = rng.exponential(size=(2_000, 3)) * [0.2, 1.0, 4.0]  # by chance, rarely and often
    for rows in rng.poisson(rate).T:
        some = rows[rows > 0]
        assert not too_even_for_chance(some).any()
        for times in (2, 3):
            found = too_even_for_chance(times * some)
            assert found.tolist() == (times * some <= 10).tolist()
    assert not too_even_for_chance(np.full(4, 25)).any()  # four cells, each of them often
    copied = np.r_[np.full(300, 1), np.full(300, 2)]
    assert too_even_for_chance(copied).tolist() == (copied > 1).tolist()
    for rows in (copied[:310], np.zeros(0, int), np.full(9, 1)):
        assert not too_even_for_chance(rows).any()


@pytest.mark.parametrize("way", ["pairs", "no pairs"])
def test_a_table_of_labels_that_is_there_twice_is_the_same_model(way):
    rng = np.random.default_rng(1)
    X = pd.DataFrame({f"c{j}": rng.choice(list("acgt"), 400) for j in range(5)}).drop_duplicates()
    y = (X["c0"] > X["c1"]).to_numpy() ^ (rng.random(len(X)) < 0.1)
    options = {} if way == "pairs" else {"pairs": None}
    one = NaiveBayes(**options).fit(X, y)
    two = NaiveBayes(**options).fit(pd.concat([X, X], ignore_index=True), np.r_[y, y])
    np.testing.assert_allclose(two.predict_proba(X), one.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize("kind", ["texts", "dense", "sparse"])
def test_long_texts_are_equal_by_copying_alone(kind):
    rng = np.random.default_rng(0)
    counts = (rng.random((200, 60)).argsort(axis=1) < 12).astype(float)
    short = np.zeros((100, 60))
    short[np.arange(100), rng.integers(0, 3, 100)] = 1.0  # a single word, often the same
    counts = np.r_[counts, counts, short]
    y = read_labels(np.r_[np.arange(400) % 2, np.zeros(100, int)])
    if kind == "texts":
        words = [" ".join(f"w{j}" for j in np.flatnonzero(row)) for row in counts]
        X = pd.DataFrame({"text": words})
        frame = read(X, infer(X, {("text",): Analyzer()}))
    else:
        matrix = counts if kind == "dense" else scipy.sparse.csr_array(counts)
        frame = Frame(500, {"words": Counts.of(matrix)})
    sample = Sample.of(frame, y, None, 1000)
    assert (sample.rows > 1).sum() == 203
    assert sample.copied.sum() == 200


def test_chance_is_the_product_of_shares():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.integers(0, 4, 30) / 4.0, "b": list("xyz") * 10})
    frame, y = read(X, infer(X)), read_labels(list("pq") * 15)
    rows = rng.integers(1, 4, 30)
    found = equal_by_chance(frame, y, rows, np.ones(30, bool))
    labels, classes = X["b"].to_numpy(), np.array(list("pq") * 15)
    for i in range(30):
        same = (X["a"] == X["a"][i]).sum() - 1
        of_class = rows[classes == classes[i]].sum() - 1
        alike = rows[(classes == classes[i]) & (labels == labels[i])].sum() - 1
        assert found[i] == pytest.approx(30 * same / 29 * np.sqrt(alike / of_class))


def test_columns_of_noise_bring_no_pairs():
    rng = np.random.default_rng(1)
    X, y = load_wine(return_X_y=True)
    X = np.c_[X, rng.normal(size=(len(y), 80))]
    schema = NaiveBayes().fit(X, y).classifier_.model.terms
    pairs = [term.block.columns for term in schema if len(term.block.columns) > 1]
    assert len([pair for pair in pairs if any(int(c[1:]) > 12 for c in pair)]) <= 2


@pytest.mark.parametrize("times", [2, 5])
def test_a_table_with_every_row_several_times_gives_the_same_model(times):
    X, y = table(300)
    fresh, classes = table(2000, seed=1)
    rows = [(X, y), (pd.concat([X] * times, ignore_index=True), np.tile(y, times))]
    once, again = models = [NaiveBayes().fit(*learned) for learned in rows]
    # Two ways to read a column that are as good as each other may change places: few rows notice.
    apart = np.abs(again.predict_proba(X) - once.predict_proba(X))
    assert apart.mean() < 0.02
    losses = [log_loss(classes, model.predict_proba(fresh)) for model in models]
    assert losses[0] == pytest.approx(losses[1], abs=0.01)
    losses = [leave_one_out(m, *learned).log_loss for m, learned in zip(models, rows, strict=True)]
    assert losses[0] == pytest.approx(losses[1], abs=0.01)
