"""Large CSV files are read another way; whatever is in them, the rows are the same."""

import csv as python_csv
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import priory
from priory.base.errors import InputError
from priory.sources import csv
from priory.sources.base import Form
from priory.sources.opening import open_source

NUMBERS = st.sampled_from(["1", "-2.5", "1e3", " 7", "nan", "inf", "", "NA", "+4", "0x1F", "1_000"])
TRUTHS = st.sampled_from(["true", "False", "TRUE", "", "tRUE"])
TEXTS = st.text(st.characters(exclude_characters="\0\r", exclude_categories=["Cs"]), max_size=6)
ODD = st.sampled_from(['say "a"', "a,b", "line\nline", " ", "-", "NA", "é", "日本"])
ROWS = st.lists(st.tuples(NUMBERS, TRUTHS, TEXTS | ODD, st.sampled_from("xy")), min_size=1)
FORMS = {"number": Form.NUMBER, "truth": Form.BOOLEAN, "text": Form.TEXT, "y": Form.TEXT}


def write(path, rows, **options):
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = python_csv.writer(file, **options)
        writer.writerow(FORMS)
        writer.writerows(rows)
    return path


def read(source, forms=FORMS):
    """Return the columns as lists, and which ones were misread."""
    found = list(source.batches(forms))
    columns = {
        name: list(chain.from_iterable(batch.columns[name].to_pylist() for batch in found))
        for name in forms
    }
    return repr(columns), frozenset().union(*(batch.misread for batch in found))


@pytest.fixture(autouse=True)
def any_size(monkeypatch):
    monkeypatch.setattr(csv, "LARGE", 0)
    monkeypatch.setattr(csv, "PIECE", 64)


@given(rows=ROWS, end=st.sampled_from(["\n", "\r\n"]), quoting=st.sampled_from([0, 1]))
def test_the_rows_are_those_of_duckdb(tmp_path_factory, rows, end, quoting):
    path = tmp_path_factory.mktemp("csv") / "rows.csv"
    write(path, rows, lineterminator=end, quoting=quoting)
    source = open_source(path, na_values="NA")
    assert isinstance(source, csv.CsvSource)
    assert read(source) == read(source._slowly)
    assert source.forms() == source._slowly.forms()
    source.close()


def test_what_arrow_refuses_duckdb_reads_from_there_on(tmp_path):
    rows = [(str(i), "true", f"row {i}", "xy"[i % 2]) for i in range(500)]
    rows[400] = ("four hundred", "true", "row 400", "x")
    source = open_source(write(tmp_path / "late.csv", rows))
    batches = list(source.batches(FORMS))
    assert len(batches) > 2
    assert [batch.misread for batch in batches[:-1]] == [frozenset()] * (len(batches) - 1)
    assert batches[-1].misread == {"number"}
    assert sum(batch.n_rows for batch in batches) == 500
    assert source.example("number", Form.NUMBER) == "four hundred"
    assert read(source)[0] == read(source._slowly)[0]


def test_a_line_too_short_is_an_error_that_tells_it(tmp_path):
    path = write(tmp_path / "ragged.csv", [("1", "true", "a", "x")] * 50, lineterminator="\n")
    with path.open("a") as file:
        file.write("2,false\n" + "1,true,a,x\n" * 3)
    with pytest.raises(InputError, match="Line 52"):
        priory.train(path, "y")


def test_files_with_columns_in_another_order(tmp_path):
    a = write(tmp_path / "a.csv", [("1", "true", "first", "x")])
    (tmp_path / "b.csv").write_text("y,text,number,truth\ny,second,2,false\n")
    source = open_source([a, tmp_path / "b.csv"])
    assert isinstance(source, csv.CsvSource)
    assert read(source) == read(source._slowly)
    assert "'first', 'second'" in read(source)[0]


def test_training_gives_the_same_statistics(tmp_path, monkeypatch):
    rows = [(str(i % 7), "true" if i % 3 else "", f"t{i % 5}", "xy"[i % 2]) for i in range(300)]
    path = write(tmp_path / "rows.csv", rows)
    fast = priory.train(path, "y").statistics
    monkeypatch.setattr(csv, "LARGE", 1 << 30)
    slow = priory.train(path, "y").statistics
    assert [fast.tables[name] == slow.tables[name] for name in ("truth", "text")] == [True, True]
    assert fast.tables["number"].cells == slow.tables["number"].cells
    for name in ("s1", "s2"):  # added in other pieces
        a, b = (getattr(found.tables["number"].moments, name).value for found in (fast, slow))
        np.testing.assert_allclose(a, b, rtol=1e-15)


@pytest.mark.parametrize("options", [{"encoding": "latin-1"}, {"where": "number > 1"}])
def test_what_only_duckdb_can_do_is_left_to_it(tmp_path, options):
    path = write(tmp_path / "rows.csv", [("1", "true", "a", "x"), ("2", "true", "b", "y")])
    assert not isinstance(open_source(path, **options), csv.CsvSource)


def test_packed_files_are_left_to_duckdb(tmp_path):
    import gzip

    path = write(tmp_path / "rows.csv", [("1", "true", "a", "x")])
    with gzip.open(tmp_path / "rows.csv.gz", "wb") as packed:
        packed.write(path.read_bytes())
    assert not isinstance(open_source(tmp_path / "rows.csv.gz"), csv.CsvSource)
