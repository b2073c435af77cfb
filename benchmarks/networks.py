"""Learning the tables of a belief network: priory, pgmpy and pyAgrum side by side.

    python -m benchmarks.networks [rows] [rounds] [--output page.md]

A random network of 20 nodes (2 to 4 values, up to 3 parents) is drawn, rows are sampled from
it, and every library learns its tables from the same data frame. The libraries take turns; the
page shows the medians of the rounds. A peer that is not installed is left out.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.measure import Measured, in_turn
from benchmarks.report import machine
from priory import BeliefNetwork

HERE = Path(__file__).parent
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


def frames_of(drawn: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the same rows as whole numbers, as strings and as categories."""
    names = np.array(
        [f"v{value}" for value in range(int(drawn.to_numpy().max()) + 1)], dtype=object
    )
    strings = drawn.apply(lambda column: pd.Series(names[column.to_numpy()], dtype="str"))
    return {"integers": drawn, "strings": strings, "categories": strings.astype("category")}


def main() -> int:
    """Let each library learn in turn, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.networks", description=__doc__)
    parser.add_argument("rows", nargs="?", type=int, default=1_000_000)
    parser.add_argument("rounds", nargs="?", type=int, default=5)
    parser.add_argument("--output", type=Path, default=HERE / "networks.md")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    truth = random_network()
    frames = frames_of(pd.DataFrame(truth.sample(arguments.rows, random_state=1)))
    times = {
        kind: in_turn(contestants(truth, frame), 0.0, arguments.rounds, arguments.rounds)[0]
        for kind, frame in frames.items()
    }
    text = "\n".join(page(times, arguments.rows, arguments.rounds, load))
    arguments.output.write_text(text + "\n", encoding="utf-8")
    print(text)
    return 0


def page(
    times: dict[str, dict[str, Measured]], rows: int, rounds: int, load: float | None
) -> Iterator[str]:
    """Give the times and ratios as Markdown."""
    yield "# Learning the tables of a belief network, side by side\n"
    yield "Written by `python -m benchmarks.networks`; no figure is typed by hand.\n"
    yield "## The machine\n"
    yield from (f"- {line}" for line in machine(load, ("priory", "pgmpy", "pyagrum", "pandas")))
    yield f"\n## {rows:,} rows × {NODES} nodes\n"
    yield "| columns | library | median | smallest | ratio to priory |\n|---|---|---:|---:|---:|"
    for kind, of_kind in times.items():
        for name, measured in of_kind.items():
            ratio = measured.median / of_kind["priory"].median
            cells = (
                f"{measured.median * 1e3:.0f} ms | {measured.least * 1e3:.0f} ms | {ratio:.1f} ×"
            )
            yield f"| {kind} | {name} | {cells} |"
    yield (
        "\nThe libraries learn from the same pandas frame, in turn, "
        f"{rounds} times after one warm-up each, by maximum\nlikelihood, "
        "with as many threads as each chooses. pyAgrum reads its database anew each time."
    )


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
    raise SystemExit(main())
