"""Leave-one-out and k-fold against the models that are learned again without the rows."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from priory import Settings
from priory.base.errors import ForgetError, InputError, UnseenValueError
from priory.base.parallel import at_most
from priory.data.columns import Combined, Counts, Frame, Labels, Numbers, Pairs
from priory.data.reading import infer, open_table, read, read_labels
from priory.data.schema import Block, Kind
from priory.families import (
    Aode,
    Bernoulli,
    Binomial,
    Categorical,
    Complement,
    Conditional,
    Gaussian,
    Histogram,
    Joint,
    KernelDensity,
    Multinomial,
    MultivariateGaussian,
    Poisson,
    StudentT,
    class_names,
)
from priory.families.loo import brute_force_loo, log_likelihood_loo
from priory.families.priors import Dirichlet, Laplace, MEstimate, NormalInverseGamma
from priory.model.model import Model
from priory.statistics.statistics import Statistics
from priory.statistics.tables import table_type
from priory.tuning.choices import choices_for
from priory.tuning.kinds import declared_kinds
from priory.tuning.leave_one_out import log_joint_folds, log_joint_loo, term_scores_loo

DATA = Path(__file__).parents[3] / "shared" / "data"
K = 3
"""How many classes there are; no block has as many columns."""

exhaustive = settings(deadline=None, max_examples=40, suppress_health_check=list(HealthCheck))


def assert_same(scores, expected):
    """Hold scores to 1e-10, of their size where they are large.

    Where a variance has all but vanished with the row, many digits have with it: scores beyond
    −30 are held to 1e-7, and beyond −10⁵ to 1e-3.
    """
    assert not np.isnan(scores).any()
    np.testing.assert_array_equal(np.isneginf(scores), np.isneginf(expected))
    some = np.isfinite(expected)
    for bound, tolerance in ((-1e5, 1e-3), (-30.0, 1e-7)):
        far = some & (expected < bound)
        np.testing.assert_allclose(scores[far], expected[far], rtol=tolerance)
        some &= ~far
    np.testing.assert_allclose(scores[some], expected[some], rtol=1e-10, atol=1e-10)


# One family


LABELS = ("a", "b", "c", "d", "e")
GUESS = {"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.3, "e": 0.1}
TRUTHS = {False: 0.3, True: 0.7}
SHARES = {0: 0.1, 1: 0.2, 2: 0.3, 3: 0.4}
SMOOTHING = [Laplace(1.0), Laplace(0.3), Laplace(0.0), MEstimate(2.0), MEstimate(2.0, "marginal")]
NUMERIC = (Kind.NUMBERS, Kind.MOMENTS)
NORMAL = [None, NormalInverseGamma(), NormalInverseGamma(mean=0.0, kappa=2.0, beta=1.5)]

CASES = [
    *[
        (Categorical(unseen=unseen), prior, Kind.LABELS)
        for unseen in ("skip", "smooth")
        for prior in [*SMOOTHING, MEstimate(3.0, GUESS), Dirichlet(GUESS)]
    ],
    *[(Categorical(values=("a", "z")), prior, Kind.LABELS) for prior in SMOOTHING],
    *[(Categorical(), prior, Kind.NUMBERS) for prior in SMOOTHING],
    *[
        (Bernoulli(), prior, kind)
        for kind in (Kind.LABELS, Kind.COUNTS, "sparse", "threshold")
        for prior in [*SMOOTHING, MEstimate(3.0, TRUTHS), Dirichlet(TRUTHS)]
    ],
    (Bernoulli(), Laplace((0.0, 1.0, 2.0, 0.5)), Kind.COUNTS),
    *[
        (Binomial(6), prior, kind)
        for kind in (Kind.NUMBERS, Kind.MOMENTS)
        for prior in [*SMOOTHING, Dirichlet(TRUTHS)]
    ],
    (Binomial(6), Laplace((1.0, 2.0)), Kind.MOMENTS),
    *[
        (Multinomial(), prior, kind)
        for kind in (Kind.COUNTS, "sparse")
        for prior in [*SMOOTHING, Laplace((0.0, 1.0, 2.0, 0.5)), MEstimate(3.0, SHARES)]
    ],
    *[
        (Complement(norm), prior, kind)
        for kind in (Kind.COUNTS, "sparse")
        for norm in (False, True)
        for prior in [Laplace(1.0), MEstimate(2.0), MEstimate(2.0, "marginal"), Dirichlet(SHARES)]
    ],
    *[(Poisson(), prior, kind) for kind in (Kind.NUMBERS, Kind.MOMENTS) for prior in SMOOTHING],
    *[
        (Gaussian(shared, smoothing), prior, kind)
        for kind in (Kind.NUMBERS, Kind.MOMENTS)
        for shared in (False, True)
        for smoothing in (0.0, 1e-9, 0.1)
        for prior in NORMAL
    ],
    *[(StudentT(), prior, kind) for kind in NUMERIC for prior in NORMAL[1:]],
    *[(StudentT(how), prior, Kind.NUMBERS) for how in ("log", "rank") for prior in NORMAL[1:]],
    *[(StudentT(None, 3.0), prior, kind) for kind in NUMERIC for prior in NORMAL[1:]],
    *[(StudentT(how, 3.0), NORMAL[1], Kind.NUMBERS) for how in ("log", "rank")],
    *[
        (family, prior, Kind.NUMBERS)
        for family in (Histogram(), Histogram(bins=3), Histogram(cut="mdl"))
        for prior in SMOOTHING
    ],
    *[(KernelDensity(h), prior, Kind.NUMBERS) for h in (None, 0.7) for prior in SMOOTHING],
    *[
        (MultivariateGaussian(shrinkage, shared), None, Kind.SCATTER)
        for shrinkage in ("auto", 0.3)
        for shared in (False, True)
    ],
    *[(Joint(), prior, Kind.JOINT) for prior in SMOOTHING],
    *[(family, prior, Kind.PAIRS) for family in (Conditional(), Aode()) for prior in SMOOTHING],
    *[
        pytest.param(Aode(least=2.5), prior, Kind.PAIRS, marks=pytest.mark.long)
        for prior in SMOOTHING
    ],
]


def test_every_family_is_held_to_refitting():
    elsewhere = {"Words", "TellingWords"}  # test_loo_words.py, test_telling_words.py
    assert {*class_names()} - elsewhere <= {type(case[0]).__name__ for case in CASES}


def name(case):
    return case if isinstance(case, str) else repr(case)


WEIGHTS = st.sampled_from(["none", "fractions", "repetitions", "zeros"])


@pytest.mark.parametrize(("family", "prior", "kind"), CASES, ids=name)
@exhaustive
@given(seed=st.integers(0, 10**6), n=st.integers(2, 25), n_seen=st.integers(1, K), kind_of=WEIGHTS)
def test_leaving_out_equals_refitting(family, prior, kind, seed, n, n_seen, kind_of):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_seen, n).astype(np.int32)
    column, kind = made(family, kind, n, y, rng)
    width = column_count(column)
    block = Block("x", tuple(f"c{i}" for i in range(width)), kind)
    choices = {
        "none": None,
        "fractions": rng.choice([0.25, 0.5, 1.0, 2.0, 3.5], n),
        "repetitions": rng.choice([1.0, 2.0, 3.0], n),
        "zeros": np.append(rng.choice([0.0, 1.0, 2.0], n - 1), 1.0),
    }
    weight = choices[kind_of]
    given = np.ones(n) if weight is None else weight

    def count(weights):
        some = weights > 0
        return table_type(kind).count(block, column.take(some), y[some], weights[some], K)

    table = count(given)
    scores = log_likelihood_loo(family, column, y, weight, table, prior)
    expected = np.empty((n, K))
    for i in range(n):
        rest = given.copy()
        rest[i] = 0.0
        parameters = family.parameters(count(rest), prior)
        expected[i] = family.log_likelihood(column.take(slice(i, i + 1)), parameters)[0]
    assert_same(scores, expected)
    assert_same(term_scores_loo(block, family, prior, table, column, y, weight), expected)


def column_count(column):
    if isinstance(column, Labels):
        return 1
    if isinstance(column, Combined):
        return len(column.parts)
    return (column.matrix if isinstance(column, Counts) else column.values).shape[1]


def made(family, kind, n, y, rng):
    """Return a column that the family can model, now with gaps, now with values seen once."""
    gaps = rng.choice([0.0, 0.2])
    if kind in (Kind.COUNTS, "sparse", "threshold"):
        X = (rng.random((n, 4)) < 0.5) * rng.integers(1, 4, (n, 4)).astype(float)
        column = Counts(X, 1.5) if kind == "threshold" else Counts.of(X)
        return (Counts.of(sparse.csr_array(X)) if kind == "sparse" else column), Kind.COUNTS
    if kind is Kind.JOINT:
        codes = rng.integers(-1 if gaps else 0, 4, (2, n)).astype(np.int32)
        codes[1] += (rng.random(n) < 0.2) & (codes[1] >= 0)
        return Combined(tuple(Labels(c, LABELS) for c in codes)), kind
    if kind is Kind.PAIRS:
        width = 4 if isinstance(family, Aode) else 2
        codes = rng.integers(-1 if gaps else 0, 3, (width, n)).astype(np.int32)
        codes += (rng.random(codes.shape) < 0.1) & (codes >= 0)  # values that a single row may have
        return Pairs(tuple(Labels(c, LABELS) for c in codes), width == 2), kind
    if kind is Kind.LABELS:
        values = (False, True) if isinstance(family, Bernoulli) else LABELS
        codes = rng.integers(-1 if gaps else 0, len(values), n).astype(np.int32)
        return Labels(codes, values), kind
    width = {Kind.NUMBERS: 1, Kind.MOMENTS: 2, Kind.SCATTER: 4}[kind]
    X = numbers(family, (n, width), rng)
    if not isinstance(family, Binomial | Poisson):
        X += (y * rng.choice([0.0, 3.0]))[:, None]
    return Numbers(np.where(rng.random(X.shape) < gaps, np.nan, X)), kind


def numbers(family, shape, rng):
    if isinstance(family, Binomial | Poisson):
        return rng.integers(0, 7, shape).astype(float)
    shapes = [
        rng.normal(size=shape),
        rng.integers(-3, 4, shape).astype(float),
        rng.exponential(size=shape) * 1e-3,
        np.where(rng.random(shape) < 0.6, 0.0, rng.exponential(size=shape)),
        2000 + rng.integers(0, 30, shape) / 4,
    ]
    return shapes[rng.integers(len(shapes))]


class PlainCategorical(Categorical):
    """A family with no closed form of its own."""

    loo_adder = brute_force_loo


class PlainStudentT(StudentT):
    loo_adder = brute_force_loo


@pytest.mark.parametrize("weighted", [False, True])
def test_a_family_without_a_closed_form_is_read_again(weighted):
    rng = np.random.default_rng(3)
    y = rng.integers(0, K, 60).astype(np.int32)
    weight = rng.choice([0.5, 1.0, 2.5], 60) if weighted else None
    labels = Labels(rng.integers(-1, 5, 60).astype(np.int32), LABELS)
    x = Numbers(np.where(rng.random((60, 1)) < 0.2, np.nan, rng.normal(size=(60, 1))))
    for plain, family, kind, column in (
        (PlainCategorical(), Categorical(), Kind.LABELS, labels),
        (PlainStudentT(), StudentT(), Kind.NUMBERS, x),
        (PlainStudentT(), StudentT(), Kind.MOMENTS, Numbers(np.tile(x.values, 2))),
    ):
        prior = Laplace(1.0) if kind is Kind.LABELS else NormalInverseGamma()
        block = Block("x", ("x",) * column_count(column), kind)
        table = table_type(kind).count(block, column, y, weight, K)
        assert_same(
            log_likelihood_loo(plain, column, y, weight, table, prior),
            log_likelihood_loo(family, column, y, weight, table, prior),
        )


@pytest.mark.parametrize("scale", [1.0, 1e5])  # with 1e5 the smoothing swamps the first column
@pytest.mark.parametrize("smoothing", [0.0, 1e-9])
def test_many_gaussian_rows(smoothing, scale):
    rng = np.random.default_rng(8)
    n = 4000
    y = rng.integers(0, K, n).astype(np.int32)
    X = rng.normal(size=(n, 4)) * [1.0, scale, 1.0, 1e-3] + y[:, None]
    X[:, 2] = np.where(y == 1, 7.0, X[:, 2])  # constant in one class
    X[5, 0] = 1e4  # an outlier, without which little is left of its column's variance
    X[rng.random(X.shape) < 0.01] = np.nan
    block, family = Block("x", tuple("abcd"), Kind.MOMENTS), Gaussian(var_smoothing=smoothing)
    table = table_type(Kind.MOMENTS).count(block, Numbers(X), y, None, K)
    scores = term_scores_loo(block, family, None, table, Numbers(X), y)
    with at_most(1):
        single = term_scores_loo(block, family, None, table, Numbers(X), y)
    np.testing.assert_array_equal(scores, single)
    for i in [*range(30), *rng.integers(0, n, 30)]:
        others = np.arange(n) != i
        rest = table_type(Kind.MOMENTS).count(block, Numbers(X[others]), y[others], None, K)
        parameters = family.parameters(rest, None)
        assert_same(scores[i], family.log_likelihood(Numbers(X[i : i + 1]), parameters)[0])


@pytest.mark.parametrize(
    "family", [Histogram(), Histogram(cut="mdl"), StudentT("log"), StudentT("rank")]
)
def test_cells_of_several_numbers_keep_their_level(family):
    rng = np.random.default_rng(2)
    n = 3000
    y = rng.integers(0, 2, n).astype(np.int32)
    x, block = rng.gamma(2.0, size=(n, 1)) + y[:, None], Block("x", ("x",), Kind.NUMBERS)
    table = table_type(Kind.NUMBERS).count(block, Numbers(x), y, None, 2)
    assert table.cells.level > 0
    prior = family.default_prior
    rows = np.append(np.argsort(x[:, 0])[[0, 1, -2, -1]], rng.integers(0, n, 20))
    scores = log_likelihood_loo(family, Numbers(x[rows]), y[rows], None, table, prior)
    for i, score in zip(rows, scores, strict=True):
        one = table_type(Kind.NUMBERS).count(block, Numbers(x[[i]]), y[[i]], None, 2)
        parameters = family.parameters(table - one, prior)
        assert_same(score, family.log_likelihood(Numbers(x[[i]]), parameters)[0])


def test_forgetting_all_that_varied_leaves_a_constant():
    block, y = Block("x", ("x",), Kind.MOMENTS), np.zeros(4, dtype=np.int32)
    column = Numbers(np.array([[3.7], [3.7], [3.7], [1234.567]]))
    table = table_type(Kind.MOMENTS).count(block, column, y, None, 1)
    rest = table - table_type(Kind.MOMENTS).count(block, column.take([3]), y[:1], None, 1)
    anew = table_type(Kind.MOMENTS).count(block, column.take([0, 1, 2]), y[:3], None, 1)
    for family, prior in ((Gaussian(), None), (StudentT(), NormalInverseGamma())):
        found, expected = family.parameters(rest, prior), family.parameters(anew, prior)
        scores = [family.log_likelihood(column, p) for p in (found, expected)]
        np.testing.assert_allclose(*scores, rtol=1e-12)


# A whole model


def refitted(statistics, choices, frame, y, weight, class_prior, rows):
    """Return the scores of rows under models that are learned again without each."""
    given = np.ones(len(frame)) if weight is None else weight
    scores = []
    for i in rows:
        rest = given.copy()
        rest[i] = 0.0
        again = Statistics.count(frame, y, statistics.schema, rest)
        model = Model.read(again.with_classes(statistics.classes), choices, class_prior)
        scores.append(model.log_joint(frame.take(slice(i, i + 1)))[0])
    return np.array(scores)


def table_of(seed, n=40):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "colour": rng.choice(["red", "green", "blue", f"rare {seed}", None], n),
            "size": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
            "truth": rng.random(n) < 0.5,
            "count": rng.integers(0, 5, n).astype(float),
        }
    )
    y = np.append(rng.choice(["no", "yes"], n - 1), "once")  # a class with a single row
    return X, y, rng


def learned(X, y, setting, weight=None):
    schema = infer(X, declared_kinds(setting, open_table(X)))
    frame, labels = read(X, schema), read_labels(y)
    statistics = Statistics.count(frame, labels, schema, weight)
    return statistics, choices_for(setting, statistics), frame, labels


@pytest.mark.parametrize("missing", ["skip", "category"])
@pytest.mark.parametrize("unseen", ["skip", "smooth"])
@pytest.mark.parametrize("smoothing", [0.0, 1.0, "auto"])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_model_without_each_row(missing, unseen, smoothing, weighted):
    X, y, rng = table_of(1)
    weight = rng.choice([0.0, 0.5, 1.0, 2.0], len(y)) if weighted else None
    setting = Settings.textbook(smoothing=smoothing, missing=missing, unseen=unseen)
    statistics, choices, frame, labels = learned(X, y, setting, weight)
    scores = log_joint_loo(statistics, choices, frame, labels, weight)
    expected = refitted(statistics, choices, frame, labels, weight, None, range(len(y)))
    assert_same(scores, expected)


@pytest.mark.parametrize("class_prior", ["uniform", {"no": 0.2, "yes": 0.5, "once": 0.3}, None])
def test_class_priors(class_prior):
    X, y, rng = table_of(2)
    for weight in (None, rng.choice([0.5, 1.0, 2.0], len(y))):
        learned_with = learned(X, y, Settings.textbook(), weight)
        statistics, choices, frame, labels = learned_with
        scores = log_joint_loo(*learned_with, weight, class_prior)
        expected = refitted(statistics, choices, frame, labels, weight, class_prior, range(len(y)))
        assert_same(scores, expected)
        once = statistics.classes.index("once")
        assert np.isneginf(scores[-1, once]) == (not isinstance(class_prior, dict))


def test_the_prior_by_words():
    rng = np.random.default_rng(4)
    X = rng.integers(0, 4, (30, 5)).astype(float)
    y = rng.choice(["a", "b", "c"], 30)
    for weight in (None, rng.choice([0.5, 1.0, 2.0], 30)):
        statistics, choices, frame, labels = learned(
            X, y, Settings.textbook(families="multinomial"), weight
        )
        scores = log_joint_loo(statistics, choices, frame, labels, weight, "words")
        expected = refitted(statistics, choices, frame, labels, weight, "words", range(30))
        assert_same(scores, expected)


def test_a_part_of_the_rows_may_be_asked_for():
    X, y, _ = table_of(4)
    statistics, choices, frame, labels = learned(X, y, Settings.textbook())
    every = log_joint_loo(statistics, choices, frame, labels)
    some = np.arange(0, len(y), 3)
    part = log_joint_loo(statistics, choices, frame.take(some), labels.take(some))
    np.testing.assert_array_equal(part, every[some])


def test_a_value_of_one_row_is_refused_with_it():
    X = {"x": ["a", "a", "b", "b", "once"]}
    setting = Settings.textbook(unseen="error")
    learned_from = learned(X, [0, 1, 0, 1, 1], setting)
    with pytest.raises(UnseenValueError, match="Column 'x': value 'once' was learned in a single"):
        log_joint_loo(*learned_from)
    statistics, choices, frame, labels = learned_from
    four = slice(0, 4)
    log_joint_loo(statistics, choices, frame.take(four), labels.take(four))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_folds", [2, 10])
def test_folds_equal_refitting(n_folds, weighted):
    X, y, rng = table_of(5, 90)
    weight = rng.choice([0.0, 0.5, 1.0, 2.0], len(y)) if weighted else None
    families = {"colour": "categorical", "size": "student-t", "count": "histogram-mdl"}
    setting = Settings.textbook(families, missing="category")
    statistics, choices, frame, labels = learned(X, y, setting, weight)
    folds = rng.permutation(np.arange(len(y)) % n_folds)
    scores = log_joint_folds(statistics, choices, frame, labels, folds, weight)
    assert_same(scores, refitted_folds(statistics, choices, frame, labels, folds, weight))


def refitted_folds(statistics, choices, frame, y, folds, weight=None):
    scores = np.empty((len(frame), len(statistics.classes)))
    for fold in np.unique(folds):
        rest, here = folds != fold, folds == fold
        weights = None if weight is None else weight[rest]
        again = Statistics.count(frame.take(rest), y.take(rest), statistics.schema, weights)
        model = Model.read(again.with_classes(statistics.classes), choices)
        scores[here] = model.log_joint(frame.take(here))
    return scores


def test_threads_do_not_change_the_scores():
    rng = np.random.default_rng(6)
    n = 20_000
    X = {f"n{j}": rng.normal(size=n) for j in range(5)}
    X |= {f"c{j}": rng.choice(["a", "b", "c"], n) for j in range(4)}
    learned_from = learned(X, rng.integers(0, 5, n), Settings.textbook())
    with at_most(1):
        one = log_joint_loo(*learned_from)
    with at_most(3):
        np.testing.assert_array_equal(log_joint_loo(*learned_from), one)


def test_rows_that_were_not_learned_are_refused():
    X = {"x": ["a", "a", "b", "b"], "z": [1.0, 2.0, 3.0, 4.0]}
    setting = Settings.textbook(families={"z": "histogram"})
    statistics, choices, frame, labels = learned(X, [0, 0, 1, 1], setting)
    with pytest.raises(ForgetError, match="Class 2 was never learned"):
        log_joint_loo(statistics, choices, frame, read_labels([0, 0, 1, 2]))
    with pytest.raises(ForgetError, match="Row 2 was not learned with class 0"):
        log_joint_loo(statistics, choices, frame, read_labels([0, 0, 0, 1]))
    with pytest.raises(InputError, match="y has 3 rows, the data have 4"):
        log_joint_loo(statistics, choices, frame, read_labels([0, 0, 1]))
    other = Frame(4, {**frame.columns, "z": Numbers(np.array([[1.0], [2.0], [9.0], [4.0]]))})
    with pytest.raises(ForgetError, match="Row 2 was not learned"):
        log_joint_loo(statistics, choices, other, labels)
    block, family = statistics.schema["z"], Histogram()
    with pytest.raises(ForgetError, match="Row 2 was not learned in column 'z'"):
        term_scores_loo(
            block, family, Laplace(1.0), statistics.tables["z"], other["z"], labels.codes
        )


def test_something_must_be_left():
    statistics, choices, frame, labels = learned({"x": ["a"]}, [0], Settings.textbook())
    with pytest.raises(InputError, match="One row was learned in all"):
        log_joint_loo(statistics, choices, frame, labels)
    statistics, choices, frame, labels = learned({"x": ["a", "b"]}, [0, 1], Settings.textbook())
    with pytest.raises(InputError, match="Fold 1 holds every row"):
        log_joint_folds(statistics, choices, frame, labels, np.ones(2, dtype=int))
    with pytest.raises(InputError, match=r"folds must have one number a row: it has shape \(3,\)"):
        log_joint_folds(statistics, choices, frame, labels, np.ones(3))


# Real tables


REAL = ["heart_c", "hepatitis", "horse_colic", "titanic", "autos", "credit_g"]
OF_NUMBERS = [
    "gaussian",
    "gaussian-shared",
    "student-t",
    "log-normal",
    "rank-normal",
    "histogram",
    "histogram-mdl",
    "kernel-density",
]


@pytest.fixture(params=REAL)
def real(request):
    path = DATA / f"{request.param}.csv"
    if not path.exists():
        pytest.skip(f"{path.name} is not there")
    table = pd.read_csv(path, keep_default_na=False, na_values=[""])
    return table.drop(columns="target"), table["target"].to_numpy()


@pytest.mark.parametrize("family", OF_NUMBERS)
@pytest.mark.parametrize("missing", ["skip", "category"])
def test_real_tables_without_each_row(real, family, missing):
    X, y = real
    numeric = [name for name in X if X[name].dtype.kind in "if"]
    setting = Settings.textbook(dict.fromkeys(numeric, family), smoothing="auto", missing=missing)
    statistics, choices, frame, labels = learned(X, y, setting)
    scores = log_joint_loo(statistics, choices, frame, labels)
    rows = np.random.default_rng(7).integers(0, len(y), 8)
    assert_same(scores[rows], refitted(statistics, choices, frame, labels, None, None, rows))


def test_ten_folds_of_real_tables(real):
    X, y = real
    for setting in (
        Settings.textbook(),
        Settings.textbook(missing="category", smoothing="auto", unseen="smooth"),
    ):
        statistics, choices, frame, labels = learned(X, y, setting)
        folds = np.random.default_rng(8).permutation(np.arange(len(y)) % 10)
        scores = log_joint_folds(statistics, choices, frame, labels, folds)
        assert_same(scores, refitted_folds(statistics, choices, frame, labels, folds))
