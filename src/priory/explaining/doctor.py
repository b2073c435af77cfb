"""The assumption doctor: which columns are not independent given the class, and what to do.

Naive Bayes takes columns to be independent given the class. What two of them share is

    I(A; B | class) = Σ P(a, b, k) log2( P(a, b | k) / (P(a | k) P(b | k)) )

bits, less what chance shows. Whether that matters is another question: what counts is how many bits
fewer the classes take once the two are one factor, each row left out of the counts in turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log
from typing import TYPE_CHECKING, Any

import numpy as np

from priory.base.formatting import aligned
from priory.base.html import html_table, html_together
from priory.base.typing import CodeArray, FloatArray
from priory.data.columns import Frame
from priory.model.model import Model
from priory.statistics.information import by_chance, by_chance_of_many, mutual_information
from priory.statistics.statistics import Statistics
from priory.tuning.corrections import coded_columns
from priory.tuning.settings import Settings

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["DependentColumns", "Diagnosis", "diagnose"]

BINS, MOST_LABELS, MOST_COLUMNS = 10, 50, 60
"""Numbers are cut into so many bins, rare labels are left out, and of more columns the first."""

SAME = 0.8
"""Columns that share more of what the lesser one tells say the same."""

WORTH = 0.001
"""Fewer bits a row are not worth a factor of two columns."""

STRENGTH = 4.0
"""So many imagined rows, spread as independence says, are in the counts of two columns."""

MOST_SHOWN, MOST_ADVISED = 20, 8


@dataclass(frozen=True)
class DependentColumns:
    """Hold two columns, what they share given the class, and what joining them would gain."""

    columns: tuple[str, str]
    bits: float
    """What they share given the class, beyond chance."""
    share: float
    """Which part that is of what the lesser of the two tells at all."""
    gain: float
    """By how many bits a row the classes are told better by both together."""
    is_joined: bool
    """Whether the model has a factor or a correction of both."""
    is_refused: bool
    """Whether they say more together, but tuning, which judges by rows left out, let them be."""
    advice: str
    """What to do about it."""


@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis:
    """Pairs of columns that depend on each other given the class, the strongest first.

    >>> from priory import NaiveBayes
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 500)
    >>> a = (y + (rng.random(500) < 0.3)) % 2
    >>> X = {"a": a, "again": a, "b": rng.integers(0, 3, 500)}
    >>> print(NaiveBayes.textbook(families="categorical").fit(X, y).diagnose(X, y))
    columns   bits shared  share  gain  joined
    a, again         0.86   100%  0.11      no
    <BLANKLINE>
    'a' and 'again' say the same, which naive Bayes counts twice: leave one out, or let the default
    weigh and correct them.
    """

    pairs: tuple[DependentColumns, ...]
    n_rows: int
    n_columns: int

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[DependentColumns]:
        return iter(self.pairs)

    def __getitem__(self, i: int) -> DependentColumns:
        return self.pairs[i]

    def __repr__(self) -> str:
        return f"<Diagnosis: {len(self)} pairs of {self.n_columns} columns depend on each other>"

    def __str__(self) -> str:
        if not self.pairs:
            return self._nothing()
        return "\n".join([aligned(self._rows(), right=True), "", *self._remarks()])

    def _repr_html_(self) -> str:
        if not self.pairs:
            return html_together(remarks=[self._nothing()])
        head, *rows = self._rows()
        return html_together(html_table(head, rows), remarks=self._remarks())

    def _nothing(self) -> str:
        return (
            f"No two of {self.n_columns} columns depend on each other given the class, beyond what "
            f"chance shows in {self.n_rows:,} rows."
        )

    def advice(self) -> list[str]:
        """List a sentence for each pair that is worth one."""
        matter = [p for p in self.pairs if not p.is_joined and (p.gain >= WORTH or p.share >= SAME)]
        matter.sort(key=lambda pair: -pair.gain)
        some = [pair.advice for pair in matter if not pair.is_refused][:MOST_ADVISED]
        refused = [pair for pair in matter if pair.is_refused]
        some += [pair.advice for pair in refused[:1]]
        if more := len(refused) - 1 if refused else 0:
            some.append(f"So it is with {more} more pair{'s' * (more != 1)}.")
        if not matter and any(not pair.is_joined for pair in self.pairs):
            some.append("Joining columns would gain nothing.")
        joined = sum(pair.is_joined for pair in self.pairs)
        if joined:
            some.append(f"The model allows for {joined} of {len(self)} pairs that depend.")
        return some

    def _remarks(self) -> list[str]:
        more = len(self) - MOST_SHOWN
        return [*self.advice(), *([f"({more} weaker pairs are not shown)"] if more > 0 else [])]

    def _rows(self) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = [("columns", "bits shared", "share", "gain", "joined")]
        return rows + [
            (
                ", ".join(pair.columns),
                f"{pair.bits:.2f}",
                f"{pair.share:.0%}",
                f"{pair.gain:.2f}",
                "yes" if pair.is_joined else "no",
            )
            for pair in self.pairs[:MOST_SHOWN]
        ]

    def to_frame(self) -> pd.DataFrame:
        """Tabulate all pairs."""
        import pandas as pd

        return pd.DataFrame(self.to_dict()["pairs"])

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain JSON values."""
        pairs = [
            {
                "first": pair.columns[0],
                "second": pair.columns[1],
                "bits": pair.bits,
                "share": pair.share,
                "gain": pair.gain,
                "joined": pair.is_joined,
                "advice": pair.advice,
            }
            for pair in self.pairs
        ]
        return {"rows": self.n_rows, "columns": self.n_columns, "pairs": pairs}


def diagnose(
    model: Model,
    statistics: Statistics,
    frame: Frame,
    y: CodeArray,
    weight: FloatArray | None,
    settings: Settings,
) -> Diagnosis:
    """Look at all pairs of columns, in rows with their classes."""
    used = {c for term in model.terms if term.counts for c in term.block.columns}
    names = [b.name for b in statistics.schema.counted if b.pairing is None and b.name in used]
    columns = coded_columns(statistics, names, BINS, MOST_LABELS)[:MOST_COLUMNS]
    codes = [column.codes(frame) for column in columns]
    joined = {
        frozenset(pair)
        for term in model.terms
        if term.counts and len(term.block.columns) > 1
        for pair in combinations(term.block.columns, 2)
    }
    # As many rows as weights are worth (Kish 1965): what chance shows depends on their number.
    own = np.ones(len(y)) if weight is None else weight * (weight.sum() / (weight @ weight))
    K, pairs = len(statistics.classes), list(combinations(range(len(columns)), 2))

    def counts(i: int, j: int) -> FloatArray:
        return _counts([codes[i], codes[j]], [columns[i].size, columns[j].size], y, own, K)

    told, freedom = np.array([_shared(counts(*pair)) for pair in pairs]).reshape(-1, 2).T
    found = []
    for at in np.flatnonzero(told > by_chance_of_many(told, freedom)):
        i, j = pairs[at]
        both = columns[i].block.name, columns[j].block.name
        pair = _pair(counts(i, j), told[at] - float(by_chance(freedom[at])))
        told_of = (both, *pair, frozenset(both) in joined)
        is_open = not told_of[-1] and told_of[2] < SAME and told_of[3] >= WORTH
        refused = settings.learns_pairs and is_open
        found.append(DependentColumns(*told_of, refused, _advice(*told_of, settings)))
    found.sort(key=lambda pair: -pair.bits)
    return Diagnosis(tuple(found), len(y), len(columns))


def _advice(
    columns: tuple[str, str],
    bits: float,
    share: float,
    gain: float,
    is_joined: bool,
    settings: Settings,
) -> str:
    """Say what to do about two columns that depend on each other; what was done is not advised."""
    both = f"{columns[0]!r} and {columns[1]!r}"
    if is_joined:
        return f"{both} depend on each other, and the model allows for it."
    if share >= SAME and settings.corrects:
        return (
            f"{both} say the same: the model weighs and corrects them so that they do not count "
            "twice, and one of them may do."
        )
    if share >= SAME:
        return (
            f"{both} say the same, which naive Bayes counts twice: leave one out, or let the "
            "default weigh and correct them."
        )
    if gain < WORTH:
        return f"{both} depend on each other, but joining them would gain nothing."
    if settings.learns_pairs:
        return (
            f"{both} say more together, up to {gain:.3f} bits a row. The model corrects pairs by "
            "which rows left out are told better, and this one was not among them."
        )
    if settings.structure == "naive":
        return (
            f"{both} say more together: pairs='auto', the default, or structure='tan' would gain "
            f"up to {gain:.3f} bits a row."
        )
    return (
        f"{both} say more together, up to {gain:.3f} bits a row, and the structure of the model "
        "does not join them."
    )


def _counts(
    codes: Sequence[CodeArray], sizes: Sequence[int], y: CodeArray, own: FloatArray, K: int
) -> FloatArray:
    """Count classes × values × values."""
    a, b = codes
    known = (a >= 0) & (b >= 0)
    cell = (y[known].astype(np.int64) * sizes[0] + a[known]) * sizes[1] + b[known]
    counts = np.bincount(cell, own[known], K * sizes[0] * sizes[1])
    return np.asarray(counts, dtype=np.float64).reshape(K, *sizes)


def _shared(counts: FloatArray) -> tuple[float, int]:
    """Measure n · I of two columns given the class, and count its degrees of freedom."""
    seen_a, seen_b = (counts.sum(axis=axis) > 0 for axis in (2, 1))
    free = np.maximum(seen_a.sum(axis=1) - 1, 0) @ np.maximum(seen_b.sum(axis=1) - 1, 0)
    return mutual_information(counts) * float(counts.sum()), int(free)


def _pair(counts: FloatArray, told: float) -> tuple[float, float, float]:
    """Measure what two columns share, in bits, which part that is, and what joining them gains."""
    least = min(_entropy(counts.sum(axis=2)), _entropy(counts.sum(axis=1)))
    share = min(mutual_information(counts) / least, 1.0) if least > 0 else 0.0
    return told / float(counts.sum()) / log(2.0), share, _gain(counts)


def _entropy(counts: FloatArray) -> float:
    """Work out H(A | class) of classes × values, in nats."""
    of_class = counts.sum(axis=1, keepdims=True)
    seen = counts > 0
    ratio = np.divide(counts, of_class, out=np.ones_like(counts), where=seen)
    return float(-(counts * np.log(ratio)).sum() / counts.sum())


def _gain(counts: FloatArray) -> float:
    """Work out by how many bits a row both columns in one factor tell the class better.

    Every row is left out of the counts that score it.
    """
    K, V, W = counts.shape
    apart, joined = np.zeros((2, K, V, W))
    for y in range(K):  # the rows of one class: for each cell, scores of all classes
        scores = np.zeros((2, K, V, W))
        for k in range(K):
            left = 1.0 if k == y else 0.0
            n = np.maximum(counts[k] - left, 0.0)
            n_a = np.maximum(counts[k].sum(axis=1, keepdims=True) - left, 0.0)
            n_b = np.maximum(counts[k].sum(axis=0, keepdims=True) - left, 0.0)
            total = max(counts[k].sum() - left, 0.0)
            alone = (n_a + 1.0) / (total + V) * (n_b + 1.0) / (total + W)
            both = (n + STRENGTH * alone) / (total + STRENGTH)
            prior = np.log(total + 1.0)
            scores[:, k] = prior + np.log(np.stack([alone, both]))
        normal = np.logaddexp.reduce(scores, axis=1)
        apart[y], joined[y] = scores[0, y] - normal[0], scores[1, y] - normal[1]
    return float((counts * (joined - apart)).sum() / counts.sum() / np.log(2.0))
