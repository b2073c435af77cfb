"""Learning the tables of a belief network: priory, pgmpy and pyAgrum side by side.

A random network of 20 nodes (2 to 4 values, up to 3 parents) is drawn, rows are sampled from
it, and every library learns its tables from the same data frame. The libraries take turns; the
page shows the medians of the rounds. A peer that is not installed is left out.
"""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.measure import Measured, Options, in_turn
from benchmarks.report import markdown, quantity
from priory import BeliefNetwork

__all__ = ["measure", "section"]

NODES, ROWS, ROUNDS = 20, 1_000_000, 5


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


def frames_of(drawn: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the same rows as whole numbers, as strings and as categories."""
    names = np.array(
        [f"v{value}" for value in range(int(drawn.to_numpy().max()) + 1)], dtype=object
    )
    strings = drawn.apply(lambda column: pd.Series(names[column.to_numpy()], dtype="str"))
    return {"integers": drawn, "strings": strings, "categories": strings.astype("category")}


def measure(options: Options) -> dict[str, Any]:
    """Let each library learn in turn."""
    rows, rounds = (1_000, 1) if options.quick else (ROWS, ROUNDS)
    truth = random_network()
    frames = frames_of(pd.DataFrame(truth.sample(rows, random_state=1)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        times = {
            kind: in_turn(contestants(truth, frame), 0.0, rounds, rounds)[0]
            for kind, frame in frames.items()
        }
    found = {kind: {name: asdict(m) for name, m in each.items()} for kind, each in times.items()}
    return {"rows": rows, "rounds": rounds, "times": found}


def section(data: Mapping[str, Any]) -> Iterator[str]:
    """Give the section of the page."""
    rows = []
    for kind, of_kind in data["times"].items():
        for name, kept in of_kind.items():
            measured = Measured(**kept)
            ratio = measured.median / of_kind["priory"]["median"]
            rows.append((kind, name, quantity(measured), f"{ratio:.1f}×"))
    yield f"{data['rows']:,} rows × {NODES} nodes.\n"
    yield from markdown(("columns", "library", "time", "ratio to priory"), rows, (2, 3))
    yield (
        "\nThe libraries learn from the same pandas frame, in turn, "
        f"{data['rounds']} times after one warm-up each, by maximum\nlikelihood, "
        "with as many threads as each chooses. pyAgrum reads its database anew each time."
    )


def contestants(truth: BeliefNetwork, frame: pd.DataFrame) -> dict[str, Callable[[], Any]]:
    """Return what each installed library does."""
    edges, nodes = list(truth.edges), list(truth.nodes)
    works: dict[str, Callable[[], Any]] = {
        "priory": lambda: BeliefNetwork(edges, nodes=nodes, smoothing=0).update(frame)
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
        learner.useSmoothingPrior(1e-9)  # without one it refuses parents that never came together
        dag = gum.DAG()
        ids = {name: learner.idFromName(name) for name in nodes}
        for i in range(len(nodes)):
            dag.addNodeWithId(i)
        for parent, child in edges:
            dag.addArc(ids[parent], ids[child])
        return learner.learnParameters(dag)

    return learn
