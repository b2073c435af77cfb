"""Learning the tables of a belief network: priory, pgmpy and pyAgrum side by side.

    python -m benchmarks.networks [rows] [rounds]

A random network of 20 nodes (2 to 4 values, up to 3 parents) is drawn, rows are sampled from
it, and every library learns its tables from the same data frame. The libraries take turns; the
table shows the median of the rounds. A peer that is not installed is left out.
"""

from __future__ import annotations

import importlib.util
import sys
import time
import warnings
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
import pandas as pd

from priory import BeliefNetwork

NODES = 20


def random_network(seed: int = 0) -> BeliefNetwork:
    """Return a network of 20 nodes with random parents and tables."""
    rng = np.random.default_rng(seed)
    names = [f"x{i}" for i in range(NODES)]
    sizes = {name: int(rng.integers(2, 5)) for name in names}
    parents = {
        name: [names[j] for j in rng.choice(i, size=min(i, int(rng.integers(0, 4))), replace=False)]
        for i, name in enumerate(names)
    }
    tables = {
        name: rng.dirichlet(np.ones(sizes[name]), size=[sizes[p] for p in parents[name]])
        for name in names
    }
    return BeliefNetwork(parents, tables, nodes=names)


def main(rows: int = 1_000_000, rounds: int = 5) -> None:
    """Let each library learn in turn, and print the medians."""
    warnings.simplefilter("ignore")
    truth = random_network()
    drawn = pd.DataFrame(truth.sample(rows, random_state=1))
    frames = {
        "integers": drawn,
        "strings": drawn.map(lambda value: f"v{value}"),
        "categories": drawn.map(lambda value: f"v{value}").astype("category"),
    }
    for kind, frame in frames.items():
        works = contestants(truth, frame)
        seconds: dict[str, list[float]] = {name: [] for name in works}
        for _ in range(rounds):
            for name, work in works.items():
                start = time.perf_counter()
                work()
                seconds[name].append(time.perf_counter() - start)
        ours = median(seconds["priory"])
        print(f"\n{rows:,} rows × {NODES} nodes, {kind}")
        for name, times in seconds.items():
            print(f"  {name:8} {median(times) * 1e3:10.1f} ms   {median(times) / ours:7.1f} ×")


def contestants(truth: BeliefNetwork, frame: pd.DataFrame) -> dict[str, Callable[[], Any]]:
    """Return what each installed library does."""
    edges, nodes = list(truth.edges), list(truth.nodes)
    works: dict[str, Callable[[], Any]] = {
        "priory": lambda: BeliefNetwork(edges, nodes=nodes, smoothing=0).learn(frame)
    }
    if importlib.util.find_spec("pgmpy") is not None:
        works["pgmpy"] = lambda: with_pgmpy(edges, nodes, frame)
    if importlib.util.find_spec("pyagrum") is not None:
        works["pyAgrum"] = pyagrum_learner(edges, nodes, frame)
    return works


def with_pgmpy(edges: list[tuple[str, str]], nodes: list[str], frame: pd.DataFrame) -> Any:
    """Learn by maximum likelihood."""
    try:
        from pgmpy.models import DiscreteBayesianNetwork as Network
    except ImportError:
        from pgmpy.models import BayesianNetwork as Network
    model = Network(edges)
    model.add_nodes_from(nodes)
    return model.fit(frame)


def pyagrum_learner(
    edges: list[tuple[str, str]], nodes: list[str], frame: pd.DataFrame
) -> Callable[[], Any]:
    """Return a learner by maximum likelihood, its database read anew each time."""
    import pyagrum as gum

    def learn() -> Any:
        learner = gum.BNLearner(frame)
        dag = gum.DAG()
        ids = {name: learner.idFromName(name) for name in nodes}
        for i in range(len(nodes)):
            dag.addNodeWithId(i)
        for parent, child in edges:
            dag.addArc(ids[parent], ids[child])
        return learner.learnParameters(dag)

    return learn


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
