"""CSV files are read in pieces, fast or with a closer look; whatever is in them, the rows hold."""

import bz2
import csv as python_csv
import gzip
import io
import lzma
import zipfile
from itertools import chain

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import priory
from priory.base.errors import InputError, PrioryWarning, SchemaError
from priory.sources import csv
from priory.sources.base import Form, Reading
from priory.sources.casting import cast
from priory.sources.opening import open_source

NUMBERS = st.sampled_from(["1", "-2.5", "1e3", " 7", "nan", "inf", "", "NA", "+4", "0x1F", "1_000"])
TRUTHS = st.sampled_from(["true", "False", "TRUE", "", "tRUE", "N/A", "yes"])
DATES = st.sampled_from(["2024-01-05", "2024-1-5", "2024-01-05 10:00:00", "", "?", "5.1.2024"])
TEXTS = st.text(st.characters(exclude_characters="\0\r", exclude_categories=["Cs"]), max_size=6)
ODD = st.sampled_from(['say "a"', "a,b", "line\nline", " ", "-", "NA", "é", "日本", '5" pipe'])
ROWS = st.lists(st.tuples(NUMBERS, TRUTHS, DATES, TEXTS | ODD, st.sampled_from("xy")), min_size=1)
FORMS = {
    "number": Form.NUMBER,
    "truth": Form.BOOLEAN,
    "date": Form.DATE,
    "text": Form.TEXT,
    "y": Form.TEXT,
}


def write(path, rows, **options):
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = python_csv.writer(file, **options)
        writer.writerow(FORMS)
        writer.writerows(rows)
    return path


def read(source, forms=FORMS):
    """Return the columns as lists, and the values that do not fit, with their rows."""
    found = list(source.batches(forms))
    columns = {
        name: plain(chain.from_iterable(batch.columns[name].to_pylist() for batch in found))
        for name in forms
    }
    misread, before = dict[str, list[tuple[int, str]]](), 0
    for batch in found:
        for name, odd in batch.misread.items():
            misread.setdefault(name, []).extend((before + r, v) for r, v in zip(*odd, strict=True))
        before += batch.n_rows
    return repr(columns), misread


def plain(values):
    return [None if value != value else value for value in values]


@pytest.fixture
def small_pieces(monkeypatch):
    monkeypatch.setattr(csv, "PIECE", 64)
    monkeypatch.setattr(csv, "BYTES_PER_COLUMN", 0)
    monkeypatch.setattr(csv, "FIRST_PIECE", 32)


@given(
    rows=ROWS,
    end=st.sampled_from(["\n", "\r\n"]),
    quoting=st.sampled_from([0, 1]),
    size=st.sampled_from([16, 64, 1 << 20]),
)
def test_the_rows_are_those_of_python(tmp_path_factory, rows, end, quoting, size):
    path = tmp_path_factory.mktemp("csv") / "rows.csv"
    write(path, rows, lineterminator=end, quoting=quoting)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv, "PIECE", size)
        patch.setattr(csv, "BYTES_PER_COLUMN", 0)
        found = read(open_source(path))
    columns, misread = {}, {}
    for (name, form), values in zip(FORMS.items(), zip(*rows, strict=True), strict=True):
        column, odd = cast(pa.array(values), form, Reading())
        columns[name] = plain(column.to_pylist())
        if odd is not None:
            misread[name] = list(zip(*odd, strict=True))
    assert found == (repr(columns), misread)


def test_only_the_pieces_with_something_odd_are_looked_at_closely(tmp_path, small_pieces):
    rows = [(str(i), "true", "", f"row {i}", "xy"[i % 2]) for i in range(500)]
    rows[400] = ("four hundred", "true", "", "row 400", "x")
    source = open_source(write(tmp_path / "late.csv", rows))
    batches = list(source.batches(FORMS))
    assert len(batches) > 2
    odd = [batch for batch in batches if batch.misread]
    assert len(odd) == 1
    (row,), (value,) = odd[0].misread["number"]
    assert value == "four hundred" and odd[0].place(row) == f"line 402 of {tmp_path / 'late.csv'}"
    assert sum(batch.n_rows for batch in batches) == 500


def test_a_line_too_short_is_an_error_that_tells_it(tmp_path, small_pieces):
    path = write(tmp_path / "ragged.csv", [("1", "true", "", "a", "x")] * 50, lineterminator="\n")
    with path.open("a") as file:
        file.write("2,false\n" + "1,true,,a,x\n" * 3 + "1,2,3,4,5,6\n")
    with pytest.raises(InputError, match=r"Line 52 of .*ragged.csv has 2 values, but there are 5"):
        priory.train(path, "y")
    rows = 0
    with pytest.raises(InputError, match="Line 52"):
        for batch in open_source(path).batches(FORMS):
            rows += batch.n_rows
    assert rows == 50
    with path.open("a") as file:
        file.write("2,true,,b,y\n")
    with pytest.warns(PrioryWarning, match=r"2 rows were left out of .*: line 52 of .* has 2 val"):
        found = priory.train(path, "y", on_error="skip")
    assert found.statistics.n_rows == 54


def test_a_bad_row_after_a_quote_within_a_value_is_told(tmp_path):
    """Where a line ends within what may be quotes, rows are fewer than they seem."""
    path = tmp_path / "odd.csv"
    rows = [b'no,",NULL', b"no,a\nb,{", b'no,\r,"a,b"', b"yes,a\nb,x", b'yes,{,""']
    path.write_bytes(b"\r\n".join([b"y,a,b", *rows]))
    with pytest.raises(InputError, match=r"odd\.csv has 2 values"):
        priory.train(str(path), "y", settings=priory.Settings.textbook())


def test_quotes_that_are_never_closed(tmp_path):
    path = tmp_path / "a.csv"
    for text, line in [
        ('x,y\n1,a\n2,"b\n3,c\n4,d\n', 3),
        ('x,y\n1,a\n"2,b\n3,c\n', 3),
        ('x,y\n"1\n2",a\n3,"b\n4,c', 4),
    ]:
        path.write_text(text)
        with pytest.raises(InputError, match=rf"Line {line} of .* a double quote that is never"):
            list(open_source(path).batches({"x": Form.TEXT, "y": Form.TEXT}))
    path.write_text('x,y\n5" pipe,a\n6" pipe,b\n7" pipe,a\n')
    assert '7\\" pipe' in repr(read(open_source(path), {"x": Form.TEXT})).replace('"', '\\"')


def test_files_with_columns_in_another_order(tmp_path):
    a = write(tmp_path / "a.csv", [("1", "true", "", "first", "x")])
    (tmp_path / "b.csv").write_text("y,text,number,truth,date\ny,second,2,false,\n")
    assert "'first', 'second'" in read(open_source([a, tmp_path / "b.csv"]))[0]


def test_pieces_do_not_change_what_is_learned(tmp_path, monkeypatch):
    rows = [(str(i % 7), "true" if i % 3 else "", "", f"t{i % 5}", "xy"[i % 2]) for i in range(300)]
    path = write(tmp_path / "rows.csv", rows)
    whole = priory.train(path, "y").statistics
    monkeypatch.setattr(csv, "PIECE", 100)
    monkeypatch.setattr(csv, "BYTES_PER_COLUMN", 0)
    pieces = priory.train(path, "y").statistics
    assert [pieces.tables[name] == whole.tables[name] for name in ("truth", "text")] == [True, True]
    assert pieces.tables["number"].cells == whole.tables["number"].cells
    for name in ("s1", "s2"):  # added in other pieces
        a, b = (getattr(found.tables["number"].moments, name).value for found in (pieces, whole))
        np.testing.assert_allclose(a, b, rtol=1e-15)


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-8-sig", "cp1252", "utf-32"])
def test_other_encodings(tmp_path, encoding, small_pieces):
    path = tmp_path / "a.csv"
    text = "größe,y\n" + "".join(f"{i % 3} Straße,{'äü'[i % 2]}\n" for i in range(40))
    path.write_bytes(text.encode(encoding))
    found = priory.train(path, "y", encoding=encoding)
    assert found.classes == ("ä", "ü")
    assert found.statistics.tables["größe"].labels == ("0 Straße", "1 Straße", "2 Straße")


def zipped(data):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("inside.csv", data)
        archive.writestr("__MACOSX/._inside.csv", b"")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("suffix", "pack"),
    [
        (".gz", gzip.compress),
        (".bz2", bz2.compress),
        (".xz", lzma.compress),
        (".zip", zipped),
        (".zst", lambda data: bytes(pa.compress(data, codec="zstd", asbytes=True))),
    ],
)
def test_compressed_files(tmp_path, suffix, pack, small_pieces):
    text = "x,y\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(60))
    plain = tmp_path / "plain.csv"
    plain.write_text(text)
    expected = priory.train(plain, "y").statistics
    for name in ("a.csv" + suffix, "a" + suffix, "bare"):  # told by the name, or by the bytes
        path = tmp_path / name
        path.write_bytes(pack(text.encode()))
        assert priory.train(path, "y").statistics == expected
    lines = tmp_path / f"a.jsonl{suffix}"
    lines.write_bytes(pack(b'{"x": 1, "y": "a"}\n{"x": 2, "y": "b"}\n'))
    assert priory.train(lines, "y").classes == ("a", "b")
    cut = tmp_path / f"cut.csv{suffix}"
    cut.write_bytes(pack(text.encode() * 50)[:-30])
    with pytest.raises(InputError, match=r"cut.csv.* could not be read: "):
        priory.train(cut, "y")


def test_archives_that_are_not_read(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.csv", "x,y\n")
        archive.writestr("b.csv", "x,y\n")
    with pytest.raises(InputError, match=r"a.zip holds 2 files: 'a.csv', 'b.csv'. Unpack it"):
        open_source(path)
    path.write_bytes(b"7z\xbc\xaf\x27\x1c" + bytes(20))
    with pytest.raises(InputError, match=r"a.zip is a 7z archive, which is not read. Unpack it"):
        open_source(path)


@pytest.mark.parametrize(
    ("head", "columns"),
    [
        ("\n\n  \nx,y\n", ("x", "y")),
        ('"the\nlength",y\n', ("the length", "y")),
        ("sep=;\nx;y\n", ("x", "y")),
        ("\ufeff\nx , y\n", ("x", "y")),
        ('x,"y ""z"""\n', ("x", 'y "z"')),
        ("x,\n", ("x", "column1")),
    ],
)
def test_odd_headers(tmp_path, head, columns):
    path = tmp_path / "a.csv"
    delimiter = ";" if head.startswith("sep") else ","
    path.write_text(head + "".join(f"{i}{delimiter}{'ab'[i % 2]}\n" for i in range(6)) + "x,y,z\n")
    source = open_source(path)
    assert source.columns == columns
    with pytest.warns(PrioryWarning, match=r"1 row was left out"):
        found = priory.train(path, columns[1], on_error="skip", where="1 = 1")
    assert found.classes == ("a", "b")
    with pytest.raises(InputError, match=rf"Line {head.count(chr(10)) + 7} of"):
        priory.train(path, columns[1])


def test_lines_that_end_in_a_carriage_return(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"x,y\r1,a\r2,b\r")
    assert priory.train(path, "y").classes == ("a", "b")


def test_a_condition_sees_names_and_types(tmp_path, small_pieces):
    rows = [(str(i), "true", f"2024-01-{i % 9 + 1:02}", f"t{i}", "xy"[i % 2]) for i in range(90)]
    path = write(tmp_path / "rows.csv", rows)
    for where, n in [
        ("number >= 10 AND number < 30", 20),
        ("date < DATE '2024-01-03'", 20),
        ("truth", 90),
        ("text = 't7' OR y = 'x'", 46),
        ("1 = 1", 90),
    ]:
        assert priory.train(path, "y", where=where, drop="text").statistics.n_rows == n
    source = open_source(path, where="number > 40")
    assert read(source, {"number": Form.NUMBER})[0].startswith("{'number': [41.0, 42.0, 43.0")
    first = list(source.batches({"number": Form.NUMBER}, most=3))
    assert sum(batch.n_rows for batch in first) == 3
    assert first[0].place(0) == f"line 43 of {path}"


def test_wide_tables_are_read(tmp_path):
    path = tmp_path / "wide.csv"
    names = [f"c{i}" for i in range(1200)]
    rows = [[str((i * j) % 7) for j in range(1200)] + ["ab"[i % 2]] for i in range(30)]
    rows[20][3] = "odd"
    path.write_text("\n".join(",".join(row) for row in [[*names, "y"], *rows]))
    source = open_source(path)
    forms = source.forms()
    assert [name for name in names if forms[name] is not Form.INTEGER] == ["c3"]
    (report,) = source.unread()
    assert (report.column, report.commonest) == ("c3", (("odd", 1),))
    assert report.share == pytest.approx(29 / 30)
    assert sum(batch.n_rows for batch in source.batches(forms)) == 30


def test_a_column_with_a_declared_kind_keeps_it(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n1,a\n2,b\nx3,a\n4,b\n")
    with pytest.raises(SchemaError, match=r"Line 4 .*column 'x' is read as numbers, but holds 'x3"):
        priory.train(path, "y", families={"x": "gaussian"})
    with pytest.warns(PrioryWarning, match=r"1 row was left out of .*: line 4 of"):
        found = priory.train(path, "y", families={"x": "gaussian"}, on_error="skip")
    assert found.statistics.n_rows == 3


def test_a_line_feed_among_carriage_returns_is_told_with_its_line(tmp_path):
    path = tmp_path / "both.csv"
    path.write_bytes(b"y,a\ryes,1\rno,2\nb\ryes,3,4,5\rno,2\r")
    with pytest.raises(InputError, match=r"Line 4 of .* has 1 values"):
        priory.train(path, "y")
