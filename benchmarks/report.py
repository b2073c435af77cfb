"""What is shown: the table in the terminal and in Markdown, the chart, the machine."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from rich.table import Table

from benchmarks.measure import Measured

__all__ = ["Report", "Row", "machine", "quantity"]

HEADINGS = (
    "work", "data", "peer", "priory", "the peer", "ratio", "required", "reached",
    "largest difference",
)  # fmt: skip
PACKAGES = (
    "priory", "numpy", "scipy", "scikit-learn", "pandas", "mlpack", "river", "wnb", "vowpalwabbit",
    "fasttext", "polars",
)  # fmt: skip

READING = """\
Times are medians, the smallest in parentheses, n is the number of repeats. The contenders take
turns (A B C A B C …) on the same data in memory, after one warm-up each, with the garbage
collector off. The ratio is the peer's median over priory's. The largest difference is that of
the log-joints after a fit, or of the predictions, on a slice of the rows; of probabilities where
the peer gives no logarithms (mlpack, river) or predict_proba is measured. It is checked against
the tolerance beside it: 1e-8, but more where a peer smooths variances in a way of its own (mlpack,
river, wnb, scikit-learn's partial_fit); mlpack's variances over n − 1 are allowed for. Every
library uses as many threads as it chooses to.

For a mixed table scikit-learn has no one model, so its side is what a user must write: gaps
filled in (SimpleImputer), categories encoded (OrdinalEncoder), a GaussianNB and a CategoricalNB
fitted, their log-joints added less one log prior. Where values are missing that is another model
(priory leaves the factor out); the two are compared where they are the same, on rows without
gaps.

Raw strings are Python strings in memory; scikit-learn's side is CountVectorizer and MultinomialNB
in a pipeline. Vowpal Wabbit (`--oaa`) and fastText (`epoch=1, lr=0.05`) read the same texts from a
file in one pass and learn other models, so nothing is compared; Polars groups the words by class,
and must count as many. The scripts are measured against priory's own rate for ASCII, byte for
byte.

Extra memory is the peak of resident memory during the fit over that just before, in a fresh
process."""


@dataclass(frozen=True)
class Row:
    """A row of the table: a piece of work and one peer; `theirs` is None if it was not run."""

    work: str
    data: str
    peer: str
    ours: Measured | None
    theirs: Measured | None
    required: float | None = None
    """The smallest ratio."""
    difference: float | None = None
    tolerance: float = 0.0
    unit: str = "s"
    at_most: float | None = None
    """The most megabytes that priory may take."""

    @property
    def ratio(self) -> float | None:
        """Return how many times less time or memory priory takes."""
        if self.ours is None or self.theirs is None or self.at_most is not None:
            return None
        return self.theirs.median / self.ours.median

    @property
    def reached(self) -> bool | None:
        """Return whether what is required was reached; None if nothing is, or it was not run."""
        if self.at_most is not None:
            return None if self.ours is None else self.ours.median < self.at_most
        if self.required is None:
            return None
        return None if self.ratio is None else self.ratio >= self.required

    @property
    def equal(self) -> bool | None:
        """Return whether both gave the same; None if there was nothing to compare."""
        return None if self.difference is None else self.difference <= self.tolerance

    def cells(self) -> tuple[str, ...]:
        """Return the row as text."""
        return (
            self.work, self.data, self.peer,
            quantity(self.ours, self.unit), quantity(self.theirs, self.unit),
            _ratio(self), _required(self), _reached(self), _difference(self),
        )  # fmt: skip


@dataclass(frozen=True)
class Report:
    """Everything that one run found out."""

    name: str
    rows: Sequence[Row]
    not_run: Sequence[str]
    load: float | None = None
    quick: bool = False
    curves: Mapping[str, Mapping[str, Mapping[int, Measured]]] = field(default_factory=dict)
    """Work, contender, rows: time."""
    accuracies: Sequence[tuple[str, float, float | None]] = ()
    """The read-outs of text: their accuracy, and scikit-learn's where it has the same."""

    @property
    def all_equal(self) -> bool:
        """Return whether every comparison of results came out equal."""
        return all(row.equal is not False for row in self.rows)

    def table(self) -> Table:
        """Return the table for the terminal."""
        table = Table(title="priory and its peers", title_justify="left")
        headings = HEADINGS[:1] + HEADINGS[2:]
        for i, heading in enumerate(headings):
            table.add_column(heading, justify="right" if 2 <= i <= 5 else "left")
        colours = {True: "green", False: "red", None: "dim"}
        before = None
        for row in self.rows:
            if before is not None and before != row.work:
                table.add_section()
            work, data, *middle, reached, difference = row.cells()
            table.add_row(
                "" if before == row.work else f"{work}\n[dim]{data}",
                *middle,
                f"[{colours[row.reached]}]{reached}",
                f"[{colours[row.equal]}]{difference}",
            )
            before = row.work
        return table

    def write(self, folder: Path) -> Path:
        """Write the page and its chart, if it has one, and return where."""
        folder.mkdir(parents=True, exist_ok=True)
        if self.curves:
            self._draw(folder / f"{self.name}.svg")
        page = folder / f"{self.name}.md"
        page.write_text("\n".join(self._markdown()) + "\n", encoding="utf-8")
        return page

    def _markdown(self) -> Iterable[str]:
        yield "# priory and its peers, side by side\n"
        yield "Written by `make bench`; no figure is typed by hand.\n"
        if self.quick:
            yield "**A quick run on tiny data, to see that all works: its times say nothing.**\n"
        yield "## The machine\n"
        yield from (f"- {line}" for line in machine(self.load))
        yield "\n## The table\n"
        yield "| " + " | ".join(HEADINGS) + " |"
        yield "|" + "|".join("---:" if 3 <= i <= 6 else "---" for i in range(len(HEADINGS))) + "|"
        for row in self.rows:
            yield "| " + " | ".join(row.cells()) + " |"
        yield f"\n{READING}\n"
        if self.accuracies:
            yield "## Accuracy of the read-outs of text\n"
            yield "newsgroups20, learned on the earlier messages and judged on the later ones."
            yield "scikit-learn's ComplementNB leaves the class prior out: with"
            yield '`class_prior="uniform"` priory\'s is the same.\n'
            yield "| read-out | priory | scikit-learn |\n|---|---:|---:|"
            for title, ours, theirs in self.accuracies:
                yield f"| {title} | {ours:.4f} | {'' if theirs is None else f'{theirs:.4f}'} |"
            yield ""
        if self.curves:
            yield "## Time against rows\n"
            yield f"![Time against rows, logarithmic, of priory and its peers]({self.name}.svg)\n"
        yield "## Not run\n"
        yield from [f"- {line}" for line in self.not_run] or ["Everything was run."]

    def _draw(self, path: Path) -> None:
        import matplotlib

        matplotlib.use("Agg")
        matplotlib.rcParams["svg.hashsalt"] = "priory"
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(
            1, max(len(self.curves), 1), figsize=(10, 4), sharey=True, squeeze=False,
            layout="constrained",
        )  # fmt: skip
        for axis, (work, lines) in zip(axes[0], self.curves.items(), strict=False):
            for name, points in lines.items():
                wide = 2.5 if name == "priory" else 1.2
                medians = [measured.median for measured in points.values()]
                axis.loglog(list(points), medians, marker="o", linewidth=wide, label=name)
            axis.set(title=work, xlabel="rows of 30 float64", ylabel="seconds (median)")
            axis.grid(True, which="major", alpha=0.3)
            axis.legend(frameon=False)
        figure.savefig(path, metadata={"Date": None})
        plt.close(figure)


def machine(load: float | None, packages: Sequence[str] = PACKAGES) -> list[str]:
    """Describe what the figures were measured on."""
    found = []
    for package in packages:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    busy = "unknown" if load is None else f"{load:.2f}"
    return [
        f"{_processor()}, {_cores()} cores, {platform.system()} {platform.machine()}",
        f"Python {platform.python_version()}; {', '.join(found)}",
        f"load average just before the run: {busy}",
    ]


def quantity(measured: Measured | None, unit: str = "s") -> str:
    """Return a median, the smallest value and how many there were."""
    if measured is None:
        return "not run"
    scale, name = _scale(measured.median) if unit == "s" else (1.0, unit)
    median, least = measured.median * scale, measured.least * scale
    return f"{median:.3g} ({least:.3g}) {name}, n={len(measured.values)}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown processor"


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _scale(seconds: float) -> tuple[float, str]:
    for scale, name in ((1.0, "s"), (1e3, "ms")):
        if seconds * scale >= 1:
            return scale, name
    return 1e6, "µs"


def _ratio(row: Row) -> str:
    return "" if row.ratio is None else f"{row.ratio:.3g}×"


def _required(row: Row) -> str:
    if row.at_most is not None:
        return f"< {row.at_most:g} MB"
    return "" if row.required is None else f"≥ {row.required:.3g}×"


def _reached(row: Row) -> str:
    if row.required is None and row.at_most is None:
        return ""
    return {True: "reached", False: "not reached", None: "not run"}[row.reached]


def _difference(row: Row) -> str:
    if row.difference is None:
        return ""
    sign = "≤" if row.equal else "> (DIFFERENT)"
    return f"{row.difference:.1e} {sign} {row.tolerance:.0e}"
