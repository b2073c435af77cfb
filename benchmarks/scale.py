"""What many small partitions cost: counting a row, adding two parts, and what a part weighs.

python -m benchmarks.scale [PARTITIONS] [ROWS]

The calculation of docs/scale.md is linear: rows ÷ workers ÷ speed, and as many additions one after
the other as a tree has levels. This measures whether the cost of a row and of an addition stay what
they are while partitions and rows grow.
"""

from __future__ import annotations

import pickle
import sys
import time

from benchmarks.databases import table
from priory import Settings
from priory.classifier import Counter


def main(partitions: int = 64, rows: int = 20_000) -> None:
    """Count partitions, add them up tree-wise, and print what each step took."""
    settings = Settings()
    data = table(partitions * rows)
    look = Counter(settings)
    look.add(data.slice(0, rows).drop(["y"]), data.slice(0, rows)["y"])
    start, parts = time.process_time(), []
    for i in range(partitions):
        part = data.slice(i * rows, rows)
        counter = Counter(settings, look.schema, sample_size=int(settings.sample_size))
        counter.add(part.drop(["y"]), part["y"])
        parts.append((counter.total(), counter.sample))
    counted = time.process_time() - start
    print(f"counting: {1e6 * counted / (partitions * rows):.2f} µs of the processor a row")
    print("| parts added | rows | bytes of sums | bytes of the sample | seconds an addition |")
    print("|---:|---:|---:|---:|---:|")
    level = 1
    while len(parts) > 1:
        start = time.process_time()
        pairs = zip(parts[::2], parts[1::2], strict=True)
        parts = [(a + c, b + d) for (a, b), (c, d) in pairs]
        each = (time.process_time() - start) / len(parts)
        level *= 2
        statistics, sample = parts[0]
        sizes = (len(pickle.dumps(thing, 5)) for thing in (statistics, sample))
        told = " | ".join(f"{size:,}" for size in sizes)
        print(f"| {level} | {statistics.n_rows:,} | {told} | {each:.3f} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
