"""The cheapest changes are those of trying everything."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from priory.explaining.search import Problem, by_knapsack, by_search, by_sorting, solve


def lead(margins):
    return (margins > 1e-9).all(axis=-1)


def probable(margins):
    return np.logaddexp.reduce(-margins, axis=-1) <= np.log(0.25)


def brute_force(problem):
    """Find the least cost of all combinations of changes."""
    best = np.inf
    for places in product(*(range(-1, len(gains)) for gains in problem.gains)):
        chosen = [(j, v) for j, v in enumerate(places) if v >= 0]
        if problem.goal(problem.total(chosen)[None])[0]:
            best = min(best, sum(problem.costs[j][v] for j, v in chosen))
    return best


def check(problem, found):
    best = brute_force(problem)
    assert found.is_proved
    if found.changes is None:
        assert best == np.inf
        return
    assert found.cost == pytest.approx(best)
    assert problem.goal(problem.total(found.changes)[None])[0]
    assert sum(problem.costs[j][v] for j, v in found.changes) == pytest.approx(found.cost)
    assert len({j for j, _ in found.changes}) == len(found.changes)


def random_problem(seed, n_columns, n_rivals, costs, share, goal):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 4, n_columns)
    gains = [rng.normal(0, 1, (v, n_rivals)) for v in sizes]
    if costs == "unit":
        paid = [np.ones(v) for v in sizes]
    elif costs == "whole":
        paid = [rng.integers(1, 6, v).astype(float) for v in sizes]
    else:
        paid = [rng.uniform(0.2, 3.0, v) for v in sizes]
    pairs = {
        (i, j): rng.normal(0, 0.7, (sizes[i], sizes[j], n_rivals))
        for i in range(n_columns)
        for j in range(i + 1, n_columns)
        if rng.random() < share and sizes[i] and sizes[j]
    }
    margins = -np.abs(rng.normal(0, 2, n_rivals))
    return Problem(margins, goal, gains, paid, pairs)


@settings(max_examples=250, deadline=None)
@given(
    seed=st.integers(0, 10**9),
    n_columns=st.integers(0, 6),
    n_rivals=st.integers(1, 4),
    costs=st.sampled_from(["unit", "whole", "any"]),
    share=st.sampled_from([0.0, 0.4, 1.0]),
    goal=st.sampled_from([lead, probable]),
)
def test_nothing_is_cheaper(seed, n_columns, n_rivals, costs, share, goal):
    problem = random_problem(seed, n_columns, n_rivals, costs, share, goal)
    check(problem, solve(problem, 60.0))
    check(problem, by_search(problem, 60.0))


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 10**9), n_columns=st.integers(0, 6))
def test_two_classes_need_no_search(seed, n_columns):
    unit = random_problem(seed, n_columns, 1, "unit", 0.0, lead)
    check(unit, by_sorting(unit))
    whole = random_problem(seed, n_columns, 1, "whole", 0.0, lead)
    check(whole, by_knapsack(whole))
    for problem in (unit, whole):
        assert solve(problem, 1.0).how in ("knapsack", "sorted gains")


def test_what_time_does_not_suffice_for_is_not_proved():
    rng = np.random.default_rng(0)
    gains = [rng.normal(0.1, 0.02, (20, 3)) for _ in range(40)]
    pairs = {(i, i + 1): rng.normal(0, 0.05, (20, 20, 3)) for i in range(39)}
    costs = [rng.uniform(0.9, 1.1, 20) for _ in range(40)]
    problem = Problem(np.array([-2.5, -2.4, -2.6]), lead, gains, costs, pairs)
    found = by_search(problem, 0.05)
    assert found.changes is not None
    assert not found.is_proved
    assert problem.goal(problem.total(found.changes)[None])[0]


def test_greedy_is_not_enough():
    """The value with the largest gain for its cost is not in the cheapest set."""
    gains = [np.array([[3.0]]), np.array([[2.0]]), np.array([[2.0]])]
    costs = [np.array([2.0]), np.array([1.5]), np.array([1.5])]
    problem = Problem(np.array([-3.9]), lead, gains, costs, {})
    assert solve(problem, 1.0).cost == 3.0
