"""The promises, kept on real tables as they are read from their files."""

import contextlib
from functools import cache
from io import StringIO
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from priory import NaiveBayes, Settings
from priory.base.errors import IdentifierWarning
from priory.data.schema import Kind
from priory.statistics.tables import NumbersTable

DATA = Path(__file__).parents[2] / "shared" / "data"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the folder shared/data is not there")

EXACT = ["adult", "soybean", "heart_c"]
AS_READ = [*EXACT, "hepatitis", "horse_colic", "house_votes_84", "titanic"]
COUNTED = {"adult": ["age", "capital-gain", "hours-per-week"], "heart_c": ["age", "chol", "ca"]}
"""Columns of whole numbers, which a Poisson can model."""


def parse(text):
    return pd.read_csv(text, keep_default_na=False, na_values=[""])


@cache
def load(name):
    return parse(next(DATA.glob(f"{name}.csv*")))


def split(table):
    return table.drop(columns="target"), table["target"]


def learn(table):
    return NaiveBayes.textbook().partial_fit(*split(table))


def reread(table):
    """Return rows as their own file would give them: types follow from these rows alone."""
    return parse(StringIO(table.to_csv(index=False)))


def chunks(name, seed, n=9):
    """Cut a table at random, after a chunk in which some column is missing altogether."""
    table, rng = load(name), np.random.default_rng(seed)
    gap = table.columns[table.isna().any().to_numpy()][0]
    gaps = table.index[table[gap].isna()]
    rest = rng.permutation(table.index.difference(gaps))
    cuts = np.sort(rng.integers(0, len(rest), n - 2))
    parts = [gaps, *np.split(rest, cuts), rest[:0]]
    read_again = [reread(table.loc[part]) for part in parts]
    assert read_again[0][gap].isna().all()
    return read_again


def assert_same(model, expected, X):
    """Hold a model to another: its statistics, and what it predicts to 1e-9."""
    a, b = model.statistics_, expected.statistics_
    assert a.classes == b.classes
    np.testing.assert_array_equal(a.rows, b.rows)
    np.testing.assert_array_equal(a.weight, b.weight)
    assert {block.name: block.kind for block in a.schema} == {
        block.name: block.kind for block in b.schema
    }
    for name, table in a.tables.items():
        other = b.tables[name]
        if not isinstance(table, NumbersTable):
            assert table == other
            continue
        assert table.cells == other.cells.coarsened(table.cells.level)
        np.testing.assert_array_equal(table.moments.rows, other.moments.rows)
        np.testing.assert_allclose(table.moments.mean, other.moments.mean, rtol=1e-12)
        np.testing.assert_allclose(table.moments.scatter, other.moments.scatter, rtol=1e-11)
    np.testing.assert_allclose(
        model.predict_log_proba(X), expected.predict_log_proba(X), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("seed", range(3))
def test_chunks_read_one_by_one_give_the_model_of_the_whole(name, seed):
    X, y = split(load(name))
    model = NaiveBayes.textbook()
    for chunk in chunks(name, seed):
        model.partial_fit(*split(chunk))
    assert_same(model, NaiveBayes.textbook().fit(X, y), X)


@pytest.mark.parametrize("name", EXACT)
def test_the_chunks_do_differ_in_their_types(name):
    types = {tuple(map(str, chunk.dtypes)) for chunk in chunks(name, 0)}
    assert len(types) > 1


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("seed", range(3))
def test_models_of_the_chunks_merge_in_any_order(name, seed):
    X, y = split(load(name))
    expected = NaiveBayes.textbook().fit(X, y)
    models = [learn(chunk) for chunk in chunks(name, seed) if len(chunk)]
    rng = np.random.default_rng(seed)
    while len(models) > 1:  # join any two, sometimes in place
        i, j = rng.choice(len(models), 2, replace=False)
        joined = models[i] + models[j] if rng.random() < 0.5 else models[i].merge(models[j])
        models = [m for k, m in enumerate(models) if k not in (i, j)] + [joined]
    assert_same(models[0], expected, X)


@pytest.mark.parametrize("name", EXACT)
def test_extra_rows_learned_and_forgotten_leave_no_trace(name):
    table, rng = load(name), np.random.default_rng(5)
    X, y = split(table)
    extra = table.sample(200, random_state=1, ignore_index=True)
    numeric = extra.select_dtypes("number").columns
    extra[numeric] = extra[numeric] * 7 + 1e5  # never seen otherwise
    texts = extra.columns.difference(numeric)
    extra[texts] = extra[texts].where(rng.random((200, len(texts))) < 0.8, "never seen otherwise")
    model = NaiveBayes.textbook().fit(X, y).partial_fit(*split(extra))
    assert "never seen otherwise" in model.classes_
    for part in np.split(rng.permutation(200), [50, 51, 140]):
        model.forget(*split(reread(extra.loc[part])))
    assert_same(model, NaiveBayes.textbook().fit(X, y), X)


@pytest.mark.parametrize("name", EXACT)
def test_learned_rows_can_be_forgotten_again(name):
    table = load(name)
    gone = table.sample(frac=0.4, random_state=2)
    left = table.drop(index=gone.index)
    model = NaiveBayes.textbook().fit(*split(table)).forget(*split(reread(gone)))
    assert_same(model, NaiveBayes.textbook().fit(*split(left)), split(left)[0])


@pytest.mark.parametrize("name", list(COUNTED))
def test_families_read_from_the_same_statistics_equal_those_fitted_anew(name):
    X, y = split(load(name))
    schema = NaiveBayes.textbook().fit(X, y).statistics_.schema
    numbers = [block.name for block in schema if block.kind is Kind.NUMBERS]
    model = NaiveBayes.textbook(families=dict.fromkeys(numbers, "gaussian")).fit(X, y)
    seen = [model.predict_log_proba(X)]
    for family in ("histogram", "histogram-mdl", "student-t", "poisson", "gaussian"):
        columns = COUNTED[name] if family == "poisson" else numbers
        settings = Settings.textbook(families=dict.fromkeys(columns, family))
        model.classifier_.change_settings(settings)
        plain = {"smoothing": 1.0, "weights": None, "missing": "skip"}
        anew = NaiveBayes(settings.families, **plain).fit(X, y)
        again = model.predict_log_proba(X)
        np.testing.assert_allclose(again, anew.predict_log_proba(X), rtol=1e-12, atol=1e-12)
        assert model.statistics_ == anew.statistics_
        seen.append(again)
    np.testing.assert_array_equal(seen[-1], seen[0])  # Gaussian again
    assert all(np.abs(a - b).max() > 1e-3 for a, b in pairwise(seen))


@pytest.mark.parametrize("name", AS_READ)
def test_a_frame_is_learned_as_it_is_read(name):
    X, y = split(load(name))
    warned = name == "titanic"
    with pytest.warns(IdentifierWarning, match="'Name'") if warned else contextlib.nullcontext():
        model = NaiveBayes(missing="skip").fit(X, y)
    assert np.mean(model.predict(X) == y) > y.value_counts(normalize=True).max()
    odd = with_gaps_and_surprises(X)
    log_probabilities = model.predict_log_proba(odd)
    assert log_probabilities.shape == (len(odd), y.nunique())
    assert np.all(np.isfinite(log_probabilities))
    np.testing.assert_allclose(model.predict_proba(odd).sum(axis=1), 1, rtol=1e-12)
    nothing = model.predict_proba(X.head(1).map(lambda _: None))[0]
    np.testing.assert_allclose(nothing, y.value_counts(normalize=True)[model.classes_], rtol=1e-12)


def with_gaps_and_surprises(X):
    """Return some rows in which cells are missing, or hold what was never learned."""
    rng = np.random.default_rng(6)
    odd = X.head(100).reset_index(drop=True).astype(object)
    surprise = [-3.7 if X[c].dtype.kind in "if" else "a value never learned" for c in X.columns]
    odd = odd.mask(rng.random(odd.shape) < 0.2, pd.Series(surprise, X.columns), axis=1)
    return odd.mask(rng.random(odd.shape) < 0.3, None)
