"""The cases that every engine must count as one machine does, and what "as" means."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from priory import Settings
from priory.text import Analyzer

N = 3000


@dataclass(frozen=True)
class Case:
    """A table, and the options to train with."""

    table: pa.Table
    options: dict = field(default_factory=dict)
    target: str = "y"


def mixed(n=N, seed=0):
    """Make columns of every common kind, with gaps, whose values tell something of the class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    gap = rng.random((6, n)) < 0.1

    def with_gaps(values, i):
        return pa.array(values, mask=gap[i])

    return {
        "number": with_gaps(rng.normal(y * 0.7, 1.0), 0),
        "single": with_gaps(rng.gamma(2.0, 1.0 + y).astype(np.float32), 1),
        "count": with_gaps(rng.poisson(2 + y), 2),
        "size": with_gaps(rng.choice(["s", "m", "l"], n), 3),
        "colour": with_gaps(np.where(rng.random(n) < 0.4, np.take(["r", "g", "b"], y), "w"), 4),
        "ripe": with_gaps(rng.random(n) < 0.3 + 0.2 * y, 5),
        "y": pa.array(np.take(["apple", "pear", "plum"], y)),
    }


def plain():
    return Case(pa.table(mixed()))


def weighted():
    rng = np.random.default_rng(1)
    return Case(pa.table({**mixed(), "w": rng.gamma(2.0, 0.5, N)}), {"weight": "w"})


def late():
    """Rows after the first look bring a category, a class, and values of an empty column."""
    n = 24_000
    columns = mixed(n)
    y = np.array(columns["y"].to_pylist(), dtype=object)
    size = np.array(columns["size"].to_pylist(), dtype=object)
    new = np.array([None] * n, dtype=object)
    y[-500:], size[-1500:], new[-2000:] = "quince", "xxl", "late"
    return Case(pa.table({**columns, "y": y, "size": size, "new": pa.array(new, pa.string())}))


def times():
    rng = np.random.default_rng(2)
    seconds = rng.integers(0, 10**8, N).tolist()
    naive = [datetime(2020, 1, 1) + timedelta(seconds=s, microseconds=s % 10**6) for s in seconds]
    known = [
        None if s % 7 == 0 else t.replace(tzinfo=UTC) for s, t in zip(seconds, naive, strict=True)
    ]
    price = [None if s % 5 == 0 else Decimal(s % 10**6).scaleb(-2) for s in seconds]
    return Case(
        pa.table(
            {
                **mixed(),
                "naive": pa.array(naive, pa.timestamp("us")),
                "known": pa.array(known, pa.timestamp("us", "UTC")),
                "day": pa.array([t.date() for t in naive], pa.date32()),
                "price": pa.array(price, pa.decimal128(12, 2)),
            }
        )
    )


def texts(analyzer):
    rng = np.random.default_rng(3)
    columns = mixed()
    words = np.array([f"word{i}" for i in range(300)])
    of_class = {label: rng.dirichlet(np.full(300, 0.1)) for label in ("apple", "pear", "plum")}
    notes = [
        None if i % 11 == 0 else " ".join(rng.choice(words, 12, p=of_class[label]))
        for i, label in enumerate(columns["y"].to_pylist())
    ]
    return Case(pa.table({**columns, "note": notes}), {"text": {"note": analyzer}})


def without_class():
    columns = mixed()
    y = [None if i % 9 == 0 else label for i, label in enumerate(columns["y"].to_pylist())]
    return Case(pa.table({**columns, "y": y}))


def integer_classes():
    columns = mixed()
    y = pa.array(np.random.default_rng(4).integers(0, 4, N) * 10)
    return Case(pa.table({**columns, "y": y}))


def condition():
    return Case(pa.table(mixed()), {"where": "count < 5 AND colour <> 'w'", "na_values": ["m"]})


def structure(name):
    return lambda: Case(pa.table(mixed()), {"structure": name})


CASES = {
    "plain": plain,
    "weights": weighted,
    "late": late,
    "times": times,
    "texts": lambda: texts(Analyzer("word")),
    "texts, the analyzer chosen": lambda: texts("auto"),
    "rows without a class": without_class,
    "integer classes": integer_classes,
    "condition": condition,
    "tan": structure("tan"),
    "aode": structure("aode"),
    "textbook": lambda: Case(pa.table(mixed()), {"settings": Settings.textbook()}),
    "without pairs": lambda: Case(pa.table(mixed()), {"pairs": None}),
}


def check_same(found, expected, rows):
    """Compare counts to the bit, moments to 1e-12, samples, weights and predictions."""
    check_same_sums(found.statistics, expected.statistics)
    here, there = found.tuning_sample, expected.tuning_sample
    assert (here is None) == (there is None)
    if here is not None:
        np.testing.assert_array_equal(here.hashes, there.hashes)
        np.testing.assert_array_equal(here.rows, there.rows)
        np.testing.assert_allclose(here.weight, there.weight, rtol=1e-12)
    assert found.weights.keys() == expected.weights.keys()
    for column, weight in expected.weights.items():
        assert abs(found.weights[column] - weight) < 1e-7, column
    assert str(found.schema) == str(expected.schema)
    assert found.provenance.target == expected.provenance.target
    np.testing.assert_allclose(
        found.predict_proba(rows), expected.predict_proba(rows), rtol=1e-6, atol=1e-9
    )
    np.testing.assert_array_equal(found.predict(rows), expected.predict(rows))


def check_same_sums(found, expected):
    assert found.classes == expected.classes
    here, there = sorted_sums(found), sorted_sums(expected)
    for name in "block", "part", "class", "key", "rows":
        assert here[name].to_pylist() == there[name].to_pylist(), name
    for name in "weight", "s1", "s2":
        a, b = (np.asarray(t[name]) + np.asarray(t[f"{name}_lo"]) for t in (here, there))
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


def sorted_sums(statistics):
    """List the sums, but for `passed`, by which rounding is bounded: it knows of the parts."""
    table = statistics.to_arrow()
    table = table.filter(pc.not_equal(table["part"].cast(pa.string()), "passed"))
    for name in "block", "part", "class", "key":
        i = table.schema.get_field_index(name)
        table = table.set_column(i, name, table[name].cast(pa.string()))
    return table.sort_by([(name, "ascending") for name in ("block", "part", "class", "key")])
