"""The same data give the same model, whichever road they take."""

import json

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import priory
from priory.sources import open_source, update
from priory.sources.scoring import rows_of

Y = ["a", "b", "a", "b", "b", "a"] * 3

COLUMNS = {
    "integers": ["1", "2", "3", "2", "1", "30"],
    "integers with gaps": ["1", "", "3", "2", "", "30"],
    "spelled alike": ["1", "1.0", "01", "2", "2.0", "02"],
    "fractions": ["0.5", "1e3", "-2", "7.25", "+4", ".5"],
    "truths": ["TRUE", "true", "False", "true", "FALSE", "false"],
    "truths with gaps": ["TRUE", "", "False", "true", "FALSE", ""],
    "codes": ["01067", "10115", "04109", "20095", "01067", "80331"],
    "case": ["s", "S", "s", "S", "T", "t"],
    "blanks": [" ja", "ja", "nein ", "nein", "ja", " nein"],
    "dates": ["2024-01-01", "2024-02-29", "2023-12-31", "2024-01-01", "2020-06-01", "2021-01-01"],
    "moments": ["2024-01-01 10:00:00", "2024-02-29 00:00:00", "2023-12-31 23:59:59"] * 2,
    "huge": ["9007199254740993", "9007199254740995", "9007199254740993", "1", "2", "3"],
    "words": ["NA", "none", "x", "NA", "x", "-"],
}
"""As a CSV file has them; labels stay as they are, NA (Namibia) among them."""
CLASSES = {
    "strings": Y,
    "integers": ["1", "0", "1", "0", "0", "1"] * 3,
    "spelled alike": ["1", "0.0", "01", "0", "0", "1.0"] * 3,
    "truths": ["TRUE", "false", "true", "False", "false", "True"] * 3,
    "with gaps": ["a", "b", "NA", "b", "?", "a"] * 3,
    "integers with gaps": ["1", "0", "-", "0", "n/a", "1"] * 3,
    "blanks": [" ja", "ja", "nein ", "nein", "ja", " nein"] * 3,
    "case": ["s", "S", "s", "S", "S", "s"] * 3,
    "none is a class": ["none", "soft", "hard", "none", "soft", "hard"] * 3,
}


def frame_of(x, y):
    """Read the columns with the types that a careful user of pandas would give them."""
    return pd.DataFrame({"x": typed(x), "y": y if typed(y) is None else typed(y)})


def typed(texts):
    texts = list(texts)
    if {"-", "n/a"} <= set(texts):
        texts = ["" if text in ("-", "n/a") else text for text in texts]
    known = [text for text in texts if text]
    codes = {len(text) for text in known} == {5} and any(text[0] == "0" for text in known)
    if {text.lower() for text in known} <= {"true", "false"}:
        values = [None if not text else text.lower() == "true" for text in texts]
        return pd.array(values, dtype="boolean") if None in values else pd.Series(values)
    if not codes:
        for convert in (lambda s: pd.array([int(t) if t else None for t in s], dtype="Int64"),
                        lambda s: pd.Series([float(t) if t else None for t in s]),
                        lambda s: pd.to_datetime(pd.Series(s), format="ISO8601")):  # fmt: skip
            try:
                found = convert(texts)
            except (ValueError, TypeError):
                continue
            return pd.Series(found)
    return pd.Series([text or None for text in texts], dtype=object)


def write_csv(texts, path):
    rows = zip(*texts.values(), strict=True)
    lines = [",".join(texts), *(",".join(row) for row in rows)]
    path.write_text("\n".join(lines) + "\n")
    return path


def write_lines(frame, path):
    records = json.loads(frame.to_json(orient="records", date_format="iso"))
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def write_array(frame, path):
    path.write_text(frame.to_json(orient="records", date_format="iso"))
    return path


def write_duckdb(frame, path):
    path.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as base:
        base.register("given", pa.Table.from_pandas(frame, preserve_index=False))
        base.execute("CREATE TABLE days AS SELECT * FROM given")
    return path


def roads(frame, folder):
    """Send a table along every road."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    pq.write_table(table, folder / "a.parquet")
    pyarrow.feather.write_feather(table, folder / "a.feather")
    with pa.ipc.new_stream(folder / "a.arrows", table.schema) as stream:
        stream.write_table(table)
    yield "pandas", frame
    yield "polars", pl.from_arrow(table)
    yield "arrow", table
    yield "stream", table.to_reader(5)
    yield "parquet", folder / "a.parquet"
    yield "feather", folder / "a.feather"
    yield "stream in a file", folder / "a.arrows"
    yield "query", f"SELECT * FROM '{folder / 'a.parquet'}'"
    yield "relation", duckdb.read_parquet(str(folder / "a.parquet"))
    yield "database", write_duckdb(frame, folder / "a.duckdb")
    yield "a condition", table
    yield "dict", {name: table[name].to_pylist() for name in table.column_names}
    yield "rows", table.to_pylist()


@pytest.mark.filterwarnings("ignore:.*have no 'y' and were skipped", "ignore:.*is read as labels")
@pytest.mark.parametrize(
    ("x", "y"),
    [*((name, "strings") for name in COLUMNS), *(("fractions", name) for name in CLASSES)],
)
def test_the_same_model_by_every_road(tmp_path, x, y):
    texts = {"x": COLUMNS[x] * 3, "y": CLASSES[y]}
    path = write_csv(texts, tmp_path / "a.csv")
    expected = priory.train(path, "y").statistics
    frame = frame_of(texts["x"], texts["y"])
    for road, source in roads(frame, tmp_path):
        where = "1 = 1" if road == "a condition" else None
        found = priory.train(source, "y", where=where).statistics
        assert found.classes == expected.classes, road
        assert [type(c) for c in found.classes] == [type(c) for c in expected.classes], road
        assert found == expected, road
    if x not in ("dates", "moments", "huge"):  # JSON has no dates
        for write, name in ((write_lines, "a.jsonl"), (write_array, "a.json")):
            assert priory.train(write(frame, tmp_path / name), "y").statistics == expected, name


def test_what_was_learned_from_one_road_is_predicted_on_another(tmp_path):
    texts = {"x": COLUMNS["integers with gaps"] * 3, "z": COLUMNS["blanks"] * 3, "y": Y}
    frame = pd.DataFrame({"x": typed(texts["x"]), "z": texts["z"], "y": Y})
    path = write_csv(texts, tmp_path / "a.csv")
    model = priory.train(path, "y")
    (expected,) = [model.predict_proba(X).tolist() for X, _ in rows_of(model, path)]
    for road, source in roads(frame, tmp_path):
        found = [p for X, _ in rows_of(model, source) for p in model.predict_proba(X).tolist()]
        assert found == expected, road
    before = model.statistics
    assert update(model, path) == 18
    assert model.statistics.n_rows == 2 * before.n_rows


def test_names_that_differ_in_case_alone(tmp_path):
    texts = {"s": ["1", "2", "3", "4"], "S": ["u", "v", "u", "v"], "y": list("abab")}
    path = write_csv(texts, tmp_path / "a.csv")
    expected = priory.train(path, "y").statistics
    table = pa.table({"s": [1, 2, 3, 4], "S": texts["S"], "y": texts["y"]})
    pq.write_table(table, tmp_path / "a.parquet")
    pyarrow.feather.write_feather(table, tmp_path / "a.feather")
    query = "SELECT x AS s, z AS S, y FROM (VALUES (1, 'u', 'a'), (2, 'v', 'b'), (3, 'u', 'a'), "
    for source in (
        table,
        table.to_pandas(),
        tmp_path / "a.parquet",
        tmp_path / "a.feather",
        query + "(4, 'v', 'b')) AS t(x, z, y)",
    ):
        assert open_source(source).columns == ("s", "S", "y")
        assert priory.train(source, "y").statistics == expected
    assert priory.train(tmp_path / "a.parquet", "y", where="y <> 'z'").statistics == expected


def test_a_join_with_a_name_twice():
    query = "SELECT a.*, b.* FROM (VALUES (1, 'a'), (2, 'b')) AS a(id, y), (VALUES (7)) AS b(id)"
    assert open_source(query).columns == ("id", "y", "id_1")
