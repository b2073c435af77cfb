"""Statistics as one long table, and what is wrong with tables that are not one."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from priory.base.errors import InputError
from priory.data.reading import infer, read, read_labels
from priory.statistics.longtable import COLUMNS, SUMS, Part
from priory.statistics.statistics import Statistics

DAYS = {
    "outlook": ["Sunny", "Rain", None, "Öl", "Rain"],
    "humidity": [85.0, 70.1, 80.3, None, 1e9],
    "windy": [True, False, True, None, False],
}
PLAY = ["No", "Yes", 1, True, "Yes"]


def count(X=DAYS, y=PLAY):
    schema = infer(X)
    return Statistics.count(read(X, schema), read_labels(y), schema)


def changed(table, header=None, **columns):
    for name, values in columns.items():
        table = table.set_column(table.column_names.index(name), name, values)
    plain = json.loads(count().to_arrow().schema.metadata[b"priory"]) | (header or {})
    return table.replace_schema_metadata({"priory": json.dumps(plain)})


def test_it_has_a_row_for_each_sum():
    table = count().to_arrow()
    assert tuple(table.column_names) == COLUMNS + SUMS
    rain = table.filter(pc.equal(table["key"].cast(pa.string()), '"Rain"')).to_pylist()
    assert [(r["block"], r["part"], r["class"], r["rows"], r["weight"]) for r in rain] == [
        ("outlook", "labels", '"Yes"', 2, 2.0)
    ]
    classes = table.filter(pc.is_null(table["block"])).to_pylist()
    assert [(r["class"], r["rows"]) for r in classes] == [
        ("true", 1),
        ("1", 1),
        ('"No"', 1),
        ('"Yes"', 2),
    ]


def test_moments_are_double_doubles():
    y = ["a", "b", "b", "a", "b"]
    table = count({"x": [1e9 + 0.1, 2.0, 0.1, 1e9 + 0.3, 0.2]}, y).to_arrow()
    row = table.filter(pc.equal(table["part"].cast(pa.string()), "moments")).to_pylist()[0]
    exact = sum(int(x * 2**30) ** 2 for x in (1e9 + 0.1, 1e9 + 0.3))
    assert int(row["s2"]) * 2**60 + int(row["s2_lo"] * 2**60) == exact


def test_rows_may_come_in_any_order():
    table = count().to_arrow()
    order = np.random.default_rng(0).permutation(len(table))
    assert Statistics.from_arrow(table.take(order)) == count()


def test_rows_may_come_in_any_chunks_and_with_plain_strings():
    table = count().to_arrow()
    plain = pa.table(
        {
            name: table[name].cast(pa.string()) if name in COLUMNS[:4] else table[name]
            for name in table.column_names
        }
    ).replace_schema_metadata(table.schema.metadata)
    assert Statistics.from_arrow(plain) == count()
    chunked = pa.concat_tables([plain.slice(i, 3) for i in range(0, len(plain), 3)])
    assert Statistics.from_arrow(chunked) == count()


def test_two_tables_one_below_the_other_are_their_sum():
    table = count().to_arrow()
    assert Statistics.from_arrow(pa.concat_tables([table, table])) == count() + count()


def test_it_survives_a_parquet_file(tmp_path):
    import pyarrow.parquet as pq

    pq.write_table(count().to_arrow(), tmp_path / "statistics.parquet")
    assert Statistics.from_arrow(pq.read_table(tmp_path / "statistics.parquet")) == count()


def test_a_table_without_the_header_is_refused():
    with pytest.raises(InputError, match="does not hold statistics of priory"):
        Statistics.from_arrow(count().to_arrow().replace_schema_metadata(None))


def test_a_table_of_other_columns_is_refused():
    table = count().to_arrow()
    with pytest.raises(InputError, match="must have the columns block, part, class, key, rows"):
        Statistics.from_arrow(table.drop_columns(["s2_lo"]))
    with pytest.raises(InputError, match="does not hold statistics of priory"):
        Statistics.from_arrow(pa.table({"x": [1]}))


@pytest.mark.parametrize("version", [0, 99, None])
def test_another_version_is_refused(version):
    table = changed(count().to_arrow(), {"version": version})
    with pytest.raises(InputError, match=f"have version {version}; this priory reads 1"):
        Statistics.from_arrow(table)


def test_a_class_that_the_header_lacks_is_refused():
    table = changed(count().to_arrow(), {"classes": ['"No"']})
    with pytest.raises(InputError, match=r"name a class .* that the header lacks"):
        Statistics.from_arrow(table)


def test_a_column_that_the_block_lacks_is_refused():
    table = count().to_arrow()
    keys = ['"moisture"' if key == '"humidity"' else key for key in table["key"].to_pylist()]
    table = changed(table, key=pa.array(keys, pa.string()))
    with pytest.raises(InputError, match='name a column "moisture" that the block lacks'):
        Statistics.from_arrow(table)


def test_entries_without_rows_are_not_written():
    rows = np.array([[0, 2, 0], [1, 0, 0]])
    part = Part.of_grid("labels", ("p", "q", "r"), rows, rows * 0.5)
    assert part.classes.tolist() == [0, 1]
    assert part.keys.tolist() == [1, 0]
    assert part.weight.hi.tolist() == [1.0, 0.5]
    back, weight = part.grid(2, 3)
    np.testing.assert_array_equal(back, rows)
    np.testing.assert_array_equal(weight, rows * 0.5)
