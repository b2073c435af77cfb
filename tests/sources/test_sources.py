"""Every source gives the same statistics, and says in one line what is wrong with it."""

import gzip
import json
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import priory
from priory import Classifier, NaiveBayes, Settings, leave_one_out, train
from priory.base.errors import (
    ForgetError,
    IdentifierWarning,
    InputError,
    MissingValueError,
    PrioryWarning,
    SchemaError,
    SettingError,
)
from priory.data.schema import Kind
from priory.sources import forget, open_source, update
from priory.sources.base import SAMPLE_ROWS, Form
from priory.sources.counting import in_known_types
from priory.sources.prefetch import prefetch
from priory.sources.tables import format_of
from priory.statistics import Statistics

DATA = Path(__file__).parents[3] / "shared" / "data"
TEXTBOOK = {"families": "plain", "smoothing": 1.0}


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    n = 400
    return pd.DataFrame(
        {
            "colour": rng.choice(["red", "green", "a, b", 'say "x"'], n),
            "size": rng.normal(size=n).round(3),
            "whole": rng.integers(0, 9, n),
            "truth": rng.random(n) < 0.5,
            "gap": np.where(rng.random(n) < 0.3, np.nan, rng.integers(0, 5, n)),
            "class": rng.choice(["no", "yes"], n),
        }
    )


@pytest.fixture(scope="module")
def expected(frame) -> Statistics:
    X, y = frame.drop(columns="class"), frame["class"]
    return Classifier(Settings.textbook(**TEXTBOOK)).update(X, y).statistics


def write(frame, path: Path) -> Path:
    name = path.name
    if ".csv" in name:
        frame.to_csv(path, index=False)
    elif ".tsv" in name:
        frame.to_csv(path, index=False, sep="\t")
    elif name.endswith((".parquet", ".data")):
        frame.to_parquet(path, index=False)
    elif ".jsonl" in name:
        frame.to_json(path, orient="records", lines=True)
    else:
        pyarrow.feather.write_feather(pa.Table.from_pandas(frame, preserve_index=False), str(path))
    return path


FILES = [
    "a.csv",
    "a.csv.gz",
    "a.tsv",
    "a.tsv.gz",
    "a.parquet",
    "a.jsonl",
    "a.jsonl.gz",
    "a.feather",
]


@pytest.mark.parametrize("name", [*FILES, "a.arrow"])
def test_files_of_every_format(frame, expected, tmp_path, name):
    classifier = train(write(frame, tmp_path / name), "class", **TEXTBOOK)
    assert classifier.statistics == expected
    assert classifier.provenance.target == "class"
    assert [source.rows for source in classifier.provenance.sources] == [400]


def test_formats_are_told_by_the_bytes_where_the_name_does_not(frame, tmp_path):
    for name, format_ in [("a.parquet", "parquet"), ("a.feather", "arrow"), ("a.jsonl", "json")]:
        bare = tmp_path / f"bare-{format_}"
        write(frame, tmp_path / name).rename(bare)
        assert format_of(str(bare)) == format_
    duckdb.connect(str(tmp_path / "base")).close()
    assert format_of(str(tmp_path / "base")) == "duckdb"


@pytest.mark.parametrize(
    "make",
    [
        lambda frame: frame,
        pl.from_pandas,
        lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
        lambda frame: pa.Table.from_pandas(frame, preserve_index=False).to_reader(37),
        lambda frame: frame.to_dict("list"),
        lambda frame: frame.to_dict("records"),
        duckdb.from_df,
    ],
    ids=["pandas", "polars", "arrow", "stream", "dict", "records", "relation"],
)
@pytest.mark.parametrize("where", [None, "whole < 5"])
def test_tables_and_streams(frame, expected, make, where):
    source = make(frame)
    if where is None:
        assert train(source, "class", **TEXTBOOK).statistics.rows.tolist() == expected.rows.tolist()
        return
    some = frame[frame["whole"] < 5]
    if isinstance(source, list):
        source = pa.Table.from_pylist(source)
    found = train(source, "class", where=where, **TEXTBOOK).statistics
    assert_close(found, train(some, "class", **TEXTBOOK).statistics)


def test_a_relation_is_left_as_it_was(frame):
    connection = duckdb.connect()
    connection.register("days", frame)
    relation = connection.sql("SELECT * FROM days")
    train(relation, "class")
    assert connection.sql("SELECT count(*) FROM days").fetchall() == [(400,)]


def test_globs_lists_and_queries(frame, expected, tmp_path):
    paths = [tmp_path / f"part{i}.csv" for i in range(3)]
    for i, path in enumerate(paths):
        part = frame.iloc[i::3]
        # The columns may stand in another order.
        write(part[list(reversed(part.columns))] if i == 1 else part, path)
    for source in (tmp_path / "part*.csv", paths, list(map(str, paths))):
        assert_close(train(source, "class", **TEXTBOOK).statistics, expected)
    write(frame, tmp_path / "whole.parquet")
    query = f"SELECT * FROM '{tmp_path}/whole.parquet'"
    assert_close(train(query, "class", **TEXTBOOK).statistics, expected)
    query = f"SET threads = 1; CREATE TEMP TABLE t AS {query}; SELECT * FROM t"
    assert_close(train(query, "class", **TEXTBOOK).statistics, expected)


def test_attached_databases(frame, expected, tmp_path):
    base = tmp_path / "base.duckdb"
    with duckdb.connect(str(base)) as connection:
        connection.register("days", frame)
        connection.execute("CREATE TABLE kept AS SELECT * FROM days")
    found = train("SELECT * FROM db.kept", "class", attach={"db": str(base)}, **TEXTBOOK)
    assert_close(found.statistics, expected)
    with pytest.raises(InputError, match=r"There is no database .*other.duckdb to attach"):
        train("SELECT 1", "x", attach={"db": str(tmp_path / "other.duckdb")})


def assert_close(found, expected):
    """Hold counts to be equal and moments to 1e-12: rows may have come in another order."""
    assert found.classes == expected.classes
    assert found.rows.tolist() == expected.rows.tolist()
    assert {b.name: b.kind for b in found.schema} == {b.name: b.kind for b in expected.schema}
    for name, table in found.tables.items():
        other = expected.tables[name]
        if not hasattr(table, "moments"):
            assert table == other
            continue
        assert table.cells == other.cells
        np.testing.assert_allclose(table.moments.mean, other.moments.mean, rtol=1e-12)
        np.testing.assert_allclose(table.moments.scatter, other.moments.scatter, rtol=1e-11)


def test_parquet_files_of_several_types_are_one_table(tmp_path):
    pq.write_table(pa.table({"x": [1, 2], "y": ["a", "b"]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"y": ["a", "b"], "x": ["u", "v"]}), tmp_path / "2.parquet")
    found = train(tmp_path / "*.parquet", "y").statistics
    assert found.tables["x"].labels == ("1", "2", "u", "v")


# Roles


def test_drop_weight_and_where(frame, tmp_path):
    path = write(frame, tmp_path / "a.csv")
    found = train(path, "class", drop=["colour"], weight="whole", where="size > 0 and truth")
    some = frame[(frame["size"] > 0) & frame["truth"]]
    X, y = some.drop(columns=["class", "colour", "whole"]), some["class"]
    expected = Classifier(Settings.textbook("auto", "auto")).update(X, y, some["whole"])
    assert_close(found.statistics, expected.statistics)
    np.testing.assert_allclose(found.statistics.weight, expected.statistics.weight)
    assert found.provenance.dropped == ("colour",)
    assert found.provenance.weight == "whole"
    assert train(path, "class", drop="size").statistics.schema.columns == (
        "colour", "whole", "truth", "gap",
    )  # fmt: skip


def test_settings_reach_the_model(frame, tmp_path):
    path = write(frame, tmp_path / "a.csv")
    families = {"whole": "categorical", ("size", "gap"): "multivariate-gaussian"}
    found = train(path, "class", families=families)
    assert found.statistics.schema["whole"].kind is Kind.LABELS
    assert found.statistics.tables["whole"].labels == tuple(range(9))
    again = train(path, "class", settings=Settings.textbook(families, smoothing=0.5))
    assert again.settings.smoothing == 0.5 and again.statistics == found.statistics
    with pytest.raises(MissingValueError, match=r"Column 'gap' has \d+ missing values"):
        train(path, "class", missing="error")
    with pytest.raises(SchemaError, match=r"Column 'wholes' was not found.*Did you mean 'whole'"):
        train(path, "class", families={"wholes": "categorical"})


def test_na_values(tmp_path):
    csv = tmp_path / "a.csv"
    csv.write_text("x,w,y\n1,?,a\n?,u,b\n3,NA,a\nNA,v,b\n")
    found = train(csv, "y", na_values=["?", "NA"]).statistics
    assert found.schema["x"].kind is Kind.NUMBERS
    assert found.tables["w"].labels == ("u", "v")
    lines = tmp_path / "a.jsonl"
    lines.write_text('{"x": 1, "w": "?", "y": "a"}\n{"x": null, "w": "u", "y": "b"}\n')
    assert train(lines, "y", na_values="?").statistics.tables["w"].labels == ("u",)
    table = pd.read_csv(csv, keep_default_na=False)
    assert train(table, "y", na_values=["?", "NA"]).statistics.tables["w"].labels == ("u", "v")


def test_rows_without_a_class_are_left_out_with_a_warning(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n1,a\n2,\n3,b\n4,\n5,a\n")
    with pytest.warns(PrioryWarning, match=r"2 rows of .*a.csv have no 'y' and were skipped"):
        found = train(path, "y").statistics
    assert found.rows.tolist() == [2, 1]
    with pytest.warns(PrioryWarning, match=r"2 rows of DataFrame have no 'y'"):
        assert train(pd.read_csv(path), "y").statistics == found


# Types of classes


@pytest.mark.parametrize(
    ("written", "classes"),
    [
        (["1", "2", "10"], (1, 2, 10)),
        (["1.0", "0.0"], (0, 1)),
        (["True", "False"], (False, True)),
        (["true", "maybe"], ("maybe", "true")),
        (["1", "x"], ("1", "x")),
        (["1", "01", "2", "2.0"], (1, 2)),
        (["01", "10"], ("01", "10")),
        (["TRUE", "true", "False"], (False, True)),
        (["10", "9", "8", "-1"], (-1, 8, 9, 10)),
    ],
)
def test_classes_have_the_type_that_all_of_them_have(tmp_path, written, classes):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n" + "".join(f"v{i},{y}\n" for i, y in enumerate(written)))
    found = train(path, "y")
    assert found.classes == classes
    assert [type(c) for c in found.classes] == [type(c) for c in classes]
    for i, y in enumerate(written):
        row = found.statistics.tables["x"].rows[
            :, found.statistics.tables["x"].labels.index(f"v{i}")
        ]
        label = found.classes[int(np.argmax(row))]
        assert str(label).lower() == y.lower() or float(label) == float(y)
    update(found, path)
    assert found.classes == classes


def test_types_of_classes_alone():
    labels = priory.data.reading.read_labels(["1", "x"])
    assert in_known_types(labels, (1, 2)).labels == ("1", "x")
    assert in_known_types(labels, ()) is labels


# Kinds that widen


def late(tmp_path, value: str, n: int = SAMPLE_ROWS + 500, distinct: int = 7) -> Path:
    path = tmp_path / "late.csv"
    rows = [f"{i % distinct},{i % 3},{'ab'[i % 2]}" for i in range(n)]
    path.write_text("x,z,y\n" + "\n".join([*rows, f"{value},1,a"]) + "\n")
    return path


@pytest.mark.parametrize("distinct", [7, 5000])
def test_numbers_that_later_hold_text_become_labels(tmp_path, distinct):
    path = late(tmp_path, "many", distinct=distinct)
    with pytest.warns(PrioryWarning, match=r"Column 'x' \('many'\) holds numbers in the first"):
        found = train(path, "y", **TEXTBOOK)
    table = pd.read_csv(path, dtype={"x": str})
    expected = Classifier(Settings.textbook(**TEXTBOOK)).update(table[["x", "z"]], table["y"])
    assert_close(found.statistics, expected.statistics)
    assert found.statistics.schema["x"].why == "numbers at first, then text"
    assert found.statistics.n_rows == len(table)


def test_what_stands_for_a_gap_keeps_them_numbers(tmp_path):
    found = train(late(tmp_path, "many"), "y", na_values="many")
    assert found.statistics.schema["x"].kind is Kind.NUMBERS
    found = train(late(tmp_path, "Unknown"), "y")
    assert found.statistics.schema["x"].kind is Kind.NUMBERS


def test_a_column_that_is_empty_at_first(tmp_path):
    path = tmp_path / "late.csv"
    for value, kind in (("7", Kind.NUMBERS), ("seven", Kind.LABELS)):
        rows = [f",{'ab'[i % 2]}" for i in range(SAMPLE_ROWS + 9)] + [f"{value},a"] * 3
        path.write_text("x,y\n" + "\n".join(rows) + "\n")
        if kind is Kind.LABELS:
            with pytest.warns(PrioryWarning, match=r"'x' \('seven'\)"):
                found = train(path, "y")
        else:
            found = train(path, "y")
        assert found.statistics.schema["x"].kind is kind
        assert found.statistics.tables["x"].as_labels().rows.sum() == 3


def test_a_declared_column_must_be_as_declared(tmp_path):
    with pytest.raises(
        SchemaError, match=r"Line 20,982 of .*: column 'x' is read as numbers, but holds 'many'"
    ):
        train(late(tmp_path, "many"), "y", families={"x": "gaussian"})


def test_json_lines_widen_too(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({"x": x, "y": "ab"[i % 2]}) + "\n"
                            for i, x in enumerate([1, 2, 3, "x", None, True])))  # fmt: skip
    with pytest.warns(PrioryWarning, match=r"Column 'x' is read as labels, though 60.0% of its"):
        found = train(path, "y").statistics
    assert found.tables["x"].labels == ("1", "2", "3", "true", "x")


def test_seventy_columns_of_which_the_last_widens(tmp_path):
    path = tmp_path / "wide.csv"
    names = [f"c{i}" for i in range(70)]
    rows = [",".join([str(i % 3)] * 70 + ["ab"[i % 2]]) for i in range(SAMPLE_ROWS + 10)]
    rows.append(",".join(["1"] * 69 + ["late", "a"]))
    path.write_text(",".join([*names, "y"]) + "\n" + "\n".join(rows) + "\n")
    with pytest.warns(PrioryWarning, match=r"Column 'c69' \('late'\) holds"):
        found = train(path, "y", families="plain", smoothing=1.0, weights=None).statistics
    kinds = {block.name: block.kind for block in found.schema}
    assert kinds.pop("c69") is Kind.LABELS and set(kinds.values()) == {Kind.NUMBERS}


def test_names_of_rows_are_found(tmp_path):
    path = tmp_path / "names.csv"
    rows = [f"row {i},{i % 5},{'ab'[i % 2]}" for i in range(3000)]
    path.write_text("id,x,y\n" + "\n".join(rows) + "\n")
    with pytest.warns(IdentifierWarning, match=r"Column 'id' has hardly two rows alike"):
        found = train(path, "y")
    assert found.statistics.schema["id"].kind is Kind.IDENTIFIER
    assert "id" not in found.statistics.tables
    # Strings that do not repeat at first but do later are labels, as they are in one piece.
    path.write_text("id,x,y\n" + "\n".join(rows * 9) + "\n")
    found = train(path, "y")
    assert found.statistics.schema["id"].kind is Kind.LABELS


def test_names_of_very_many_rows_do_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr("priory.classifier.counter.IDENTIFIER_ROWS", 2000)
    n = 1500
    batches = [
        pa.record_batch({"id": [f"{k}-{i}" for i in range(n)], "y": ["a", "b"] * (n // 2)})
        for k in range(6)
    ]
    stream = pa.RecordBatchReader.from_batches(batches[0].schema, batches)
    table = pa.table({"x": [1] * n * 6})
    with pytest.warns(IdentifierWarning):
        found = train(stream, "y").statistics
    assert found.schema["id"].kind is Kind.IDENTIFIER and found.rows.tolist() == [4500, 4500]
    assert table.num_rows == found.n_rows


def test_a_stream_is_read_once():
    batch = pa.record_batch({"x": [1.0, 2.0], "y": ["a", "b"]})
    stream = pa.RecordBatchReader.from_batches(batch.schema, [batch] * 5)
    assert train(stream, "y").statistics.rows.tolist() == [5, 5]
    assert not open_source(pa.RecordBatchReader.from_batches(batch.schema, [])).is_repeatable
    with pytest.raises(InputError, match=r"stream has no rows"):
        train(stream, "y")


# Learning on


def test_update_then_forget_restores_the_statistics(frame, expected, tmp_path):
    whole = write(frame, tmp_path / "a.csv")
    more = frame.sample(150, random_state=1)
    more.loc[more.index[:5], "class"] = "new"
    extra = write(more, tmp_path / "more.csv")
    found = train(whole, "class", **TEXTBOOK)
    assert update(found, extra) == 150
    assert found.classes == ("new", "no", "yes")
    assert forget(found, extra) == 150
    assert_close(found.statistics, expected)
    assert [s.rows for s in found.provenance.sources] == [400, 150, -150]
    with pytest.raises(ForgetError, match=r"cannot be forgotten"):
        forget(found, [whole, whole])


def test_two_halves_merged_are_the_whole(frame, expected, tmp_path):
    halves = [
        train(write(part, tmp_path / f"{i}.csv"), "class", **TEXTBOOK)
        for i, part in enumerate((frame.iloc[:100], frame.iloc[100:]))
    ]
    merged = halves[0] + halves[1]
    assert_close(merged.statistics, expected)
    assert [source.rows for source in merged.provenance.sources] == [100, 300]


def test_a_source_is_read_in_the_types_that_were_learned(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("s,t,n,d,y\nx,true,1,2024-01-01,a\n2,false,2.5,2024-01-02,b\n")
    found = train(path, "y")
    path.write_text("y,s,t,n,d\na,2,true,2,2024-01-02\n")  # alone, s would be a number
    update(found, path)
    tables = found.statistics.tables
    assert tables["s"].labels == ("2", "x") and tables["t"].labels == (False, True)
    assert tables["d"].as_labels().labels == (1704067200, 1704153600)
    path.write_text("y,s,t,n,d\na,2,true,many,2024-01-02\n")
    with pytest.raises(SchemaError, match=r"Line 2 .*column 'n' is read as numbers, but"):
        update(found, path)
    path.write_text("y,s,t,n\na,2,true,2\n")
    with pytest.warns(PrioryWarning, match=r"a.csv has no column 'd': missing in every row"):
        update(found, path)


def test_a_classifier_that_knows_no_target():
    classifier = Classifier(Settings.textbook()).update({"x": ["a", "b"]}, [0, 1])
    with pytest.raises(SettingError, match=r"does not know which column its classes came from"):
        update(classifier, {"x": ["a"], "y": [1]})
    assert update(classifier, {"x": ["a"], "y": [1]}, target="y") == 1


# Bad input


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "a.csv is empty"),
        ("\n", "a.csv is empty"),
        ("x,y\n", "a.csv has no rows"),
        ("x,y\n1,a\n2\n", r"Line 3 of .*a.csv has 1 values, but there are 2 columns"),
        ("x,y\n1,a\n2,b,3\n", r"Line 3 of .*a.csv has 3 values, but there are 2 columns"),
        ('x,y\n1,a\n"2,b\n', r"Line 3 of .*a.csv has a double quote that is never closed"),
        ("x,x,y\n1,2,a\n", r"Column 'x' stands more than once in .*a.csv"),
        ("x,y\n1,a\n2,a\n", r"Column 'y' holds one class alone, 'a', in all 2 rows"),
        ("x,y\n1,\n2,\n", r"no row has a class to learn"),
        ("y\na\nb\n", r"has no column beside 'y' to learn from"),
        ("x,y\n1,0.5\n2,0.25\n", r"Column 'y' holds 0.25, which looks like a number"),
        (b"x,y\ncaf\xe9,a\n", r"is not in utf-8: byte 7 is b'\\xe9'.*encoding='latin-1'"),
        (b"x,y\n1,a\0b\n", r"contains NUL bytes, so it is not text"),
        ("x,y\n1,a\n".encode("utf-16"), r"contains NUL bytes.*give encoding='utf-16'"),
        (
            "x,y\n" + "".join(f"1,{i}\n" for i in range(1500)),
            r"Column 'y' has more than 1,000 different values; it looks like a number to be",
        ),
        (
            "x,y\n" + "".join(f"1,name {i}\n" for i in range(1500)),
            r"Column 'y' has more than 1,000 different values; it looks like a unique identifier",
        ),
        (
            "x,y\n1e200,a\n2,b\n",
            r"Column 'x' holds 1e\+200. Numbers must be finite and at most 1e150",
        ),
    ],
)
def test_bad_files_say_what_is_wrong(tmp_path, content, message):
    path = tmp_path / "a.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=message):
        train(path, "y")


def test_late_bytes_of_another_encoding(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"x,y\n" + b"1,a\n" * 30_000 + b"caf\xe9,b\n")
    with pytest.raises(InputError, match=r"is not in the expected encoding"):
        train(path, "y")
    with pytest.warns(PrioryWarning, match="café"):
        assert "café" in train(path, "y", encoding="latin-1").statistics.tables["x"].labels


def test_packed_files_that_are_cut(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"x,y\n" + b"1,a\n2,b\n" * 50_000)[:-20])
    with pytest.raises(InputError, match=r"could not be read: .*(end|GZIP)"):
        train(path, "y")


def test_files_that_are_not_there(frame, tmp_path):
    path = write(frame, tmp_path / "days.csv")
    with pytest.raises(InputError, match=r"There is no file .*day.csv. Did you mean 'days.csv'\?"):
        train(tmp_path / "day.csv", "class")
    with pytest.raises(InputError, match=r"No file matches .*\*.parquet"):
        train(tmp_path / "*.parquet", "class")
    with pytest.raises(InputError, match=r"is a folder. Give a pattern for its files"):
        train(tmp_path, "class")
    with pytest.raises(InputError, match=r"is a URL. Read it by a query"):
        train("https://example.org/a.csv", "class")
    other = write(frame, tmp_path / "days.parquet")
    with pytest.raises(InputError, match=r"files of several formats: csv, parquet"):
        train([path, other], "class")
    other = write(frame.drop(columns="size"), tmp_path / "less.csv")
    with pytest.raises(SchemaError, match=r"less.csv lacks 'size' than .*days.csv"):
        train([path, other], "class")


def test_columns_that_are_not_there(frame, tmp_path):
    path = write(frame, tmp_path / "days.csv")
    with pytest.raises(
        SchemaError, match=r"The target column 'clas' was not found.*Did you mean 'class'\?"
    ):
        train(path, "clas")
    with pytest.raises(SchemaError, match=r"The column to drop 'colours' was not found"):
        train(path, "class", drop="colours")
    with pytest.raises(SchemaError, match=r"The weight column 'w' was not found"):
        train(path, "class", weight="w")
    with pytest.raises(InputError, match=r"Line 2 .*weights in column 'colour' must be num"):
        train(path, "class", weight="colour")
    with pytest.raises(InputError, match=r"has no rows that meet the condition"):
        train(path, "class", where="size > 100")
    with pytest.raises(SettingError, match=r"where='siz > 1' is invalid: .*siz"):
        train(path, "class", where="siz > 1")
    with pytest.raises(SettingError, match=r"where must be an SQL condition, not 3"):
        train(path, "class", where=3)
    with pytest.raises(SettingError, match=r"max_classes must be an integer of at least 2"):
        train(path, "class", max_classes=1)
    with pytest.raises(SettingError, match=r"There is no encoding 'klingon'"):
        train(path, "class", encoding="klingon")
    with pytest.raises(InputError, match=r"query SELECT \* FROM nowhere could not be read"):
        train("SELECT * FROM nowhere", "class")


def test_other_delimiters_and_marks(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes('\ufeffx;"n ""a"" m";Ä;x2\r\n"1;2";"u\nv";1,5;a\r\n2;w;2;b\r\n'.encode())
    source = open_source(path)
    assert source.columns == ("x", 'n "a" m', "Ä", "x2")
    assert dict(source.forms()) == dict(
        zip(source.columns, [Form.TEXT, Form.TEXT, Form.TEXT, Form.TEXT], strict=True)
    )
    with pytest.warns(PrioryWarning, match="Column 'Ä' .* To read all of them as numbers: decimal"):
        found = train(path, "x2").statistics
    assert found.tables['n "a" m'].labels == ("u\nv", "w")
    assert open_source(path, decimal=",").forms()["Ä"] is Form.NUMBER
    assert len(open_source(path, delimiter=",").columns) == 1
    path.write_text("a,A,it's\n1,2,x\n3,4,y\n")  # names that differ in case alone
    found = train(path, "it's", where="\"it's\" <> 'z'").statistics
    assert found.tables["A"].as_labels().labels == (2, 4)


def test_reading_ahead_gives_everything_and_stops():
    seen = []

    def numbers():
        for i in range(1000):
            seen.append(i)
            yield i

    some = prefetch(numbers())
    assert next(some) == 0
    some.close()
    assert len(seen) < 10

    def broken():
        yield 1
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        list(prefetch(broken()))


@pytest.mark.skipif(not DATA.is_dir(), reason="the folder shared/data is not there")
@pytest.mark.parametrize("name", ["adult.csv.gz", "soybean.csv", "covertype.parquet"])
def test_real_tables_give_the_same_through_pandas_and_through_duckdb(name):
    path = DATA / name
    table = (
        pd.read_parquet(path)
        if name.endswith("parquet")
        else pd.read_csv(path, keep_default_na=False, na_values=[""])
    )
    drop = [column for column in ("split",) if column in table]
    expected = Classifier(Settings.textbook()).update(
        table.drop(columns=["target", *drop]), table["target"]
    )
    plain = {"families": "plain", "smoothing": 1.0, "weights": None, "missing": "skip"}
    assert_close(train(path, "target", drop=drop, **plain).statistics, expected.statistics)


# What is chosen by leave-one-out


def noisy(n):
    rng = np.random.default_rng(8)
    y = rng.integers(0, 2, n)
    x = np.where(rng.random(n) < 0.1 + 0.3 * y, np.nan, rng.normal(y, 1.0).round(3))
    return pd.DataFrame({"x": x, "again": 2 * x, "word": rng.choice(list("abc"), n), "y": y})


def test_training_tunes_as_the_estimator_does(tmp_path):
    rows = noisy(500)
    rows.to_csv(tmp_path / "rows.csv", index=False)
    expected = NaiveBayes().fit(rows.drop(columns="y"), rows["y"])
    found = train(tmp_path / "rows.csv", "y")
    assert found.tuning is not None
    X = rows.drop(columns="y")
    np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X), rtol=1e-5)
    assert train(tmp_path / "rows.csv", "y", settings=Settings.textbook()).tuning is None


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_the_sample_does_not_depend_on_the_batches(size):
    rows = noisy(600)
    rows.loc[::9, "y"] = None
    given = {"sample_size": 200, "max_classes": 3}
    with pytest.warns(PrioryWarning, match="no 'y'"):
        whole = train(rows, "y", **given)
    batches = pa.Table.from_pandas(rows).to_batches(max_chunksize=size)
    stream = pa.RecordBatchReader.from_batches(batches[0].schema, batches)
    with pytest.warns(PrioryWarning, match="no 'y'"):
        parts = train(stream, "y", **given)
    assert parts.statistics.n_rows == whole.statistics.n_rows == 533
    assert 150 <= len(whole.tuning.scored.labels) == len(parts.tuning.scored.labels) <= 200
    for name, weight in whole.weights.items():
        assert parts.weights[name] == pytest.approx(weight, rel=1e-5, abs=1e-6)


def test_a_sample_of_columns_that_widen(tmp_path):
    rows = noisy(30_000).astype({"again": object})
    rows.loc[29_000:, "again"] = "many"
    rows.to_csv(tmp_path / "rows.csv", index=False)
    with pytest.warns(PrioryWarning, match="'again'"):
        found = train(tmp_path / "rows.csv", "y", sample_size=500)
    assert 375 <= len(found.tuning_sample) <= 500
    assert found.statistics.schema["again"].kind == "labels"


# Folders of texts


def mail(folder):
    texts = {"ham": ["see you at noon", "minutes of the meeting"], "spam": ["free money", "win"]}
    for label, some in texts.items():
        for i, text in enumerate(some * 6):
            path = folder / "mail" / label / f"{i}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    return folder / "mail"


def test_a_folder_of_texts_needs_no_target(tmp_path):
    found = train(mail(tmp_path))
    assert found.classes == ("ham", "spam")
    assert found.provenance.target == "class"
    assert found.predict({"text": ["free money", "the meeting"]}).tolist() == ["spam", "ham"]
    assert found.provenance.figures.how in ("cross-fitted", "leave-one-out")
    with pytest.raises(SettingError, match="where and na_values must not be given"):
        train(tmp_path / "mail", where="text = 'x'")
    with pytest.raises(SettingError, match="target must name the column of the classes"):
        train({"x": [1, 2], "y": [0, 1]})


def test_a_folder_of_messages_is_split_as_messages(tmp_path):
    for label, subject in (("ham", "Minutes"), ("spam", "Free money")):
        for i in range(12):
            path = tmp_path / label / f"{i}.eml"
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"From: a@b.example\nSubject: {subject} {i}\n\nHello\n")
    found = train(tmp_path)
    words = found.statistics.tables["text"].vocabulary.words()
    assert "subject:free" in words


# Honest figures


def test_training_tells_honest_figures(tmp_path):
    rows = noisy(400)
    rows.to_csv(tmp_path / "rows.csv", index=False)
    found = train(tmp_path / "rows.csv", "y")
    told = found.provenance.figures
    assert (told.how, told.rows) == ("cross-fitted", 400)
    options = {"families": "plain", "smoothing": 1.0, "weights": None, "missing": "skip"}
    plain = train(tmp_path / "rows.csv", "y", **options)
    exact = plain.provenance.figures
    X, y = rows.drop(columns="y"), rows["y"]
    again = leave_one_out(plain, X, y)
    assert exact.how == "exact leave-one-out"
    assert exact.accuracy == again.accuracy
    assert exact.log_loss == pytest.approx(again.log_loss, rel=1e-12)
    assert told.log_loss < exact.log_loss  # one column is there twice
    update(found, tmp_path / "rows.csv")
    assert found.provenance.figures is None
