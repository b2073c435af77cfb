"""Expressions of users: conditions in SQL, and events of belief networks.

A condition is refused, or it filters; it never writes. An event is refused with its place.
"""

import os
from pathlib import Path

import pandas as pd

from priory.base.errors import PrioryError
from priory.network import JointTable
from priory.sources.opening import open_source

TOKENS = [
    "a", "b", "1", "'x'", "=", "<>", "<", ">", "AND", "OR", "NOT", "(", ")", ";", ",", "*", "+",
    "--", "/*", "*/", "'", '"', "IN", "BETWEEN", "LIKE", "IS NULL", "CASE WHEN", "THEN", "END",
    "SELECT", "FROM", "WHERE", "UNION", "LIMIT 1", "ORDER BY a", "COPY (SELECT 1) TO 'stolen.csv'",
    "read_csv('/etc/passwd')", "read_text('/etc/passwd')", "ATTACH 'stolen.db'", "EXISTS", "::INT",
    "getenv('HOME')", "glob('/*')", "INSTALL httpfs", "\x00", "\n", "é", "$1", "?", "[1]", "{}",
    "lambda x: x", "query('SELECT 1')", "pragma_version()", "SET threads = 1", "1e999", "|", "~",
]  # fmt: skip


def run(rng, folder, enough):
    """Attack until it is enough; return what was done."""
    os.chdir(folder)
    rows = {"a": ["x", "y", "x"], "b": [1, 2, 3]}
    pd.DataFrame(rows).to_csv("data.csv", index=False)
    table = JointTable.from_data(pd.DataFrame({"a": ["x", "y", "x"], "b": ["p", "q", "q"]}))
    there = sorted(Path(folder).iterdir())
    conditions = events = answered = 0
    while not enough(conditions + events):
        words = [TOKENS[i] for i in rng.integers(0, len(TOKENS), rng.integers(1, 12))]
        text = rng.choice(["", " "]).join(words)
        if rng.random() < 0.4:  # hardly wrong, or right
            parts = ["a = 'x'", "b > 1", "NOT (a = 'y')", "b IS NULL", "a=x", "b=p", "a=x, b=q"]
            some = [parts[i] for i in rng.integers(0, len(parts), rng.integers(1, 4))]
            text = " AND ".join([*some, words[0]] if rng.random() < 0.5 else some)
        try:
            if rng.random() < 0.5:
                conditions += 1
                source = open_source("data.csv", where=text)
                try:
                    list(source.batches(source.forms()))
                finally:
                    source.close()
            else:
                events += 1
                table.p(text)
            answered += 1
        except PrioryError:
            pass
        except Exception as error:
            raise AssertionError(f"{text!r}: {error!r}") from error
        assert sorted(Path(folder).iterdir()) == there, f"{text!r} wrote a file"
    return f"{conditions} conditions and {events} events, of which {answered} were answered"
