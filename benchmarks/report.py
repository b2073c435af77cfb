"""What is shown: the tables in the terminal and in Markdown, the chart, the page of all parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from benchmarks.measure import Measured
from benchmarks.store import Part

__all__ = [
    "READING",
    "Row",
    "Section",
    "all_equal",
    "compared",
    "draw",
    "draw_lines",
    "markdown",
    "page",
    "quantity",
    "reached",
    "terminal",
    "write_part",
]

Section = Callable[[Mapping[str, Any]], Iterator[str]]
"""Gives the lines that show what a part found."""

Curves = Mapping[str, Mapping[str, Mapping[Any, float]]]
"""A value of each panel, contender and number of rows."""

HEADINGS = (
    "work", "data", "peer", "priory", "the peer", "ratio", "required", "reached",
    "largest difference",
)  # fmt: skip

READING = """\
Times are medians, the smallest in parentheses, n is the number of repeats. The contenders take
turns (A B C A B C …) on the same data in memory, after one warm-up each, with the garbage
collector off. The ratio is the peer's median over priory's. The largest difference is that of
the log-joints after a fit, or of the predictions, on a slice of the rows; of probabilities where
the peer gives no logarithms (mlpack, river) or predict_proba is measured. It is checked against
the tolerance beside it: 1e-8, but more where a peer smooths variances in a way of its own (mlpack,
river, wnb, scikit-learn's partial_fit); mlpack's variances over n − 1 are allowed for. Every
library uses as many threads as it chooses to. Extra memory is the peak of resident memory during
the fit over that just before, in a fresh process."""


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

    @classmethod
    def of(cls, kept: Mapping[str, Any]) -> Row:
        """Return a row that was kept as JSON."""
        times = {name: kept[name] and Measured(**kept[name]) for name in ("ours", "theirs")}
        return cls(**{**kept, **times})

    def cells(self) -> tuple[str, ...]:
        """Return the row as text."""
        return (
            self.work, self.data, self.peer,
            quantity(self.ours, self.unit), quantity(self.theirs, self.unit),
            _ratio(self), _required(self), _reached(self), _difference(self),
        )  # fmt: skip


def all_equal(rows: Iterable[Row]) -> bool:
    """Return whether every comparison of results came out equal."""
    return all(row.equal is not False for row in rows)


def terminal(rows: Iterable[Row]) -> Table:
    """Return the rows as a table for the terminal."""
    table = Table(title="priory and its peers", title_justify="left")
    headings = HEADINGS[:1] + HEADINGS[2:]
    for i, heading in enumerate(headings):
        table.add_column(heading, justify="right" if 2 <= i <= 5 else "left")
    colours = {True: "green", False: "red", None: "dim"}
    before = None
    for row in rows:
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


def markdown(
    headings: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int]
) -> Iterator[str]:
    """Give the lines of a table, the columns `right` aligned so."""
    yield "| " + " | ".join(headings) + " |"
    yield "|" + "|".join("---:" if i in set(right) else "---" for i in range(len(headings))) + "|"
    yield from ("| " + " | ".join(row) + " |" for row in rows)


def compared(data: Mapping[str, Any]) -> Iterator[str]:
    """Give the section of a part that is rows of works and peers."""
    yield from markdown(HEADINGS, [Row.of(row).cells() for row in data["rows"]], range(3, 7))
    if data["not_run"]:
        yield from ("\nNot run:\n", *(f"- {line}" for line in data["not_run"]))


def page(parts: Mapping[str, tuple[str, Section]], folder: Path) -> str:
    """Return the page of all parts, each as it was last measured: their titles and sections."""
    lines = ["# priory and its peers, side by side\n"]
    lines += ["Written by `make bench` out of the last run of each part, which is kept in"]
    lines += ["`benchmarks/results/`; no figure is typed by hand. `make bench PART=texts` measures"]
    lines += ["one part anew.\n"]
    for name, (title, section) in parts.items():
        lines += [f"## {title}\n"]
        if not (folder / f"{name}.json").is_file():
            lines += ["Not measured.\n"]
            continue
        part = Part.load(name, folder)
        lines += [f"- `{name}`, measured {part.date}{part.note and f'; {part.note}'}"]
        lines += [*(f"- {line}" for line in part.machine), "", *section(part.data), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def draw(curves: Curves, path: Path) -> None:
    """Draw seconds against rows: of each work, contender and number of rows."""
    draw_lines(curves, path, "rows of 30 float64", "seconds (median)")


def draw_lines(curves: Curves, path: Path, x: str, y: str, columns: int = 2) -> None:
    """Draw a panel for each title, with a line for each contender, on logarithmic axes."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "priory"
    import matplotlib.pyplot as plt

    rows = max(-(-len(curves) // columns), 1)
    across = min(columns, max(len(curves), 1))
    figure, axes = plt.subplots(
        rows, across, figsize=(5 * across, 4 * rows), sharey=rows == 1, squeeze=False,
        layout="constrained",
    )  # fmt: skip
    for axis, (title, lines) in zip(axes.flat, curves.items(), strict=False):
        for name, points in lines.items():
            wide = 2.5 if name.startswith("priory") else 1.2
            axis.loglog(
                [int(n) for n in points],
                list(points.values()),
                marker="o",
                linewidth=wide,
                label=name,
            )
        axis.set(title=title, xlabel=x, ylabel=y)
        axis.grid(True, which="major", alpha=0.3)
        axis.legend(frameon=False)
    for axis in axes.flat[len(curves) :]:
        axis.set_axis_off()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def quantity(measured: Measured | None, unit: str = "s") -> str:
    """Return a median, the smallest value and how many there were."""
    if measured is None:
        return "not run"
    scale, name = _scale(measured.median) if unit == "s" else (1.0, unit)
    median, least = measured.median * scale, measured.least * scale
    return f"{median:.3g} ({least:.3g}) {name}, n={measured.n}"


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


def reached(is_so: bool | None) -> str:
    """Return in words whether what is required was reached; None: it was not run."""
    return {True: "reached", False: "not reached", None: "not run"}[is_so]


def _reached(row: Row) -> str:
    return "" if row.required is None and row.at_most is None else reached(row.reached)


def _difference(row: Row) -> str:
    if row.difference is None:
        return ""
    sign = "≤" if row.equal else "> (DIFFERENT)"
    return f"{row.difference:.1e} {sign} {row.tolerance:.0e}"


def write_part(page: Path, heading: str, part: str, text: str) -> None:
    """Put a part of a page where it stood, or at the end of the page."""
    whole = page.read_text(encoding="utf-8") if page.exists() else f"# {heading}\n"
    begin, end = f"<!-- {part}: begin -->", f"<!-- {part}: end -->"
    block = f"{begin}\n## {part.capitalize()}\n\n{text}{end}\n"
    if begin in whole:
        before, rest = whole.split(begin, 1)
        whole = before + block + rest.split(end + "\n", 1)[1]
    else:
        whole += f"\n{block}"
    page.write_text(whole, encoding="utf-8")
