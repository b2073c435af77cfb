"""priory beside MLlib on a cluster of Spark: `python -m benchmarks.engines [--part NAME] [FOLDER]`.

A master and two workers of one core each, on this machine; both libraries read the same Parquet
file in the same session, in turn. The data are drawn into FOLDER, and kept there; times go to
`benchmarks/results/engines.json`, the page is `benchmarks/engines.md`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
from tests.engines.spark_cluster import SETTINGS, Cluster

import priory
import priory.spark
import priory.text
from benchmarks.report import markdown
from benchmarks.store import load_average, machine
from priory.spark.opening import open_cluster

__all__ = ["main"]

HERE = Path(__file__).parent
STORE, PAGE = HERE / "results" / "engines.json", HERE / "engines.md"
ROWS, FEW, CHUNK, TEXT_BYTES = 5_000_000, 100_000, 250_000, 200_000_000
FLOATS = [f"f{i}" for i in range(9)]
INTEGERS = [f"i{i}" for i in range(4)]
LABELS = [f"s{i}" for i in range(6)]
COLUMNS = [*FLOATS, *INTEGERS, *LABELS, "b"]
PARTS = ("fit", "predict", "text", "growth", "partitions")
TEXTBOOK = priory.Settings.textbook()
WANTED = (
    ("priory, executors read the files", "MLlib, one-hot multinomial", 4.0),
    ("priory, through mapInArrow", "MLlib, one-hot multinomial", 2.0),
    ("priory, floats alone", "MLlib, Gaussian of the floats", 2.0),
    ("priory predicts", "MLlib's pipeline predicts", 1.5),
    ("priory, texts", "MLlib, Tokenizer + HashingTF + NaiveBayes", 3.0),
)


def main() -> int:
    """Measure the parts that were asked for, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--page", action="store_true", help="write the page of what is kept")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    folder = given.folder or Path(tempfile.gettempdir()) / "priory-engines"
    folder.mkdir(parents=True, exist_ok=True)
    kept: dict[str, Any] = json.loads(STORE.read_text("utf-8")) if STORE.exists() else {}
    for part in () if given.page else given.part or PARTS:
        about = {"machine": machine(load_average())}
        for found in measured(part, folder, given.rows, given.repeats):  # what is there is kept
            kept[part] = about | found
            STORE.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")
    PAGE.write_text("\n".join(page(kept)) + "\n", "utf-8")
    return 0


def measured(part: str, folder: Path, rows: int, repeats: int) -> Iterator[dict[str, Any]]:
    """Measure a part on a cluster of its own; what was found so far comes round by round."""
    with tempfile.TemporaryDirectory() as logs:
        cluster = Cluster(logs)
        try:
            yield from MEASURES[part](cluster, folder, rows, repeats)
        finally:
            cluster.stop()


# Data


def draw(folder: Path, rows: int) -> str:
    """Draw a table of mixed columns, whose values tell something of the class."""
    path = folder / f"mixed-{rows}.parquet"
    if path.exists():
        return str(path)
    rng, writer = np.random.default_rng(0), None
    made = path.with_suffix(".part")
    for first in range(0, rows, CHUNK):
        n = min(CHUNK, rows - first)
        y = rng.integers(0, 3, n)
        columns: dict[str, Any] = {
            c: rng.normal(0.1 * y, 1 + 0.1 * i, n) for i, c in enumerate(FLOATS)
        }
        columns |= {c: rng.poisson(2 + i + 0.2 * y) for i, c in enumerate(INTEGERS)}
        for i, c in enumerate(LABELS):
            names = np.array([f"{c}-{j}" for j in range(4 * 3**i)])  # from 4 to 972 values
            columns[c] = names[np.minimum(rng.geometric(2 / len(names), n) + y, len(names)) - 1]
        columns |= {"b": rng.random(n) < 0.3 + 0.1 * y, "y": np.take(["no", "yes", "maybe"], y)}
        table = pa.table(columns)
        writer = writer or pq.ParquetWriter(made, table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()
    made.rename(path)
    return str(path)


def draw_texts(folder: Path) -> str:
    """Draw 200 MB of texts over 50,000 words."""
    path = folder / "texts.parquet"
    if path.exists():
        return str(path)
    rng, written = np.random.default_rng(1), 0
    words = np.array([f"w{i:x}" for i in range(50_000)])
    p = 1 / np.arange(1, len(words) + 1)
    p /= p.sum()
    made, writer = path.with_suffix(".part"), None
    while written < TEXT_BYTES:
        y = rng.integers(0, 4, 20_000)
        chosen = (rng.choice(len(words), (20_000, 60), p=p) + 7 * y[:, None]) % len(words)
        texts = [" ".join(row) for row in words[chosen]]
        written += sum(map(len, texts))
        table = pa.table({"text": texts, "y": np.take(["a", "b", "c", "d"], y)})
        writer = writer or pq.ParquetWriter(made, table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()
    made.rename(path)
    return str(path)


# Measuring


def begin(cluster: Cluster, cores: int = 2) -> Any:
    """Begin a session on so many cores."""
    from pyspark.sql import SparkSession

    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    builder = SparkSession.builder.master(cluster.url).config("spark.cores.max", cores)
    for key, value in {**SETTINGS, "spark.executor.memory": "2g"}.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


Calls = Mapping[str, Callable[[], Any]]
Found = Iterator[dict[str, Any]]


def in_turn(
    calls: Calls, repeats: int, first: Calls | None = None
) -> Iterator[dict[str, list[float]]]:
    """Time calls in turn, after those that warm up Java by the same work on few rows."""
    for call in (first or {}).values():
        call()
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(repeats):
        for name, call in calls.items():
            began = time.perf_counter()
            call()
            seconds = time.perf_counter() - began
            print(f"{name:45} {seconds:8.2f} s  (load {os.getloadavg()[0]:.1f})", flush=True)
            times[name].append(seconds)
        yield times


def measure_fit(cluster: Cluster, folder: Path, rows: int, repeats: int) -> Found:
    """Fit all columns, and the floats alone."""
    path, few, session = draw(folder, rows), draw(folder, FEW), begin(cluster)
    for times in in_turn(_fits(session, path), repeats, _fits(session, few)):
        yield {"rows": rows, "bytes": os.path.getsize(path), "times": times}
    session.stop()


def _fits(session: Any, path: str) -> Calls:
    frame = session.read.parquet(path)
    floats = [c for c in COLUMNS if c not in FLOATS]
    given = {"session": session, "settings": TEXTBOOK}
    return {
        "reading alone": lambda: frame.write.format("noop").mode("overwrite").save(),
        "a mapInArrow that does nothing": lambda: nothing(frame),
        "priory, executors read the files": lambda: priory.spark.train(path, "y", **given),
        "priory, through mapInArrow": lambda: priory.spark.train(frame, "y", **given),
        "MLlib, one-hot multinomial": lambda: one_hot(frame).fit(frame),
        "priory, floats alone": lambda: priory.spark.train(path, "y", drop=floats, **given),
        "MLlib, Gaussian of the floats": lambda: gaussian(frame).fit(frame),
        "priory, executors read the files, tuned": lambda: priory.spark.train(
            path, "y", session=session
        ),
    }


def measure_predict(cluster: Cluster, folder: Path, rows: int, repeats: int) -> Found:
    """Predict every row, by models of the same columns."""
    path, few, session = draw(folder, rows), draw(folder, FEW), begin(cluster)
    model = priory.train(few, "y", settings=TEXTBOOK)
    pipeline = one_hot(session.read.parquet(few)).fit(session.read.parquet(few))

    def written(found: Any) -> None:
        found.select("y", "prediction").write.format("noop").mode("overwrite").save()

    def calls(path: str) -> Calls:
        frame = session.read.parquet(path)
        return {
            "a mapInArrow that does nothing": lambda: nothing(frame),
            "priory predicts": lambda: written(priory.spark.predict(model, frame)),
            "MLlib's pipeline predicts": lambda: written(pipeline.transform(frame)),
        }

    for times in in_turn(calls(path), repeats, calls(few)):
        yield {"rows": rows, "times": times}
    session.stop()


def measure_text(cluster: Cluster, folder: Path, rows: int, repeats: int) -> Found:
    """Fit texts."""
    from pyspark.ml import Pipeline
    from pyspark.ml.classification import NaiveBayes
    from pyspark.ml.feature import HashingTF, StringIndexer, Tokenizer

    path, session = draw_texts(folder), begin(cluster)
    frame = session.read.parquet(path)
    stages = [
        StringIndexer(inputCol="y", outputCol="label"),
        Tokenizer(inputCol="text", outputCol="words"),
        HashingTF(inputCol="words", outputCol="features"),
        NaiveBayes(),
    ]
    settings = priory.Settings.textbook(text={"text": priory.text.Analyzer("word")})
    learn = partial(priory.spark.train, target="y", session=session, settings=settings)
    calls = {
        "priory, texts": lambda: learn(path),
        "MLlib, Tokenizer + HashingTF + NaiveBayes": lambda: Pipeline(stages=stages).fit(frame),
    }
    few = {
        "priory": lambda: learn(frame.limit(1000)),
        "MLlib": lambda: Pipeline(stages=stages).fit(frame.limit(1000)),
    }
    for times in in_turn(calls, repeats, few):
        yield {"bytes": TEXT_BYTES, "times": times}
    session.stop()


def measure_growth(cluster: Cluster, folder: Path, rows: int, repeats: int) -> Found:
    """Fit more and more rows, on one core and on two; twice the same file is twice the rows."""
    sources = {n: [draw(folder, n)] for n in (100_000, 1_000_000, rows)}
    sources[2 * rows] = sources[rows] * 2
    found: dict[str, Any] = {}
    for cores in 2, 1:
        session = begin(cluster, cores)
        learn = partial(priory.spark.train, target="y", session=session, settings=TEXTBOOK)
        calls = {str(n): partial(learn, paths) for n, paths in sources.items()}
        calls["100000"]()  # so that the executors are there
        (found[str(cores)],) = in_turn(calls, 1)
        session.stop()
        yield {"times": found}


def measure_partitions(cluster: Cluster, folder: Path, rows: int, repeats: int) -> Found:
    """Train from few partitions and from 2,000: what the driver receives, and its memory."""
    path = folder / "partitions.parquet"
    if not path.exists():
        pq.write_table(pq.read_table(draw(folder, 1_000_000)), path, row_group_size=500)
    session, found = begin(cluster), {}
    names = [*FLOATS[:3], *LABELS[:3], "y"]
    drop = [c for c in (*COLUMNS, "y") if c not in names]
    for n in 20, 2000:
        source = open_cluster(str(path), session=session, tasks=n)
        with Memory() as memory:
            began = time.perf_counter()
            model = priory.train(source, "y", drop=drop)
            seconds = time.perf_counter() - began
        model.save(folder / "model.priory", keep_sample=True)
        found[str(n)] = {
            "seconds": seconds,
            "received": source.received,
            "python": memory.python,
            "java": memory.java,
            "model": os.path.getsize(folder / "model.priory"),
        }
        print(n, found[str(n)], flush=True)
        yield {"rows": 1_000_000, "columns": len(names) - 1, "by": found}
    session.stop()


class Memory:
    """Watch how much more memory the driver takes, in Python and in Java."""

    def __enter__(self) -> Memory:
        self._stop, self.python, self.java = threading.Event(), 0, 0
        self._before = self._now()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _now(self) -> tuple[int, int]:
        me = psutil.Process()
        java = [
            p for p in me.children(recursive=True) if "deploy.SparkSubmit" in " ".join(p.cmdline())
        ]
        return me.memory_info().rss, sum(p.memory_info().rss for p in java)

    def _watch(self) -> None:
        while not self._stop.wait(0.1):
            python, java = self._now()
            self.python = max(self.python, python - self._before[0])
            self.java = max(self.java, java - self._before[1])


def nothing(frame: Any) -> None:
    """Send every row to Python, which sends none back."""

    def run(batches: Any) -> Any:
        for _ in batches:
            pass
        yield from ()

    frame.mapInArrow(run, "x int").write.format("noop").mode("overwrite").save()


def one_hot(frame: Any) -> Any:
    """Make MLlib's multinomial naive Bayes of mixed columns: floats in ten bins, then one-hot."""
    from pyspark.ml import Pipeline
    from pyspark.ml.classification import NaiveBayes
    from pyspark.ml.feature import Bucketizer, OneHotEncoder, StringIndexer, VectorAssembler

    splits = [-float("inf"), *np.linspace(-2, 2, 9).tolist(), float("inf")]
    binned, indexed = [f"{c}_bin" for c in FLOATS], [f"{c}_index" for c in LABELS]
    codes = [*binned, *INTEGERS, *indexed]
    vectors = [f"{c}_vector" for c in codes]
    keep = {"handleInvalid": "keep"}
    stages = [
        StringIndexer(inputCols=[*LABELS, "y"], outputCols=[*indexed, "label"], **keep),
        Bucketizer(inputCols=FLOATS, outputCols=binned, splitsArray=[splits] * len(FLOATS), **keep),
        OneHotEncoder(inputCols=codes, outputCols=vectors, **keep),
        VectorAssembler(inputCols=[*vectors, "b"], outputCol="features"),
        NaiveBayes(),
    ]
    return Pipeline(stages=stages)


def gaussian(frame: Any) -> Any:
    """Make MLlib's Gaussian naive Bayes of the floats."""
    from pyspark.ml import Pipeline
    from pyspark.ml.classification import NaiveBayes
    from pyspark.ml.feature import StringIndexer, VectorAssembler

    stages = [
        StringIndexer(inputCol="y", outputCol="label"),
        VectorAssembler(inputCols=FLOATS, outputCol="features"),
        NaiveBayes(modelType="gaussian"),
    ]
    return Pipeline(stages=stages)


MEASURES: Mapping[str, Callable[[Cluster, Path, int, int], Found]] = {
    "fit": measure_fit,
    "predict": measure_predict,
    "text": measure_text,
    "growth": measure_growth,
    "partitions": measure_partitions,
}


# The page


def page(kept: Mapping[str, Any]) -> Iterator[str]:
    """Write what was measured."""
    yield "# Engines"
    yield ""
    yield "`python -m benchmarks.engines` draws the data, starts a cluster of Spark on this machine"
    yield "(a master and two workers of one core each) and measures priory beside MLlib on it. Both"
    yield "read the same Parquet file in the same session, in turn. Seconds are medians, with the"
    yield "least in brackets; no figure is typed by hand."
    times: dict[str, list[float]] = {}
    for part in ("fit", "predict", "text"):
        if part in kept:
            yield from _times(part, kept[part])
            times |= kept[part]["times"]
    yield from _ratios(times)
    if "growth" in kept:
        yield from _growth(kept["growth"])
    if "partitions" in kept:
        yield from _partitions(kept["partitions"])


TITLES = {"fit": "Fit", "predict": "Predict", "text": "Texts"}
NOTES = {
    "fit": "{rows:,} rows of 9 floats, 4 integers, 6 columns of strings (4 to 972 values) and a "
    "boolean, 3 classes; {size:.0f} MB of Parquet. MLlib's multinomial has the floats in ten bins, "
    "by fixed cuts, then everything one-hot. priory is `Settings.textbook()`, which counts every "
    "column in one pass; the last line is the default, tuned on its sample, which MLlib has not.",
    "predict": "The same {rows:,} rows; the class of each is written to nowhere.",
    "text": "{size:.0f} MB of texts, 50,000 words, 4 classes.",
}


def _times(part: str, data: Mapping[str, Any]) -> Iterator[str]:
    yield from ("", f"## {TITLES[part]}", "")
    yield NOTES[part].format(rows=data.get("rows", 0), size=data.get("bytes", 0) / 1e6)
    yield ""
    rows = [
        (name, f"{np.median(values):.1f} ({min(values):.1f})", str(len(values)))
        for name, values in data["times"].items()
    ]
    yield from markdown(("what", "seconds", "rounds"), rows, (1, 2))
    yield from ("", *(f"- {line}" for line in data["machine"]))


def _ratios(times: Mapping[str, list[float]]) -> Iterator[str]:
    yield from ("", "## Beside MLlib", "")
    rows = []
    for ours, theirs, wanted in WANTED:
        if ours in times and theirs in times:
            pairs = [b / a for a, b in zip(times[ours], times[theirs], strict=True)]
            reached = "yes" if np.median(pairs) >= wanted else "no"
            spread = f"{min(pairs):.1f} to {max(pairs):.1f}"
            rows.append((ours, theirs, f"{np.median(pairs):.1f}", spread, f"{wanted:g}", reached))
    heads = ("priory", "MLlib", "times as fast", "round by round", "wanted", "reached")
    yield from markdown(heads, rows, (2, 3, 4))


def _growth(data: Mapping[str, Any]) -> Iterator[str]:
    yield from ("", "## Rows and cores", "")
    yield "Seconds of a fit whose files the executors read, one round each."
    yield ""
    by = data["times"]
    by = {"1": {n: [np.nan] for n in by["2"]}, **by}
    rows = [
        (f"{int(n):,}", f"{by['1'][n][0]:.1f}", f"{by['2'][n][0]:.1f}")
        for n in by["2"]
        if n in by["1"]
    ]
    yield from markdown(("rows", "one core", "two cores"), rows, range(3))
    _draw_growth(by)
    yield from ("", "![Seconds against rows, on one core and on two](results/engines-growth.svg)")
    yield from ("", *(f"- {line}" for line in data["machine"]))


def _draw_growth(by: Mapping[str, Mapping[str, list[float]]]) -> None:
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(5, 3.2), layout="constrained")
    for cores, times in sorted(by.items()):
        n = [int(rows) for rows in times]
        axes.plot(n, [values[0] for values in times.values()], "o-", label=f"cores: {cores}")
    axes.set(xscale="log", yscale="log", xlabel="rows", ylabel="seconds")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter("{x:g}")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(HERE / "results" / "engines-growth.svg", metadata={"Date": None})
    plt.close(figure)


def _partitions(data: Mapping[str, Any]) -> Iterator[str]:
    yield from ("", "## Many partitions", "")
    size = f"{data['rows']:,} rows × {data['columns']} columns"
    yield f"The default on {size}, cut into few tasks and into many. The driver"
    yield "receives the sums of all partitions as one, and one sample of at most 50,000 rows;"
    yield "beside it is the model file with its sample, which holds the same. Memory is the"
    yield "driver's growth at its peak while it trains, tuning included."
    yield ""
    rows = [
        (
            f"{int(n):,}",
            f"{found['received'] / 1e6:.2f}",
            f"{found['model'] / 1e6:.2f}",
            f"{found['python'] / 1e6:.0f}",
            f"{found['java'] / 1e6:.0f}",
            f"{found['seconds']:.0f}",
        )
        for n, found in data["by"].items()
    ]
    heads = ("tasks", "received, MB", "model file, MB", "Python, MB", "Java, MB", "seconds")
    yield from markdown(heads, rows, range(6))
    yield from ("", *(f"- {line}" for line in data["machine"]))


if __name__ == "__main__":
    sys.exit(main())
