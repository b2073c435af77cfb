"""What the engine computes is what the kernels compute: cells, their level, and hashes."""

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from priory.data.columns import Frame, Labels, Numbers
from priory.databases.dialects import DIALECTS
from priory.databases.queries import Lookup, Rows, literal
from priory.statistics.cells import CELL_LIMIT, coarsest_needed, key_of
from priory.statistics.hashing import class_hashes, number_seed, row_hashes

DUCKDB = DIALECTS["duckdb"]
NASTY = [0.0, -0.0, 5e-324, -5e-324, 1e150, -1e150, 1.0, np.nextafter(1.0, 2.0), -1.5, 2.0**-1022]
ROWS = Rows(DUCKDB, "given", "y", None, {"x": "x"})


@pytest.fixture(scope="module")
def base():
    with duckdb.connect() as made:
        yield made


def select(base, values, query):
    base.register("given", pa.table({"x": values, "y": ["a"] * len(values)}))
    return base.sql(query).to_arrow_table()


@pytest.mark.parametrize("seed", range(4))
def test_the_level_of_cells(base, seed):
    rng = np.random.default_rng(seed)
    scale = [1.0, 1e-300, 1e5, 1e100][seed]
    values = np.concatenate([NASTY, rng.standard_cauchy(3000) * scale, np.full(10, np.nan)])
    level = select(base, values, ROWS.level("x", 10_000))["level"][0].as_py()
    keys = np.unique(key_of(values[~np.isnan(values)], 0))
    assert level == coarsest_needed(keys, CELL_LIMIT)
    found = select(base, values, ROWS.numbers("x", max(level - 3, 0), 0.0))
    assert max(level - 3, 0) + found["coarser"][0].as_py() == level
    mine, counts = np.unique(key_of(values[~np.isnan(values)], level), return_counts=True)
    np.testing.assert_array_equal(DUCKDB.unpacked(found["keys"][0], "i8"), mine)
    np.testing.assert_array_equal(DUCKDB.unpacked(found["cells"][0], "i4"), counts)


@pytest.mark.parametrize("n", [CELL_LIMIT - 1, CELL_LIMIT, CELL_LIMIT + 1])
def test_the_level_at_the_limit(base, n):
    values = np.arange(n, dtype=float) - n / 2
    level = select(base, values, ROWS.level("x", 10_000))["level"][0].as_py()
    assert level == coarsest_needed(np.unique(key_of(values, 0)), CELL_LIMIT)


@settings(max_examples=15)
@given(st.lists(st.floats(width=64), min_size=1, max_size=20))
def test_the_hash_of_rows(values):
    values = np.array([*values, *NASTY])
    y = Labels(np.zeros(len(values), dtype=np.int32), ("a",))
    expected = row_hashes(Frame(len(values), {"x": Numbers(values[:, None])}), y)
    classes = {literal("a", DUCKDB): (int(class_hashes(y)[0]), 2**64 - 1)}
    query = ROWS.sample(classes, {"none": Lookup({})}, {"x": number_seed("x")})
    with duckdb.connect() as base:
        found = select(base, values, query)
    assert set(found["h"].to_pylist()) == set(expected.tolist())
    assert sum(found["n"].to_pylist()) == len(values)
