"""A file larger than memory, and a cold start.

A CSV file of 20 mixed columns is drawn, and `priory train` learns it. Beside it DuckDB scans and
aggregates the same file, and pandas reads a slice of it in chunks for scikit-learn's partial_fit.
The contenders take turns, each in a process of its own. Then one line of JSON is predicted from a
cold start.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.measure import Measured, Options
from benchmarks.report import markdown, quantity, reached

__all__ = ["measure", "section"]

HERE = Path(__file__).parent
BYTES_PER_ROW = 105
SLICE = 400_000
CHUNK = 100_000
ROUNDS, COLD_STARTS = 3, 21
MEMORY, SCANS, FASTER, COLD = 600.0, 2.0, 10.0, 1.5
"""At most so many megabytes, scans and imports; at least so many times faster than pandas."""

NUMBERS = {
    "age": "(random() * 100)::INT",
    "price": "round(random() * 1000, 2)",
    "big": "(random() * 1e6)::INT",
    "wait": "round(-10 * ln(random()), 3)",
    "change": "round(random() - 0.5, 4)",
    "gap": "CASE WHEN random() < 0.05 THEN NULL ELSE round(random() * 50, 1) END",
    "few": "(random() * 5)::INT",
    "product": "round(random() * random() * 300, 2)",
    "first": "round(random() * 20, 3)",
    "second": "round(random() * 7, 3)",
}
LABELS = {
    "color": "['red', 'green', 'blue', 'cyan'][1 + (random() * 3)::INT]",
    "side": "['north', 'south', 'east', 'west'][1 + (random() * 3)::INT]",
    "city": "'city' || (random() * 200)::INT",
    "item": "'item' || (random() * random() * 2000)::INT",
    "flag": "random() < 0.3",
    "grade": "['a', 'b', 'c'][1 + (random() * 2)::INT]",
    "shop": "CASE WHEN random() < 0.1 THEN NULL ELSE 'shop' || (random() * 30)::INT END",
    "day": "['mon', 'tue', 'wed', 'thu', 'fri'][1 + (random() * 4)::INT]",
    "letter": "chr(65 + (random() * 25)::INT)",
}
CLASSES = ("maybe", "no", "yes")
TARGET = "['yes', 'no', 'maybe'][1 + (random() * 2)::INT]"

READING = f"""\
Times are medians of whole processes, the smallest in parentheses, n is the number of repeats; the
contenders take turns on the same file. The sums are what DuckDB needs for the mean and variance of
each number per class; the statistics are those and the counts of each category per class, which is
what `priory train` learns (it also keeps a sample, chooses families and weights by leave-one-out
and reports honest figures). pandas reads chunks of {CHUNK:,} rows of a slice of {SLICE:,}, and its
time is that per row. Peak memory is resident memory at its highest, of the whole process. A cold
start is `priory predict MODEL -` on one line of JSON, of a model of `examples/play_tennis.csv`,
beside `python -c "import numpy, pyarrow"`.
Required are at most {MEMORY:g} MB, at most {SCANS:g} times DuckDB, at least {FASTER:g} times faster
than pandas, and at most {COLD:g} times the imports."""


def draw(path: Path, rows: int) -> None:
    """Write a CSV file of so many rows."""
    import duckdb

    columns = {**NUMBERS, **LABELS, "target": TARGET}
    select = ", ".join(f"{sql} AS {name}" for name, sql in columns.items())
    connection = duckdb.connect()
    connection.execute("SELECT setseed(0.5)")
    connection.execute(
        f"COPY (SELECT {select} FROM range({rows})) TO '{path}' (HEADER, FORMAT csv)"
    )


def sums(path: str) -> None:
    """Let DuckDB add up the numbers of each class."""
    import duckdb

    added = ", ".join(f"sum({name}), sum({name} * {name})" for name in NUMBERS)
    counted = ", ".join(f"count({name})" for name in LABELS)
    duckdb.sql(f"SELECT target, count(*), {added}, {counted} FROM '{path}' GROUP BY 1").fetchall()


def statistics(path: str) -> None:
    """Let DuckDB add up the numbers, and count the categories, of each class."""
    import duckdb

    added = ", ".join(f"sum({name}), sum({name} * {name})" for name in NUMBERS)
    sets = ", ".join(f"(target, {name})" for name in LABELS)
    duckdb.sql(
        f"SELECT target, {', '.join(LABELS)}, count(*), {added} FROM '{path}' "
        f"GROUP BY GROUPING SETS ((target), {sets})"
    ).fetchall()


def pandas_chunks(path: str) -> None:
    """Let pandas read a slice in chunks, and scikit-learn learn them; print the seconds of it."""
    import numpy as np
    import pandas as pd
    from sklearn.naive_bayes import CategoricalNB, GaussianNB

    start = time.perf_counter()
    numbers, labels, known = GaussianNB(), None, {}
    for chunk in pd.read_csv(path, chunksize=CHUNK, nrows=SLICE):
        y = chunk["target"]
        numbers.partial_fit(chunk[list(NUMBERS)].fillna(0).to_numpy(float), y, CLASSES)
        values = chunk[list(LABELS)].astype(object).fillna("").astype(str)
        if labels is None:
            known = {name: sorted(values[name].unique()) for name in LABELS}
            labels = CategoricalNB(min_categories=[len(found) + 1 for found in known.values()])
        coded = [pd.Index(found).get_indexer(values[name]) + 1 for name, found in known.items()]
        labels.partial_fit(np.column_stack(coded), y, CLASSES)
    print(time.perf_counter() - start)


WORKS: Mapping[str, Callable[[str], None]] = {
    "sums": sums,
    "statistics": statistics,
    "pandas": pandas_chunks,
}


def in_process(command: Sequence[str], **options: Any) -> tuple[float, float, str]:
    """Return the seconds, the peak megabytes and the output of a command."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options)
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    elapsed = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    unit = 1 if sys.platform == "darwin" else 1024
    return elapsed, usage.ru_maxrss * unit / 1e6, output


def learned(path: Path, model: Path, rounds: int) -> dict[str, Measured]:
    """Return the seconds of each contender, and the megabytes of ours."""
    train = ["-m", "priory", "train", str(path), "--target", "target", "-o", str(model), "--json"]
    found: dict[str, list[float]] = {}
    for _ in range(rounds):
        elapsed, peak, _ = in_process([sys.executable, *train], stderr=subprocess.DEVNULL)
        found.setdefault("priory", []).append(elapsed)
        found.setdefault("memory", []).append(peak)
        for work in WORKS:
            command = [sys.executable, "-m", "benchmarks.files", work, str(path)]
            elapsed, _, output = in_process(command)
            found.setdefault(work, []).append(float(output) if output else elapsed)
    return {name: Measured.of(values) for name, values in found.items()}


def cold(model: Path, row: Path, repeats: int) -> tuple[Measured, Measured]:
    """Return the seconds of one prediction from a cold start, and of two imports."""
    predict = [sys.executable, "-m", "priory", "predict", str(model), "-"]
    imports = [sys.executable, "-c", "import numpy, pyarrow"]
    # As installed: the first run leaves what it compiled, and the others find it.
    compiled = {**os.environ, "PYTHONPYCACHEPREFIX": str(row.parent / "compiled")}
    compiled.pop("PYTHONDONTWRITEBYTECODE", None)
    ours, theirs = [], []
    for _ in range(repeats + 1):
        with row.open() as line:
            ours.append(in_process(predict, stdin=line, env=compiled)[0])
        theirs.append(in_process(imports, env=compiled)[0])
    return Measured.of(ours[1:]), Measured.of(theirs[1:])


def measure(options: Options) -> dict[str, Any]:
    """Draw the file, unless it is there, and let the contenders learn it in turn."""
    gigabytes, rounds = (0.001, 1) if options.quick else (options.gigabytes, ROUNDS)
    rows = max(1000, int(gigabytes * 1e9 / BYTES_PER_ROW))
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        data, model, row = folder / "mixed.csv", folder / "mixed.priory", folder / "row.json"
        if not data.exists():
            draw(data, rows)
        found = learned(data, model, rounds)
        found["pandas"] = found["pandas"].times(rows / min(rows, SLICE))
        days = HERE.parent / "examples" / "play_tennis.csv"
        train = ["-m", "priory", "train", str(days), "--target", "play", "-o", str(model), "--json"]
        in_process([sys.executable, *train], stderr=subprocess.DEVNULL)
        row.write_text(json.dumps({"outlook": "Sunny", "wind": "Strong"}) + "\n")
        found["cold"], found["imports"] = cold(model, row, COLD_STARTS if rows > SLICE else 1)
        size = data.stat().st_size / 1e9
    times = {name: asdict(measured) for name, measured in found.items()}
    return {"gigabytes": size, "rows": rows, "times": times}


def section(data: Mapping[str, Any]) -> Iterator[str]:
    """Give the section of the page."""
    times = {name: Measured(**kept) for name, kept in data["times"].items()}
    memory, pandas = times["memory"], times["pandas"]
    enough, faster = memory.median <= MEMORY, pandas.median / times["priory"].median
    rows = [
        ("peak memory", quantity(memory, "MB"), "", "", f"≤ {MEMORY:g} MB", reached(enough)),
        at_most("DuckDB, sums", times["priory"], times["sums"], SCANS),
        at_most("DuckDB, statistics", times["priory"], times["statistics"], SCANS),
        ("pandas, scikit-learn", quantity(times["priory"]), quantity(pandas), f"{faster:.2f}×",
         f"≥ {FASTER:g}×", reached(faster >= FASTER)),
        at_most("cold start, imports", times["cold"], times["imports"], COLD),
    ]  # fmt: skip
    yield f"{data['gigabytes']:.2f} GB of CSV, {data['rows']:,} rows, 20 columns.\n"
    headings = ("beside", "priory", "the other", "ratio", "required", "reached")
    yield from markdown(headings, rows, (1, 2, 3))
    yield f"\n{READING}"


def at_most(beside: str, ours: Measured, other: Measured, most: float) -> tuple[str, ...]:
    """Return the row of a time that may be so many times the other's."""
    ratio = ours.median / other.median
    times = quantity(ours), quantity(other)
    return beside, *times, f"{ratio:.2f}×", f"≤ {most:g}×", reached(ratio <= most)


if __name__ == "__main__":
    WORKS[sys.argv[1]](sys.argv[2])
