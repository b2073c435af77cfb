"""Tables of probabilities: the laws of probability, independence, information."""

import tracemalloc
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency, entropy

from priory.base import errors
from priory.families.priors import Dirichlet, Laplace, MEstimate, NormalInverseGamma
from priory.network import JointTable

VALUES = {"a": (False, True), "b": ("x", "y", "z"), "c": (0, 1, 2, 5)}


@st.composite
def tables(draw):
    weights = draw(st.lists(st.integers(0, 9), min_size=24, max_size=24).filter(any))
    p = np.array(weights, dtype=float).reshape(2, 3, 4)
    return JointTable(p / p.sum(), variables=list(VALUES), values=VALUES)


events = st.recursive(
    st.sampled_from(["a", "b == x", "b in (y, z)", "c > 1", "0 < c <= 2", "c != 5"]),
    lambda inner: (
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(
            lambda t: f"({t[0]}) {t[1]} ({t[2]})"
        )
        | inner.map(lambda t: f"not ({t})")
    ),
    max_leaves=5,
)


@given(table=tables(), e=events, f=events)
def test_the_laws_of_probability(table, e, f):
    p = table.p
    assert 0 <= p(e) <= 1 + 1e-12
    assert p(e) + p(f"not ({e})") == pytest.approx(1)
    assert p(f"({e}) or ({f})") == pytest.approx(p(e) + p(f) - p(f"({e}) and ({f})"))
    assert p("True") == pytest.approx(1)
    assert p("False") == 0
    if p(e) > 0 and p(f) > 0:
        assert p(e, given=f) == pytest.approx(p(f, given=e) * p(e) / p(f))
        assert table.condition(f).p(e) == pytest.approx(p(e, given=f))
        assert p(e, given=f) + p(f"not ({e})", given=f) == pytest.approx(1)
    if p(f) == 0:
        with pytest.raises(errors.ZeroProbabilityError, match="has probability 0"):
            p(e, given=f)


@given(table=tables())
def test_marginals_add_up(table):
    dense = table.to_array()
    assert np.allclose(table.marginal(["c", "a"]).to_array(), dense.sum(axis=1).T)
    assert np.allclose(table.marginal("b").to_array(), dense.sum(axis=(0, 2)))
    for value, p in table.marginal("b").to_dict().items():
        assert p == pytest.approx(table.p({"b": value}))


@given(table=tables())
def test_entropy_and_information_agree_with_scipy(table):
    dense = table.to_array()
    assert table.entropy() == pytest.approx(entropy(dense.ravel(), base=2))
    assert table.entropy("b") == pytest.approx(entropy(dense.sum(axis=(0, 2)), base=2))
    assert table.entropy() == pytest.approx(
        table.entropy("a") + table.entropy(["b", "c"], given="a")
    )
    information = table.mutual_information("a", "c")
    assert information == pytest.approx(table.entropy("a") - table.entropy("a", given="c"))
    assert information == pytest.approx(table.mutual_information("c", "a"))
    # Two events are told apart by whether they happen.
    assert table.mutual_information("a", "not a") == pytest.approx(table.entropy("a"))
    if table.p("c > 1"):
        known = table.condition("c > 1")
        assert table.entropy("b", given="c > 1") == pytest.approx(known.entropy("b"))


@given(
    table=tables(),
    one=st.sampled_from(["a", "b", "c > 1"]),
    two=st.sampled_from(["c", "a or c > 1"]),
)
def test_exact_independence_is_no_information(table, one, two):
    found = table.independent(one, two)
    assert found.method == "exact"
    assert bool(found) == (table.mutual_information(one, two) < 1e-12)


def test_two_readings_of_independence_in_the_lecture():
    """P(y) = .5; P(x1 | 0) = .9, P(x1 | 1) = .2, P(x2 | 0) = .8, P(x2 | 1) = .05."""
    of_x1, of_x2 = (0.9, 0.2), (0.8, 0.05)
    cells = {
        (x1, x2, y): 0.5 * (of_x1[y] if x1 else 1 - of_x1[y]) * (of_x2[y] if x2 else 1 - of_x2[y])
        for x1, x2, y in product((0, 1), repeat=3)
    }
    table = JointTable(cells, variables=["x1", "x2", "y"])
    assert table.p("x1 and x2") == pytest.approx(0.365, abs=1e-15)
    assert table.p("x1") * table.p("x2") == pytest.approx(0.23375, abs=1e-15)
    assert not table.independent("x1", "x2")
    assert table.independent("x1", "x2", given="y")
    assert table.independent("x1", "x2", given="y == 1")
    assert table.independent("x1", "x2", given={"y": 0})
    assert table.independent("x1 and x1", "not x2", given="y")
    assert not table.independent(["x1", "x2"], "y")


def test_three_ways_to_give_probabilities():
    cells = {("s", 0): 0.1, ("s", 1): 0.2, ("t", 0): 0.3, ("t", 1): 0.4}
    nested = {"s": {0: 0.1, 1: 0.2}, "t": {0: 0.3, 1: 0.4}}
    array = [[0.1, 0.2], [0.3, 0.4]]
    names = ["u", "v"]
    made = [
        JointTable(cells, names),
        JointTable(nested, names),
        JointTable(array, names, values={"u": ["s", "t"]}),
    ]
    for table in made:
        assert table.to_dict() == pytest.approx(cells)
        assert table.p("u == t and v") == pytest.approx(0.4)
    assert JointTable({True: 0.25, False: 0.75}, ["w"]).p("w") == 0.25
    assert repr(made[0]) == "u  v  P\ns  0  0.1\ns  1  0.2\nt  0  0.3\nt  1  0.4"
    assert made[0].n is None
    assert len(made[0]) == 4


def test_labels_of_different_types_are_different_values():
    assert JointTable({1: 0.5, "1": 0.5}, ["x"]).values["x"] == (1, "1")
    nested = JointTable({"a": {1: 0.5}, "b": {True: 0.5}}, ["x", "y"])
    assert nested.values["y"] == (True, 1)
    assert nested.p({"y": 1}) == 0.5


@pytest.mark.parametrize(
    ("given", "variables", "values", "message"),
    [
        ({("a", 1): 0.5, ("a",): 0.5}, ["x", "y"], None, "some have 1, some 2"),
        ({"a": 1.0}, None, None, "variables must name the 1 variables"),
        ({"a": 1.0}, ["x", "y"], None, r"variables must be 1 names, not 'x', 'y'"),
        ({"a": 0.5, "b": 0.6}, ["x"], None, r"must add up to 1, but add up to 1\.1"),
        ({"a": -0.5, "b": 1.5}, ["x"], None, r"of at least 0; one is -0\.5"),
        ({"a": float("nan"), "b": 1.0}, ["x"], None, "one is nan"),
        ({"a": "much"}, ["x"], None, "must hold numbers"),
        ({"a": 1.0}, ["x"], {"x": ["b"]}, "not among its declared values"),
        ({"a": 1.0}, ["x"], {"z": ["b"]}, "'z', which is not a variable"),
        ({}, ["x"], None, "there are no cells"),
        ({None: 1.0}, ["x"], None, "values must be booleans, numbers or strings"),
        ([[0.5, 0.5]], ["x"], None, "variables must be 2 names"),
        ([[0.5, 0.5]], ["x", "x"], None, "twice"),
        ([[0.5, 0.5]], ["x", "y"], {"y": "ab"}, "must be a sequence of values"),
        ([[0.5, 0.5]], ["x", "y"], {"y": [1, 1]}, "holds a value twice"),
        ([[0.5, 0.5]], ["x", "y"], {"y": [1, 2, 3]}, "3 values, but its axis is 2 long"),
        ([[0.5, 0.5]], None, None, "must name the 2 axes"),
        (1.0, ["x"], None, "an axis for each variable"),
        ({"a": {1: 0.5}, ("a", 1): 0.5}, ["x", "y"], None, "is given twice"),
    ],
)
def test_wrong_probabilities_are_refused(given, variables, values, message):
    with pytest.raises((errors.InputError, errors.SettingError), match=message):
        JointTable(given, variables, values)


COLUMNS = {
    "sky": ["grey", "blue", "grey", None, "grey", "blue"],
    "rain": [True, False, True, True, False, None],
    "hour": [1, 2, 1, 1, 7, 2],
}


@pytest.mark.parametrize(
    "make",
    [
        dict,
        pd.DataFrame,
        pl.DataFrame,
        pa.table,
        lambda c: pd.DataFrame(c).astype({"sky": "category"}),
        lambda c: [dict(zip(c, row, strict=True)) for row in zip(*c.values(), strict=True)],
    ],
)
def test_any_table_gives_the_same_counts(make):
    table = JointTable.from_data(make(COLUMNS))
    assert table.to_dict() == {
        ("blue", False, 2): 0.25,
        ("grey", False, 7): 0.25,
        ("grey", True, 1): 0.5,
    }
    assert table.n == 4
    assert table.p("rain", given="sky == grey") == pytest.approx(2 / 3)
    assert "rows" in repr(table)


@pytest.mark.parametrize(
    ("smoothing", "expected"),
    [
        (0, [2 / 3, 0, 1 / 3, 0]),
        (1, [3 / 7, 1 / 7, 2 / 7, 1 / 7]),
        (Laplace(0.5), [2.5 / 5, 0.5 / 5, 1.5 / 5, 0.5 / 5]),
        (MEstimate(4), [3 / 7, 1 / 7, 2 / 7, 1 / 7]),
        (MEstimate(7, "marginal"), [5 / 10, 1 / 10, 3 / 10, 1 / 10]),
        (
            Dirichlet({("x", False): 1, ("x", True): 2, ("y", False): 3, ("y", True): 1}),
            [3 / 10, 2 / 10, 4 / 10, 1 / 10],
        ),
    ],
)
def test_any_discrete_prior(smoothing, expected):
    data = {"u": ["x", "x", "y"], "v": [False, False, False]}
    table = JointTable.from_data(data, smoothing=smoothing)
    assert table.to_array().ravel() == pytest.approx(np.array(expected))


def test_weights_count_as_rows_and_values_can_be_declared():
    data = {"u": ["x", "x", "y"]}
    table = JointTable.from_data(data, sample_weight=[1, 2, 0], values={"u": ["z"]}, smoothing=1)
    assert table.to_dict() == pytest.approx({"x": 4 / 6, "y": 1 / 6, "z": 1 / 6})


def test_many_columns_need_only_the_rows_that_came():
    rng = np.random.default_rng(0)
    data = {f"x{j}": rng.integers(0, 50, 500) for j in range(40)}
    table = JointTable.from_data(data)
    assert len(table) == 500
    low = np.mean((data["x3"] < 10) | (data["x39"] == 7))
    assert table.p("x3 < 10 or x39 == 7") == pytest.approx(low)
    with pytest.raises(errors.TooLargeError, match=r"would be .* cells; .*'x0' has 50"):
        JointTable.from_data(data, smoothing=1)
    with pytest.raises(errors.TooLargeError, match="An array of all the cells"):
        table.to_array()


def test_wrong_data_are_refused():
    with pytest.raises(errors.InputError, match=r"Column 'skyy' was not found.*Did you mean 'sky'"):
        JointTable.from_data(COLUMNS, variables=["skyy"])
    with pytest.raises(errors.InputError, match="no rows without missing values"):
        JointTable.from_data({"x": [None, None]})
    with pytest.raises(errors.SettingError, match="a prior over values"):
        JointTable.from_data(COLUMNS, smoothing=NormalInverseGamma())
    with pytest.raises(errors.InputError, match="infinity is no label"):
        JointTable.from_data({"x": [1.0, np.inf]})


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(2, 3), st.integers(2, 4))
def test_the_g_test_agrees_with_scipy(seed, rows, columns):
    rng = np.random.default_rng(seed)
    u, v = rng.integers(0, rows, 200), rng.integers(0, columns, 200)
    w = rng.integers(0, 2, 200)
    table = JointTable.from_data({"u": u, "v": v, "w": w})
    counted = pd.crosstab(u, v)
    expected = chi2_contingency(counted, correction=False, lambda_="log-likelihood")
    found = table.independent("u", "v")
    assert found.method == "g-test"
    assert found.statistic == pytest.approx(expected.statistic, abs=1e-9)
    assert found.degrees == expected.dof
    assert found.p_value == pytest.approx(expected.pvalue, abs=1e-12)
    assert bool(found) == (expected.pvalue >= 0.05)
    strata = [pd.crosstab(u[w == k], v[w == k]) for k in (0, 1)]
    parts = [chi2_contingency(s, correction=False, lambda_="log-likelihood") for s in strata]
    found = table.independent("u", "v", given="w")
    assert found.statistic == pytest.approx(sum(part.statistic for part in parts), abs=1e-9)
    assert found.degrees == sum(part.dof for part in parts)
    found = table.independent("u", "v", given="w == 1")
    assert found.p_value == pytest.approx(parts[1].pvalue, abs=1e-12)


def test_the_test_finds_what_is_there():
    rng = np.random.default_rng(1)
    a, noise = rng.integers(0, 2, 5000), rng.random(5000)
    data = {"a": a, "b": (noise < 0.4 + 0.2 * a), "c": rng.integers(0, 3, 5000)}
    table = JointTable.from_data(data)
    assert not table.independent("a", "b")
    assert table.independent("a", "c")
    assert not table.independent("a and c == 1", "b")
    assert not table.independent("a", "c", method="exact", tolerance=1e-6)
    assert "dependent (G = " in str(table.independent("a", "b"))
    assert str(table.independent("a", "c", method="exact")).startswith("dependent (largest gap")


def test_independence_is_asked_clearly():
    table = JointTable([[0.25, 0.25], [0.25, 0.25]], ["a", "b"])
    with pytest.raises(errors.SettingError, match="method must be"):
        table.independent("a", "b", method="chi")
    with pytest.raises(errors.SettingError, match=r"method=.g-test. needs rows that were counted"):
        table.independent("a", "b", method="g-test")
    with pytest.raises(errors.ExpressionError, match="There is no variable 'c'"):
        table.independent("a", ["b", "c"])
    with pytest.raises(errors.ExpressionError, match="An event is"):
        table.independent("a", 3)
    with pytest.raises(errors.ZeroProbabilityError):
        table.independent("a", "b", given="a and not a")


def test_four_million_cells():
    """They are not listed, which would take 700 MB."""
    p = np.random.default_rng(0).random([2] * 22)
    names = [f"v{i}" for i in range(22)]
    p /= p.sum()
    tracemalloc.start()
    try:
        table = JointTable(p, names)
        assert table.p("v0 and not v21") == pytest.approx(0.25, abs=0.01)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 8 * p.nbytes


def test_too_many_combinations_are_refused():
    data = {"u": np.arange(8000).astype(str), "v": np.arange(8000).astype(str)}
    table = JointTable.from_data(data)
    with pytest.raises(errors.TooLargeError, match="64,000,000 combinations"):
        table.independent("u", "v")


def test_conditioning():
    table = JointTable.from_data(COLUMNS)
    wet = table.condition("rain")
    assert wet.variables == table.variables
    assert wet.p("hour == 1") == 1
    assert wet.n == 2
    assert table.condition({"sky": "grey"}).p("rain") == pytest.approx(2 / 3)
    with pytest.raises(errors.ZeroProbabilityError, match="a smoothing above 0"):
        table.condition("rain and hour == 7")


def test_samples_follow_the_table():
    table = JointTable(
        {("s", 0): 0.1, ("s", 1): 0.2, ("t", 0): 0.0, ("t", 1): 0.7}, variables=["u", "v"]
    )
    drawn = table.sample(20_000, random_state=0)
    again = JointTable.from_data(drawn)
    assert again.to_dict().keys() == {("s", 0), ("s", 1), ("t", 1)}
    for cell, p in again.to_dict().items():
        assert p == pytest.approx(table.to_dict()[cell], abs=0.02)
    assert set(table.sample(50, given="u == s", random_state=1)["u"]) == {"s"}
    assert table.sample(0)["u"].tolist() == []
    with pytest.raises(errors.SettingError, match=r"n must be an integer.*-1"):
        table.sample(-1)
