"""The networks that come with pgmpy: loading them and all their marginals, beside pyAgrum.

    python -m benchmarks.known_networks [folder of .bif.gz files]

Without a folder it is that of pgmpy, if it is installed. Each network is read and every marginal
computed in a process of its own, by priory and by pyAgrum in turn, within two minutes each; the
table shows the seconds, and the largest difference between the two answers.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

MOST_SECONDS = 120


def folder_of_pgmpy() -> Path | None:
    """Find the networks that come with pgmpy, without importing it."""
    spec = find_spec("pgmpy")
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent / "utils" / "example_models"


def by_priory(path: str) -> tuple[float, float, dict[str, list[float]]]:
    """Read a network and compute its marginals with priory."""
    from priory import BeliefNetwork

    start = time.perf_counter()
    network = BeliefNetwork.read_bif(path)
    loaded = time.perf_counter()
    found = network.marginals()
    end = time.perf_counter()
    return loaded - start, end - loaded, {n: list(p.values()) for n, p in found.items()}


def by_pyagrum(path: str) -> tuple[float, float, dict[str, list[float]]]:
    """Read a network and compute its marginals with pyAgrum, which wants it unpacked."""
    import pyagrum as gum

    with tempfile.NamedTemporaryFile(suffix=".bif") as plain:
        plain.write(gzip.decompress(Path(path).read_bytes()))
        plain.flush()
        start = time.perf_counter()
        network = gum.loadBN(plain.name)
        loaded = time.perf_counter()
    engine = gum.LazyPropagation(network)
    engine.makeInference()
    found = {network.variable(n).name(): engine.posterior(n).tolist() for n in network.nodes()}
    return loaded - start, time.perf_counter() - loaded, found


def run(tool: str, path: Path) -> tuple[float, float, dict[str, list[float]]] | str:
    """Run one tool on one network in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.known_networks", "--one", tool, str(path)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=MOST_SECONDS)
    except subprocess.TimeoutExpired:
        return f"> {MOST_SECONDS} s"
    if done.returncode:
        return "fails"
    load, marginals, found = json.loads(done.stdout.splitlines()[-1])
    return load, marginals, found


def main(arguments: list[str]) -> None:
    """Print the table."""
    if arguments[:1] == ["--one"]:
        tool = by_priory if arguments[1] == "priory" else by_pyagrum
        print(json.dumps(tool(arguments[2])))
        return
    folder = Path(arguments[0]) if arguments else folder_of_pgmpy()
    if folder is None:
        raise SystemExit("pgmpy is not installed; give a folder of .bif.gz files.")
    sums = {"priory": 0.0, "pyagrum": 0.0}
    print("| network | nodes | priory: load, marginals (s) | pyAgrum: the same | differ by |")
    print("|---|---:|---:|---:|---:|")
    for path in sorted(folder.glob("*.bif.gz")):
        results = {tool: run(tool, path) for tool in sums}
        cells, answers = [], []
        for result in results.values():
            if isinstance(result, str):
                cells.append(result)
                continue
            cells.append(f"{result[0]:.2f}, {result[1]:.2f}")
            answers.append(result[2])
        if len(answers) == 2:
            for tool, result in results.items():
                sums[tool] += sum(result[:2])  # type: ignore[arg-type]
            gap = max(
                abs(a - b)
                for node, one in answers[0].items()
                for a, b in zip(one, answers[1][node], strict=True)
            )
        name, nodes = path.name.removesuffix(".bif.gz"), len(answers[0]) if answers else 0
        differ = f"{gap:.0e}" if len(answers) == 2 else "–"
        print(f"| {name} | {nodes} | {cells[0]} | {cells[1]} | {differ} |", flush=True)
    print(
        f"\nsum over the networks that both finished: priory {sums['priory']:.1f} s, "
        f"pyAgrum {sums['pyagrum']:.1f} s"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
