"""Run the comparison: `python -m benchmarks [--part PART] [--quick] [--output FOLDER]`."""

from __future__ import annotations

import argparse
import gc
import importlib
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from benchmarks import files, leave_one_out, networks, speed, structures
from benchmarks.measure import Measured, Options, available_memory, fit_memory, in_turn
from benchmarks.report import (
    READING,
    Row,
    Section,
    all_equal,
    compared,
    draw,
    markdown,
    page,
    terminal,
)
from benchmarks.store import RESULTS, Part, load_average
from benchmarks.texts import NEWSGROUPS, RATE, SCRIPTS, TEXT_FITS, accuracies, texts
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
NUMBER_PEERS = {"scikit-learn": "sklearn", "mlpack": "mlpack", "river": "river", "wnb": "wnb"}
TEXT_PEERS = {
    "scikit-learn": "sklearn",
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
READING_TABLES = """\
For a mixed table scikit-learn has no one model, so its side is what a user must write: gaps
filled in (SimpleImputer), categories encoded (OrdinalEncoder), a GaussianNB and a CategoricalNB
fitted, their log-joints added less one log prior. Where values are missing that is another model
(priory leaves the factor out); the two are compared where they are the same, on rows without
gaps."""
READING_TEXTS = f"""\
Raw strings are Python strings in memory; scikit-learn's side is CountVectorizer and MultinomialNB
in a pipeline. Vowpal Wabbit (`--oaa`) and fastText (`epoch=1, lr={RATE}`) read the same texts
from a file in one pass and learn other models, so nothing is compared; Polars groups the words by
class, and must count as many. The scripts are measured against priory's own rate for ASCII, byte
for byte."""
LEFT_OUT = "pomegranate: needs PyTorch, gigabytes that are not installed for one peer"


def main() -> int:
    """Measure the parts asked for, and write the page of all; fail only where results differ."""
    arguments = _arguments()
    options = Options(arguments.quick, arguments.tables, arguments.gigabytes, arguments.folder)
    screen = Console(stderr=True)
    load = load_average()
    if load is not None and load > BUSY:
        screen.print(f"[yellow]The machine is busy (load {load:.1f}): the ratios may mislead.")
    console = Console(width=None if sys.stdout.isatty() else 170)
    folder = arguments.output or (None if arguments.quick else HERE)
    results = None if folder is None else folder / RESULTS.name
    equal = True
    for name in () if arguments.page else [arguments.part] if arguments.part else PARTS:
        screen.print(f"{name} …", markup=False)
        load = load_average()
        data = MEASURES[name](options)
        if data is None:
            screen.print(f"{name}: there are no data to judge it on.", markup=False)
            continue
        if "rows" in data and name in COMPARED:
            rows = [Row.of(row) for row in data["rows"]]
            console.print(terminal(rows))
            equal = equal and all_equal(rows)
        else:
            console.print("\n".join(PARTS[name][1](data)), markup=False)
        if results is not None:
            Part.now(name, data, load).save(results)
            if "curves" in data:
                draw(data["curves"], results / "numbers.svg")
    if folder is not None and results is not None:
        (folder / "results.md").write_text(page(PARTS, results), encoding="utf-8")
        console.print(f"Written to {folder / 'results.md'}", markup=False)
    if not equal:
        screen.print("[red]Some results differ from the peer's by more than the tolerance.")
    return 0 if equal else 1


def measure_numbers(options: Options) -> dict[str, Any]:
    """Measure everything about tables of numbers and labels."""
    sizes, not_run = (QUICK if options.quick else FULL), [LEFT_OUT]
    gc.freeze()  # so that collecting between the calls does not go over all the modules
    installed = find_peers(not_run, NUMBER_PEERS)
    with Progress(console=Console(stderr=True)) as progress:
        rows = table(sizes, installed, not_run, progress, MAKERS, 2 * len(MAKERS))
        rows += memory(sizes, installed, not_run, progress)
        curves = chart(sizes, installed, not_run, progress)
    return {"rows": [asdict(row) for row in rows], "not_run": not_run, "curves": curves}


def measure_texts(options: Options) -> dict[str, Any]:
    """Measure everything about texts."""
    sizes, not_run = (QUICK if options.quick else FULL), list[str]()
    gc.freeze()
    installed = find_peers(not_run, TEXT_PEERS) | {OURSELVES}
    total = 2 + len(SCRIPTS) - 1 + 2 * NEWSGROUPS.is_file()
    with Progress(console=Console(stderr=True)) as progress:
        rows = table(sizes, installed, not_run, progress, [texts], total)
    rows += memory_of_texts(sizes)
    found = [] if options.quick else accuracies()
    if not NEWSGROUPS.is_file():
        not_run.append("newsgroups20: the collection is not beside this repository")
    return {"rows": [asdict(row) for row in rows], "not_run": not_run, "accuracies": found}


def numbers_section(data: Mapping[str, Any]) -> Iterator[str]:
    """Give the section of numbers and labels: the rows, how to read them, the chart."""
    yield from compared(data)
    yield f"\n{READING}\n\n{READING_TABLES}"
    yield "\n![Time against rows, logarithmic, of priory and its peers](results/numbers.svg)"


def texts_section(data: Mapping[str, Any]) -> Iterator[str]:
    """Give the section of texts: the rows, how to read them, the accuracies."""
    yield from compared(data)
    yield f"\nTo be read as the table above. {READING_TEXTS}"
    if data["accuracies"]:
        yield "\nAccuracy of the read-outs on newsgroups20, learned on the earlier messages and"
        yield "judged on the later ones. scikit-learn's ComplementNB leaves the class prior out:"
        yield 'with `class_prior="uniform"` priory\'s is the same.\n'
        rows = [
            (title, *("" if share is None else f"{share:.4f}" for share in shares))
            for title, *shares in data["accuracies"]
        ]
        yield from markdown(("read-out", "priory", "scikit-learn"), rows, (1, 2))


MEASURES: Mapping[str, Callable[[Options], dict[str, Any] | None]] = {
    "numbers": measure_numbers,
    "texts": measure_texts,
    "files": files.measure,
    "leave-one-out": leave_one_out.measure,
    "networks": networks.measure,
    "structures": structures.measure,
    "speed": speed.measure,
}
COMPARED = frozenset({"numbers", "texts", "speed"})
"""The parts that are rows of works and peers."""

PARTS: Mapping[str, tuple[str, Section]] = {
    "numbers": ("Tables of numbers and labels", numbers_section),
    "texts": ("Texts", texts_section),
    "files": ("Files larger than memory, from the shell", files.section),
    "leave-one-out": ("What leave-one-out costs", leave_one_out.section),
    "networks": ("Learning the tables of a belief network", networks.section),
    "structures": ("Structures, judged by five folds", structures.section),
    "speed": ("The tuned default beside boosting", speed.section),
}
"""The sections of the page: their titles, and how they are written."""


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="tiny data; nothing is written")
    parser.add_argument("--part", choices=list(PARTS), help="only this part; all otherwise")
    parser.add_argument("--page", action="store_true", help="measure nothing, write the page")
    parser.add_argument("--output", type=Path, help="where results.md and results/ are written")
    parser.add_argument("--tables", type=Path, help="a folder of CSV files, for structures")
    parser.add_argument("--gigabytes", type=float, default=5.0, help="the size of the file, 5 GB")
    parser.add_argument("--folder", type=Path, help="where the file is drawn, and kept")
    return parser.parse_args()


def find_peers(not_run: list[str], peers: Mapping[str, str]) -> frozenset[str]:
    """Return the peers that can be imported, and note why the others cannot."""
    found = set()
    for name, module in peers.items():
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
    each = {name: measured.times(1 / work.calls) for name, measured in times.items()}
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
) -> dict[str, dict[str, dict[str, float]]]:
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
                curves.setdefault(work.name, {}).setdefault(name, {})[str(rows)] = measured.median
        progress.advance(task)
    return curves


if __name__ == "__main__":
    raise SystemExit(main())
