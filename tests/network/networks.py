"""Networks for the tests, and their distribution by plain enumeration."""

from itertools import product
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from priory import BeliefNetwork

EXAMPLES = Path(__file__).parents[2] / "examples"


def example(name):
    return BeliefNetwork.read_bif(EXAMPLES / f"{name}.bif")


@st.composite
def random_networks(draw, most=6, zeros=False):
    """Draw a small network with any graph, values and tables."""
    n = draw(st.integers(1, most))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    names = [f"n{i}" for i in range(n)]
    sizes = {name: int(rng.integers(1, 4)) for name in names}
    parents = {name: [p for p in names[:i] if rng.random() < 0.4] for i, name in enumerate(names)}
    order = [names[i] for i in rng.permutation(n)]  # nodes need not be named parents first
    tables = {}
    for name in names:
        table = rng.gamma(1.0, size=[*(sizes[p] for p in parents[name]), sizes[name]])
        if zeros:
            table[rng.random(table.shape) < 0.3] = 0.0
            table[..., 0] += 1e-3
        tables[name] = table / table.sum(axis=-1, keepdims=True)
    return BeliefNetwork({name: parents[name] for name in order}, tables, nodes=order)


def enumerate_joint(network):
    """Return {(value of each node): P} by multiplying the tables, cell by cell."""
    joint = {}
    for codes in product(*(range(len(network.values[name])) for name in network.nodes)):
        row = dict(zip(network.nodes, codes, strict=True))
        p = 1.0
        for name in network.nodes:
            p *= network.tables[name][(*(row[q] for q in network.parents(name)), row[name])]
        joint[tuple(network.values[n][row[n]] for n in network.nodes)] = p
    return joint


def probability(joint, nodes, test):
    """Return P(test), the sum over the cells where it holds."""
    return sum(p for cell, p in joint.items() if test(dict(zip(nodes, cell, strict=True))))
