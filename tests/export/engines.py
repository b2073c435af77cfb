"""The engines that exported SQL runs on: DuckDB, SQLite, and a real PostgreSQL server."""

import atexit
import io
import os
import shutil
import sqlite3
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import duckdb
import pandas as pd

SCRIPT = Path(__file__).parents[2] / "scripts" / "postgres.sh"
TYPES = {"b": "boolean", "i": "bigint", "u": "bigint", "f": "double precision"}


@cache
def server() -> tuple[str, str]:
    """Start PostgreSQL, once for these tests; return its port, or "" and why there is none."""
    if os.name != "posix" or os.environ.get("PRIORY_NO_POSTGRES"):
        return "", "PostgreSQL is started on POSIX, unless PRIORY_NO_POSTGRES is set"
    folder = tempfile.mkdtemp(prefix="priory-postgres-")
    started = subprocess.run([SCRIPT, "start", folder], capture_output=True, text=True, timeout=400)
    if started.returncode:
        shutil.rmtree(folder, ignore_errors=True)
        return "", started.stderr.strip() or f"{SCRIPT.name} failed"

    def stop():
        subprocess.run([SCRIPT, "stop", folder], capture_output=True, timeout=60)
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(stop)
    return started.stdout.strip(), ""


def duckdb_(table, query):
    connection = duckdb.connect()
    connection.register("days", table)
    return connection.execute(query).df()


def sqlite(table, query):
    connection = sqlite3.connect(":memory:")
    table.to_sql("days", connection, index=False)
    return pd.read_sql_query(query, connection)


def postgres(table, query):
    port, _ = server()
    kinds = {name: TYPES.get(column.dtype.kind, "text") for name, column in table.items()}
    for name, column in table.items():
        there = [value for value in column if value is not None and value == value]
        if there and all(isinstance(value, bool) for value in there):
            kinds[name] = "boolean"
    quoted = {name: '"' + name.replace('"', '""') + '"' for name in table}
    columns = ", ".join(f"{quoted[name]} {kinds[name]}" for name in table)
    rows = table.to_csv(index=False, header=False)
    script = f"CREATE TEMP TABLE days ({columns});\nCOPY days FROM STDIN (FORMAT csv);\n{rows}\\.\n"
    psql = ["psql", "-h", "127.0.0.1", "-p", port, "-U", "tests", "-q", "--csv", "tests"]
    done = subprocess.run(
        [*psql, "-v", "ON_ERROR_STOP=1", "-f", "-"],
        input=f"{script}{query};\n",
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-1500:]
    found = pd.read_csv(io.StringIO(done.stdout))
    if found["prediction"].isin(["t", "f"]).all():
        found["prediction"] = found["prediction"] == "t"
    return found


duckdb_.__name__ = "duckdb"
NO_POSTGRES = server()[1]
ENGINES = [duckdb_, sqlite] if NO_POSTGRES else [duckdb_, sqlite, postgres]
