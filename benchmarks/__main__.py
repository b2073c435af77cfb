"""Run the comparison: `python -m benchmarks [--quick] [--output FOLDER]`."""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from benchmarks.measure import Measured, available_memory, fit_memory, in_turn
from benchmarks.report import Report, Row
from benchmarks.texts import NEWSGROUPS, SCRIPTS, TEXT_FITS, accuracies, texts
from benchmarks.works import (
    COLUMNS,
    FULL,
    GAUSSIAN_FITS,
    MAKERS,
    QUICK,
    Peer,
    Sizes,
    Work,
    gaussian,
    works,
)

HERE = Path(__file__).parent
PEERS = {
    "scikit-learn": "sklearn",
    "mlpack": "mlpack",
    "river": "river",
    "wnb": "wnb",
    "Vowpal Wabbit": "vowpalwabbit",
    "fastText": "fasttext",
    "Polars": "polars",
}
OURSELVES = "priory, ASCII"
MATRIX = frozenset({"scikit-learn", "mlpack"})
"""The peers whose memory is measured and whose times are in the chart."""
MEMORY = 32.0
"""The most megabytes that a fit of GaussianNB may take beyond its data."""
BUSY = 1.5
LEFT_OUT = "pomegranate: needs PyTorch, gigabytes that are not installed for one peer"


def main() -> int:
    """Measure, show and write; fail only where results differ."""
    arguments = _arguments()
    sizes = QUICK if arguments.quick else FULL
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    screen = Console(stderr=True)
    if load is not None and load > BUSY:
        screen.print(f"[yellow]The machine is busy (load {load:.1f}): the ratios may mislead.")
    gc.freeze()  # so that collecting between the calls does not go over all the modules
    all_equal = True
    for part, measure in PARTS.items():
        if arguments.part not in (None, part):
            continue
        not_run: list[str] = []
        installed = find_peers(not_run)
        with Progress(console=screen) as progress:
            report = measure(sizes, installed, not_run, progress)
        report = replace(report, load=load, quick=arguments.quick)
        console = Console(width=None if sys.stdout.isatty() else 170)
        console.print(report.table())
        for line in not_run:
            console.print(f"Not run: {line}", markup=False)
        folder = arguments.output or (None if arguments.quick else HERE)
        if folder is not None:
            console.print(f"Written to {report.write(folder)}", markup=False)
        if not report.all_equal:
            screen.print("[red]Some results differ from the peer's by more than the tolerance.")
        all_equal = all_equal and report.all_equal
    return 0 if all_equal else 1


def measure_tables(
    sizes: Sizes, installed: frozenset[str], not_run: list[str], progress: Progress
) -> Report:
    """Measure everything about tables of numbers and labels."""
    not_run.append(LEFT_OUT)
    rows = table(sizes, installed, not_run, progress, MAKERS, 2 * len(MAKERS))
    rows += memory(sizes, installed, not_run, progress)
    return Report("results", rows, not_run, curves=chart(sizes, installed, not_run, progress))


def measure_texts(
    sizes: Sizes, installed: frozenset[str], not_run: list[str], progress: Progress
) -> Report:
    """Measure everything about texts."""
    total = 2 + len(SCRIPTS) - 1 + 2 * NEWSGROUPS.is_file()
    rows = table(sizes, installed | {OURSELVES}, not_run, progress, [texts], total)
    rows += memory_of_texts(sizes)
    progress.console.print("accuracy of the read-outs of text", markup=False)
    found = [] if sizes is QUICK else accuracies()
    if not NEWSGROUPS.is_file():
        not_run.append("newsgroups20: the collection is not beside this repository")
    return Report("texts", rows, not_run, accuracies=found)


PARTS = {"tables": measure_tables, "texts": measure_texts}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="tiny data; nothing is written")
    parser.add_argument("--part", choices=list(PARTS), help="only this part; both otherwise")
    parser.add_argument("--output", type=Path, help="where results.md and texts.md are written")
    return parser.parse_args()


def find_peers(not_run: list[str]) -> frozenset[str]:
    """Return the peers that can be imported, and note why the others cannot."""
    found = set()
    for name, module in PEERS.items():
        try:
            importlib.import_module(module)
        except Exception as error:  # a peer may fail in any way it likes
            absent = isinstance(error, ModuleNotFoundError)  # other messages may name paths
            reason = str(error) if absent else type(error).__name__
            not_run.append(f"{name}: cannot be imported ({reason})")
        else:
            found.add(name)
    return frozenset(found)


def table(
    sizes: Sizes,
    installed: frozenset[str],
    not_run: list[str],
    progress: Progress,
    makers: Sequence[Callable[[Sizes], Iterator[Work]]],
    total: int,
) -> list[Row]:
    """Measure every piece of work."""
    task = progress.add_task("works", total=total)
    rows: list[Row] = []
    for work in works(sizes, installed, makers):
        progress.update(task, description=work.name)
        rows += compare(work, sizes, not_run)
        progress.advance(task)
    progress.update(task, description="works")
    return rows


def compare(work: Work, sizes: Sizes, not_run: list[str]) -> list[Row]:
    """Measure one piece of work and compare the results."""
    peers = [
        peer
        for peer in work.peers
        if _in_time(peer, work, sizes, not_run) and _runs(peer, work, not_run)
    ]
    calls = {"priory": work.ours} | {peer.name: peer.call for peer in peers}
    times, results = in_turn(calls, sizes.seconds, *sizes.repeats)
    each = {n: Measured(tuple(v / work.calls for v in t.values)) for n, t in times.items()}
    rows = []
    for peer in work.peers:
        shown = (work.name, work.data, peer.name, each["priory"])
        if peer in peers:
            given = (results["priory"], results[peer.name])
            difference = None if peer.difference is None else peer.difference(*given)
            rows.append(Row(*shown, each[peer.name], peer.required, difference, peer.tolerance))
        else:
            rows.append(Row(*shown, None, peer.required))
    rows += [
        Row(work.name, work.data, name, each["priory"], None, required)
        for name, required in work.absent.items()
    ]
    return rows


def _in_time(peer: Peer, work: Work, sizes: Sizes, not_run: list[str]) -> bool:
    """Try a slow peer on a thousandth of the rows, and note if the whole would take too long."""
    if peer.trial is None:
        return True
    peer.trial()
    start = time.perf_counter()
    peer.trial()
    expected = 1000 * (time.perf_counter() - start)
    if expected <= sizes.limit:
        return True
    not_run.append(
        f"{peer.name}, {work.name}: one call would take about {expected:.0f} s, "
        "by a trial on a thousandth of the rows"
    )
    return False


def _runs(peer: Peer, work: Work, not_run: list[str]) -> bool:
    """Try a peer that learns another model, and note if it fails on these data."""
    if peer.difference is not None:
        return True
    result = peer.call()
    if isinstance(result, RuntimeError):  # such as "Encountered NaN"
        not_run.append(f"{peer.name}, {work.name}: it failed ({result})")
        return False
    return True


def memory(
    sizes: Sizes, installed: frozenset[str], not_run: list[str], progress: Progress
) -> list[Row]:
    """Measure the memory that a fit takes beyond its data."""
    names = ["priory", *(name for name in GAUSSIAN_FITS if name in installed & MATRIX)]
    task = progress.add_task("memory of a fit", total=len(names))
    found: dict[str, Measured | None] = {}
    for name in names:
        found[name] = fit_memory(name, sizes.rows, sizes.processes)
        progress.advance(task)
    if found["priory"] is None:
        not_run.append("memory of a fit: /proc/self/clear_refs, by which it is measured, is needed")
    data = f"{sizes.rows:,} × {COLUMNS} float64, {sizes.rows * COLUMNS * 8 / 1e6:.0f} MB"
    return [
        Row("GaussianNB fit, extra memory", data, name, found["priory"], found[name],
            unit="MB", at_most=MEMORY if name == "scikit-learn" else None)
        for name in names[1:]
    ]  # fmt: skip


def memory_of_texts(sizes: Sizes) -> list[Row]:
    """Measure the memory that a fit of texts takes beyond them."""
    size = sizes.text_bytes
    of_text = {name: fit_memory(name, size, sizes.processes, sizes.words) for name in TEXT_FITS}
    words = f"{size / 1e6:.0f} MB of text, {sizes.words:,} words"
    return [Row("TextNB fit, extra memory", words, "scikit-learn", *of_text.values(), 5, unit="MB")]


def chart(
    sizes: Sizes, installed: frozenset[str], not_run: list[str], progress: Progress
) -> dict[str, dict[str, dict[int, Measured]]]:
    """Measure GaussianNB at growing numbers of rows."""
    curves: dict[str, Any] = {}
    task = progress.add_task("time against rows", total=len(sizes.chart))
    for rows in sizes.chart:
        needed = 6 * rows * COLUMNS * 8  # scikit-learn's predict makes several copies
        if needed > available_memory():
            not_run.append(f"time against rows at {rows:,}: needs {needed / 1e9:.0f} GB of memory")
            continue
        for work in gaussian(sizes, rows):
            peers = {p.name: p.call for p in work.peers if p.name in installed & MATRIX}
            times, _ = in_turn({"priory": work.ours} | peers, sizes.seconds / 2, 2, 15)
            for name, measured in times.items():
                curves.setdefault(work.name, {}).setdefault(name, {})[rows] = measured
        progress.advance(task)
    return curves


if __name__ == "__main__":
    raise SystemExit(main())
