"""Count a table of a database: streamed out, or inside it; beside plain GROUP BY and plain reading.

python -m benchmarks.databases [ROWS] [postgresql://…]

Prints seconds, the smallest of three interleaved repeats, and the bytes that came back.
"""

from __future__ import annotations

import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from priory import Settings
from priory.sources import open_source, train

LABELS, INTEGERS, NUMBERS = 8, 4, 8
REPEATS = 3


def table(n: int) -> pa.Table:
    """Make 20 mixed columns and a class of three."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n)
    columns = {}
    for j in range(LABELS):
        names = np.array([f"v{i}" for i in range(4 * (j + 1))])
        columns[f"label{j}"] = pa.array(names[(rng.poisson(2 + y)) % len(names)])
    columns |= {f"count{j}": pa.array(rng.poisson(3 + j + y)) for j in range(INTEGERS)}
    columns |= {f"number{j}": pa.array(rng.normal(y, 1.0 + j)) for j in range(NUMBERS)}
    return pa.table({**columns, "y": pa.array(np.array(["a", "b", "c"])[y])})


def roads(address: str) -> dict[str, object]:
    """List what is timed of one database."""
    settings = Settings.textbook(sample_size=50_000)

    def trained(inside: bool) -> str:
        source = open_source(address, table="rows")
        train(source, "y", settings=settings, in_database=inside, progress=False)
        return str(source.road.received or "")

    def read() -> str:
        with closing(open_source(address, table="rows")) as source:
            n = sum(batch.n_rows for batch in source.batches(source.forms()))
        return f"{n:,} rows"

    def grouped(names: list[str]) -> None:
        with closing(open_source(address, table="rows")) as source:
            y = source.expression("y")
            for name in names:
                sql = source.expression(name)
                source.select(f"SELECT {y}, {sql}, count(*) FROM {source.filtered()} GROUP BY 1, 2")

    labels = [f"label{j}" for j in range(LABELS)]
    every = [
        *labels,
        *(f"count{j}" for j in range(INTEGERS)),
        *(f"number{j}" for j in range(NUMBERS)),
    ]
    return {
        "rows read, not counted": read,
        "streamed": lambda: trained(False),
        "counted inside": lambda: trained(True),
        f"GROUP BY of {len(labels)} labels": lambda: grouped(labels),
        f"GROUP BY of {len(every)} columns": lambda: grouped(every),
    }


def measure(title: str, address: str) -> None:
    """Time every road, interleaved."""
    best: dict[str, float] = {}
    told: dict[str, object] = {}
    for _ in range(REPEATS):
        for name, run in roads(address).items():
            start = time.perf_counter()
            told[name] = run()  # type: ignore[operator]
            best[name] = min(best.get(name, np.inf), time.perf_counter() - start)
    for name, seconds in best.items():
        print(f"| {title} | {name} | {seconds:.2f} s | {told[name] or ''} |", flush=True)


def main(n: int = 2_000_000, address: str = "") -> None:
    """Write the table to the databases, and measure."""
    rows = table(n)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.duckdb"
        with duckdb.connect(str(file)) as base:
            base.register("given", rows)
            base.execute("CREATE TABLE rows AS SELECT * FROM given")
        measure("DuckDB", f"duckdb:///{file}")
    if address:
        import adbc_driver_postgresql.dbapi as adbc

        with adbc.connect(address) as connection:
            with connection.cursor() as cursor:
                cursor.adbc_ingest("rows", rows, mode="replace")
                cursor.execute("ANALYZE rows")
            connection.commit()
        measure("PostgreSQL", address)


if __name__ == "__main__":
    main(*(int(a) if a.isdigit() else a for a in sys.argv[1:]))
