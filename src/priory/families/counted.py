"""What families of counts share, be the counts those of columns or of the words of texts.

Rows are sparse here: the words (or columns) that each has, and how often.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from priory.base.formatting import number
from priory.base.typing import AnyArray, BoolArray, FloatArray, Label
from priory.data.columns import Counts, SparseRows, Texts
from priory.families.base import Adder, log_gamma
from priory.families.counts_without import Scores
from priory.families.evidence import log_dirichlet_evidence
from priory.families.left_out import LeftOut
from priory.families.parts import Part, Parts
from priory.families.priors import DiscretePrior
from priory.families.sums import Sums
from priory.families.weights import Weights
from priory.kernels.score import add_counts_csr, add_counts_dense
from priory.kernels.vocabulary import Vocabulary
from priory.kernels.words import count_matrix

if TYPE_CHECKING:
    from priory.families.posteriors import DirichletPosterior

__all__ = [
    "add_counts",
    "log_evidence",
    "log_orders",
    "orders_left_out",
    "posterior",
    "presence_parts",
    "row_adder",
    "share_parts",
    "sparse_rows",
    "word_counts",
]


def sparse_rows(column: Counts) -> SparseRows:
    """Keep what is not 0 of dense or sparse rows; above a threshold, that is 1."""
    matrix = column.matrix
    if isinstance(matrix, SparseRows):
        some = slice(int(matrix.indptr[0]), int(matrix.indptr[-1]))
        places, x, indptr = matrix.indices[some], matrix.data[some], matrix.indptr - some.start
        if not x.all():
            ends = np.concatenate([[0], np.cumsum(x != 0)])
            places, x, indptr = places[x != 0], x[x != 0], ends[indptr]
    else:
        there = matrix if column.threshold is None else matrix > column.threshold
        rows, places = np.nonzero(there)
        x = np.asarray(there[rows, places])
        indptr = np.searchsorted(rows, np.arange(len(matrix) + 1))
    return SparseRows(x.astype(np.float64), places, indptr, matrix.shape[1])


def word_counts(column: Texts, vocabulary: Vocabulary, kept: BoolArray | None = None) -> SparseRows:
    """Count the words of each text that a vocabulary has, or those of them that are kept."""
    indptr, codes, tf = count_matrix(*column.buffers, vocabulary, column.splitter)
    if kept is not None and not kept[codes].all():
        some = kept[codes]
        ends = np.concatenate([[0], np.cumsum(some)])
        indptr, codes, tf = ends[indptr], codes[some], tf[some]
    return SparseRows(tf.astype(np.float64), codes, indptr, len(vocabulary))


def add_counts(column: Counts, weights: FloatArray, out: FloatArray) -> None:
    """Add Σ_j x_j weights[j, k] to `out`, with 0 · (−∞) = 0."""
    matrix = column.matrix
    if isinstance(matrix, SparseRows):
        add_counts_csr(matrix.data, matrix.indices, matrix.indptr, weights, out)
    else:
        add_counts_dense(matrix, weights, out)


def row_adder(column: Counts, left_out: LeftOut, scores: Scores) -> Adder:
    """Add the scores of rows that are left out, a stretch at a time."""

    def add(rows: slice, out: FloatArray) -> None:
        out += scores(sparse_rows(column.take(rows)), left_out.take(rows))

    return add


def log_evidence(sums: Sums, prior: DiscretePrior) -> float:
    """Take the evidence of what was counted, in its order, under the Dirichlet of each class."""
    pseudo = sums.pseudo_counts(prior)
    # Words of a class are few among all: those it never had add nothing but to A.
    return sum(
        log_dirichlet_evidence(n, pseudo[words], float(pseudo.sum()))
        for _, words, n in sums.of_classes()
    )


def posterior(
    sums: Sums, prior: DiscretePrior, classes: tuple[Label, ...], names: Sequence[Label]
) -> DirichletPosterior:
    """Give the Dirichlet over the shares of the words that are read out, which have these names."""
    from priory.families.posteriors import DirichletPosterior

    after = sums.grid + sums.pseudo_counts(prior)
    return DirichletPosterior(classes, names, after[:, sums.kept])


def log_orders(rows: SparseRows) -> FloatArray:
    """Take the log of the multinomial coefficient n! / Π x! of each row."""
    return _log_factorial(rows.row_sums(np.asarray)) - rows.row_sums(_log_factorial)


def orders_left_out(log_coefficient: float) -> list[str]:
    """Remark that what was counted could have come in other orders.

    >>> orders_left_out(np.log(12.0)), orders_left_out(0.0)
    (['left out: n! / Π x! = 12 orders, the same for every class'], [])
    """
    if log_coefficient < 1e-9:
        return []
    return [
        f"left out: n! / Π x! = {number(float(log_coefficient))} orders, the same for every class"
    ]


def share_parts(
    names: Sequence[str],
    x: FloatArray,
    weights: FloatArray,
    meaning: str,
    notes: Sequence[str] = (),
    noun: str = "columns",
) -> Parts:
    """Write a line for each word of a row: x times its weights, words × classes.

    The meaning of a weight is that of log P("class") or −log P("not class"), or just a "weight".
    """
    title = "e^weight of {}" if meaning == "weight" else f"P({{}} | {meaning})"
    sign = -1.0 if meaning == "not class" else 1.0
    each = [
        Part(title.format(name), times * weight, sign * times)
        for name, times, weight in zip(names, x.tolist(), weights, strict=True)
    ]
    return Parts(each, notes=notes, noun=noun)


def presence_parts(
    weights: Weights,
    words: AnyArray,
    names: Sequence[str],
    notes: Sequence[str] = (),
    noun: str = "columns",
) -> Parts:
    """Write p of each word that is there, and Π (1 − p) of the others together."""
    log_on, log_off = weights.log_presence(words)
    absent = np.zeros(weights.n_classes) if weights.bias is None else weights.bias
    if weights.certain is None:
        absent = absent - log_off.sum(axis=0)
    else:  # of a word that cannot be absent the bias has what its weight takes back
        always = np.isneginf(log_off)
        absent = absent - np.where(always, -weights.of(words), log_off).sum(axis=0)
        absent[always.sum(axis=0) < weights.certain.words_of_class] = -np.inf
    each = [Part(f"P({name} is there | class)", p) for name, p in zip(names, log_on, strict=True)]
    n = int(weights.kept.sum()) - len(words)
    title = f"1 {noun[:-1]} that is not there" if n == 1 else f"{n} {noun} that are not there"
    return Parts(each, [Part(title, absent)] if n else [], notes, noun)


def _log_factorial(x: AnyArray) -> FloatArray:
    distinct, where = np.unique(x, return_inverse=True)
    if not len(distinct):
        return np.zeros(np.shape(x))
    result: FloatArray = log_gamma(distinct + 1.0)[where].reshape(np.shape(x))
    return result
