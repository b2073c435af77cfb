"""Texts larger than memory, and statistics of many words or classes: `python -m benchmarks.stream`.

A stream of texts whose vocabulary never stops growing is learned chunk by chunk with a limit, and
the memory of the whole process is told. Then two large tables of words are learned, and their size
is compared with that of an array of words × classes.
"""

from __future__ import annotations

import argparse
import resource
import sys
from collections.abc import Iterator

import numpy as np

import priory
from benchmarks.works import SEED

__all__ = ["chunks", "main"]

CHUNK = 16_000_000
"""So many bytes of text are made, and learned, at a time."""


def chunks(n_bytes: int, n_classes: int = 2) -> Iterator[tuple[list[str], np.ndarray]]:
    """Give texts in chunks: frequent words come again, and a tenth of all words is new."""
    rng = np.random.default_rng(SEED)
    common = np.array([f"w{i:x}" for i in range(50_000)], dtype=object)
    chance = 1 / (np.arange(len(common)) + 3.0)
    steps = np.cumsum(chance / chance.sum())
    steps[-1] = 1.0
    made = new = 0
    while made < n_bytes:
        size = CHUNK // 6
        tokens = common[np.searchsorted(steps, rng.random(size))]
        fresh = np.flatnonzero(rng.random(size) < 0.1)
        tokens[fresh] = [f"n{i:x}" for i in range(new, new + len(fresh))]
        new += len(fresh)
        texts = [" ".join(tokens[i : i + 100]) for i in range(0, size, 100)]
        made += sum(map(len, texts))
        yield texts, rng.integers(0, n_classes, len(texts))


def peak() -> float:
    """Return the most memory that the process ever had, in MB."""
    scale = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale / 1e6


def learn_stream(n_bytes: int, limit: int) -> None:
    """Learn a stream with a limit of words, and tell the memory."""
    model = priory.TextNB.textbook().set_params(max_features=limit)
    read = 0
    for texts, y in chunks(n_bytes):
        model.partial_fit(texts, y, classes=[0, 1])
        read += sum(map(len, texts))
    table = model.classifier_.statistics.tables["text"]
    print(
        f"{read / 1e6:,.0f} MB of text, at most {limit:,} words asked for: {table.n_words:,} words "
        f"kept, {table.dropped.sum():,.0f} occurrences dropped; peak memory {peak():,.0f} MB"
    )


def learn_many(n_words: int, n_classes: int) -> None:
    """Learn a vocabulary of which most words are in few classes, and tell the size."""
    rng = np.random.default_rng(SEED)
    per_text = 100
    n_texts = 3 * n_words // per_text
    words = rng.permutation(3 * n_words) % n_words  # every word three times
    texts = [
        " ".join([f"w{i:x}" for i in words[first : first + per_text]])
        for first in range(0, per_text * n_texts, per_text)
    ]
    y = rng.integers(0, n_classes, len(texts))
    model = priory.TextNB.textbook().fit(texts, y)
    table = model.classifier_.statistics.tables["text"]
    sums = sum(array.nbytes for array in table.pairs) / 1e6
    dense = 8 * 3 * table.n_words * n_classes / 1e6
    before = peak()
    model.predict_proba(texts[:1000])
    print(
        f"{table.n_words:,} words × {n_classes:,} classes: sums {sums:,.0f} MB, as arrays of words "
        f"× classes {dense:,.0f} MB; peak memory {before:,.0f} MB, with prediction {peak():,.0f} MB"
    )


def main() -> int:
    """Measure one thing, for the peak is that of a process."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stream", description=__doc__)
    parser.add_argument("what", choices=["stream", "words", "classes"])
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--limit", type=int, default=100_000)
    arguments = parser.parse_args()
    if arguments.what == "stream":
        learn_stream(arguments.megabytes * 1_000_000, arguments.limit)
    elif arguments.what == "words":
        learn_many(1_000_000, 20)
    else:
        learn_many(200_000, 1000)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
