"""Which analyzer a column of texts has: chosen on the first rows, as the kinds of columns are.

Words, words and their pairs, and n-grams of characters are each counted on a sample of the texts,
and judged by the log-loss of a group of folds that is left out, by the second stage of texts. The
cheapest wins that is within 1 % of the best. The sample depends on the rows alone, not on their
order. What is chosen is part of the schema: nothing that is learned, loaded or merged later chooses
again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from priory.base.typing import BoolArray, CodeArray, FloatArray
from priory.data.columns import Frame, Labels, Texts
from priory.data.schema import Block, Kind, Schema
from priory.statistics.dealing import folds_of
from priory.statistics.sampling import Sample
from priory.statistics.tables import WordsTable
from priory.text.analyzer import Analyzer
from priory.text.sentences import is_unspaced
from priory.tuning.settings import Settings
from priory.tuning.word_corrections import choose
from priory.tuning.word_rows import GROUPS, WordRows

__all__ = ["with_analyzers"]

FEWEST_TEXTS = 200
"""Fewer texts keep words: what would be chosen is chance."""

LOOKED_AT = 3_000
MOST_BYTES = 3_000_000
"""So many texts, and bytes of them, are looked at."""

HASHED = 20_000
"""Of more texts, some are picked by their lengths before they are hashed."""

SHORT = 300
"""Characters are looked at where texts have fewer bytes than this: in long texts they cost more
than they tell."""

NEAR, NOTHING = 1.01, 0.0005
"""A cheaper analyzer may lose so much by, of the log-loss or in nats."""

WORDS = (Analyzer(), Analyzer(ngram_range=(1, 2)))
CHARACTERS = (Analyzer("char_wb", (2, 5)),)
UNSPACED = (Analyzer("char", (1, 2)), Analyzer("char", (1, 3)))
"""What is tried, the cheapest first."""


def with_analyzers(
    settings: Settings, schema: Schema, frame: Frame, y: Labels
) -> tuple[Schema, Frame]:
    """Choose the analyzers that are left open, and split the texts of the rows by them."""
    blocks, columns = list(schema.blocks), dict(frame.columns)
    for i, block in enumerate(blocks):
        if block.kind is not Kind.WORDS or settings.text.get(block.name) != "auto":
            continue
        if not settings.corrects or not settings.is_auto("families", block):
            continue
        texts: Any = columns[block.name]
        analyzer, why = _chosen(block, texts, y)
        blocks[i] = replace(block, analyzer=analyzer, why=why)
        columns[block.name] = texts.split_by(analyzer.splitter)
    return replace(schema, blocks=tuple(blocks)), Frame(len(frame), columns)


def _chosen(block: Block, texts: Texts, y: Labels) -> tuple[Analyzer, str]:
    """Choose the analyzer of one column, and say what it gains."""
    first = WORDS[0]
    some = _few(texts, y)
    sample = Sample.of(Frame(int(some.sum()), {block.name: texts.take(some)}), y.take(some), None,
                       LOOKED_AT)  # fmt: skip
    column: Any = sample.frame[block.name]
    there = ~column.missing
    if int(there.sum()) < FEWEST_TEXTS or len(np.unique(sample.y.codes[there])) < 2:
        return first, "declared"
    size = column.n_bytes / max(len(column), 1)
    sample = sample.take(np.flatnonzero(there)[: max(FEWEST_TEXTS, int(MOST_BYTES / size))])
    column = sample.frame[block.name]
    judged = _losses(block, column, sample, _candidates(column, size))
    best = min(loss for _, loss in judged)
    analyzer, loss = next(one for one in judged if one[1] <= NEAR * best + NOTHING)
    if analyzer == first:
        return first, f"words: log-loss {loss:.3f}, no other gains 1 %"
    return analyzer, f"{_name(analyzer)}: log-loss {loss:.3f}, by words {judged[0][1]:.3f}"


def _candidates(texts: Texts, size: float) -> Sequence[Analyzer]:
    few = [texts.value(i) or "" for i in range(min(len(texts), 500))]
    if is_unspaced(few):
        return (WORDS[0], *UNSPACED)
    return (*WORDS, *CHARACTERS) if size < SHORT else WORDS


def _losses(
    block: Block, texts: Texts, sample: Sample, candidates: Sequence[Analyzer]
) -> list[tuple[Analyzer, float]]:
    """Judge each analyzer by the log-loss of texts that were not learned."""
    y = np.unique(sample.y.codes, return_inverse=True)[1].astype(np.int32)
    K, own = int(y.max()) + 1, np.ones(len(y))
    group = (folds_of(sample.hashes) % GROUPS).astype(np.int32)
    prior = _prior(y, group, K)
    found = []
    for analyzer in candidates:
        column = texts.split_by(analyzer.splitter)
        table = WordsTable.count(replace(block, analyzer=analyzer), column, y, None, K)
        rows = WordRows.of(table, column, y, own, group)
        found.append((analyzer, choose(rows, prior, own).loss))
    return found


def _prior(y: CodeArray, group: CodeArray, K: int) -> FloatArray:
    """Give the log-shares of the classes without each row's group; the log-odds of two."""
    n = np.bincount(group.astype(np.int64) * K + y, minlength=GROUPS * K).reshape(GROUPS, K)
    left = n.sum(axis=0) - n + 1.0
    log_p = np.log(left / left.sum(axis=1, keepdims=True))
    return (log_p if K > 2 else log_p[:, 1:] - log_p[:, :1])[group]


def _few(texts: Texts, y: Labels) -> BoolArray:
    """Pick rows by the length of the text and the class: all of a length, or none."""
    n = len(texts)
    if n <= HASHED:
        return np.ones(n, dtype=np.bool_)
    lengths = np.diff(texts.starts).astype(np.uint64)
    with np.errstate(over="ignore"):
        key = lengths * np.uint64(0x9E3779B97F4A7C15) ^ (lengths << np.uint64(7))
        key = (key ^ (key >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    bound = np.partition(key, HASHED)[HASHED]
    return np.asarray(key <= bound)


def _name(analyzer: Analyzer) -> str:
    low, high = analyzer.ngram_range
    if analyzer.unit == "word":
        return "words and their pairs"
    within = " within words" if analyzer.unit == "char_wb" else ""
    return f"{low} to {high} characters{within}"
