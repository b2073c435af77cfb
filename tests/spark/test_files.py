"""Which Parquet files executors read by themselves, and how these are cut into tasks."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import priory
from priory.base.errors import InputError, SettingError
from priory.spark.files import Files, Other, Piece, find_parquet, read_piece
from priory.spark.opening import open_cluster


@pytest.fixture
def folder(tmp_path):
    for i in range(3):
        table = pa.table({"x": range(i * 100, i * 100 + 100), "y": ["a", "b"] * 50})
        pq.write_table(table, tmp_path / f"part-{i}.parquet", row_group_size=10)
    (tmp_path / "_SUCCESS").write_text("")
    return tmp_path


@pytest.mark.parametrize("n", [None, 1, 2, 7, 30, 100])
def test_every_row_group_is_read_once(folder, n):
    files = Files.of(find_parquet(str(folder)))
    pieces = files.pieces(n)
    found = [x for piece in pieces for t in read_piece(piece, ["x"]) for x in t["x"].to_pylist()]
    assert found == list(range(300))
    assert sum(piece.rows for piece in pieces) == 300
    assert len(pieces) <= 30


def test_far_dates_and_durations_are_read_as_others_read_them(tmp_path):
    """Spark's INT96 holds years that nanoseconds do not; only Arrow knows of durations."""
    path = tmp_path / "far.parquet"
    far = pa.array([0, 253_402_214_400_000_000], pa.timestamp("us"))  # the end of the year 9999
    took = pa.array([1, 2], pa.duration("us"))
    table = pa.table({"far": far, "took": took})
    pq.write_table(table, path, use_deprecated_int96_timestamps=True)
    files = Files.of([str(path)])
    (read,) = read_piece(files.pieces()[0], ["far", "took"])
    assert read["far"].cast(pa.int64()).to_pylist() == far.cast(pa.int64()).to_pylist()
    assert read["took"].to_pylist() == [1, 2]
    model = priory.train(path, "took", settings=priory.Settings.textbook())
    assert model.classes == (1, 2)


def test_folders_patterns_lists_and_urls(folder):
    names = [str(folder / f"part-{i}.parquet") for i in range(3)]
    assert find_parquet(folder) == names
    assert find_parquet(f"{folder}/*.parquet") == names
    assert find_parquet(names[1:]) == names[1:]
    assert find_parquet(f"file://{folder}") == names


def test_what_spark_must_read_is_said(folder):
    with pytest.raises(Other, match="s3a:// is read with the credentials that Spark has"):
        find_parquet("s3a://bucket/rows/*.parquet")
    (folder / "day=1").mkdir()
    with pytest.raises(Other, match="folders within, whose names may be columns"):
        find_parquet(folder)


def test_files_of_other_columns_are_for_spark(folder):
    pq.write_table(pa.table({"x": [1.5], "y": ["a"]}), folder / "part-9.parquet")
    with pytest.raises(Other, match=r"part-9.parquet has other columns or types than the first"):
        Files.of(find_parquet(folder))


def test_what_is_refused(folder, tmp_path):
    (folder / "table").mkdir()
    (folder / "table" / "_delta_log").mkdir()
    with pytest.raises(InputError, match="log says which of its files and rows still count"):
        find_parquet(folder / "table")
    (folder / "rows.csv").write_text("x,y\n1,a\n")
    with pytest.raises(InputError, match=r"rows.csv is no plain Parquet file.*spark.read.csv"):
        find_parquet(folder / "rows.csv")
    with pytest.raises(SettingError, match="road must be one of auto, files, frame, not 'both'"):
        open_cluster("rows.parquet", road="both")
    with pytest.raises(SettingError, match="delimiter is for files that priory opens by itself"):
        open_cluster("rows.parquet", delimiter=";")


def test_a_file_that_changed_is_told(folder):
    path = str(folder / "part-0.parquet")
    with pytest.raises(InputError, match=r"part-0.parquet changed while it was read"):
        list(read_piece(Piece(path, 0, 2, 35), ["x"]))
    with pytest.raises(InputError, match="changed while it was read"):
        list(read_piece(Piece(path, 0, 20, 200), ["x"]))
    with pytest.raises(InputError, match=r"could not be read on an executor.*road='frame'"):
        list(read_piece(Piece(str(folder / "none.parquet"), 0, 2, 20), ["x"]))


def test_dictionaries_are_plain_values(tmp_path):
    column = pa.array(["a", "b", "a"]).dictionary_encode()
    pq.write_table(pa.table({"x": column}), tmp_path / "a.parquet")
    (table,) = read_piece(Piece(str(tmp_path / "a.parquet"), 0, 1, 3), ["x"])
    assert table.schema.field("x").type == pa.string()
