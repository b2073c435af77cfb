"""Words that stand for gaps, numbers in other notations, and what is said of the rest."""

import re

import numpy as np
import pyarrow as pa
import pytest

import priory
from priory import Settings
from priory.base.errors import PrioryWarning, SettingError
from priory.data.gaps import CLASS_GAPS, GAP_WORDS
from priory.data.schema import Kind
from priory.sources import inspect, open_source
from priory.sources.base import Form, Reading
from priory.sources.casting import cast, find_forms


def write(path, head, rows):
    path.write_text("\n".join([head, *rows]) + "\n")
    return path


@pytest.mark.parametrize("word", sorted(GAP_WORDS - {""}))
def test_every_gap_word_is_one_among_numbers_dates_and_truths(tmp_path, word):
    rows = [f'{i},2024-01-0{i},{i % 2 == 0},"l{i % 2}",{"ab"[i % 2]}' for i in range(1, 9)]
    spelled = [word, word.upper(), word.title(), f" {word} "]
    rows += [f'"{how}","{how}","{how}","{how}",a' for how in spelled]
    path = write(tmp_path / "a.csv", "n,d,t,label,y", rows)
    found = priory.train(path, "y", settings=Settings.textbook()).statistics
    schema = found.schema
    assert schema["n"].kind is Kind.NUMBERS and ("nan" in word or schema["n"].why == "integer")
    assert schema["d"].unit == "date" and schema["t"].why == "boolean"
    assert found.tables["n"].present.sum() == 8
    assert set(found.tables["label"].labels) == {"l0", "l1", *(how.strip() for how in spelled)}


def test_one_percent_of_gap_words_does_no_harm(tmp_path):
    random = np.random.default_rng(0)
    x = random.normal(size=600)
    y = np.where(x + random.normal(size=600) / 2 > 0, "a", "b")
    rows = [f"{value:.3f},{label}" for value, label in zip(x, y, strict=True)]
    clean = priory.train(write(tmp_path / "a.csv", "x,y", rows), "y")
    for word in ("NA", "?", "N/A", "-"):
        some = [f"{word},{row[-1]}" if i % 100 == 0 else row for i, row in enumerate(rows)]
        found = priory.train(write(tmp_path / "b.csv", "x,y", some), "y")
        assert found.schema["x"].kind is Kind.NUMBERS
        assert found.provenance.figures.accuracy > clean.provenance.figures.accuracy - 0.03


def test_na_values_add_words_and_none_turns_them_off(tmp_path):
    rows = ["1,u,a", "NA,NA,b", "nope,v,a", "3,nope,b"]
    path = write(tmp_path / "a.csv", "x,w,y", rows)
    found = priory.train(path, "y", na_values="nope").statistics
    assert found.schema["x"].kind is Kind.NUMBERS and found.tables["w"].labels == ("NA", "u", "v")
    path = write(tmp_path / "a.csv", "x,w,y", [row for row in rows if "nope" not in row] * 2)
    found = priory.train(path, "y", na_values="none").statistics
    assert found.tables["x"].labels == ("1", "NA")
    found = priory.train(path, "y", na_values=["none", "1"]).statistics
    assert found.tables["x"].labels == ("NA",)


def test_gap_words_of_the_target(tmp_path):
    rows = ["1,yes", "2,NA", "3,no", "4,?", "5,-", "6,none", "7,yes", "8,-"]
    path = write(tmp_path / "a.csv", "x,y", rows)
    with pytest.warns(PrioryWarning, match=r"2 rows of .* have no 'y'"):
        assert priory.train(path, "y").classes == ("-", "no", "none", "yes")
    assert priory.train(path, "y", na_values="none").classes == (
        "-",
        "?",
        "NA",
        "no",
        "none",
        "yes",
    )
    path = write(tmp_path / "a.csv", "x,y", ["1,0", "2,-", "3,1", "4,none", "5,1"])
    with pytest.warns(PrioryWarning, match=r"2 rows of .* have no 'y'"):
        assert priory.train(path, "y").classes == (0, 1)
    assert CLASS_GAPS < GAP_WORDS


@pytest.mark.parametrize(
    ("texts", "options", "numbers"),
    [
        (["1,5", "-2,25", "3"], {"decimal": ","}, [1.5, -2.25, 3]),
        (["1,234", "1,234,567.5", "7"], {"thousands": ","}, [1234, 1234567.5, 7]),
        (["1.234,5", "7", "NA"], {"decimal": ",", "thousands": "."}, [1234.5, 7, None]),
        (["1 234", "1\u00a0234", "1\u202f234 567"], {"thousands": " "}, [1234, 1234, 1234567]),
        (["1'234.5", "2"], {"thousands": "'"}, [1234.5, 2]),
        (["1,5e3", "2"], {"decimal": ","}, [1500, 2]),
    ],
)
def test_numbers_in_other_notations(tmp_path, texts, options, numbers):
    found, odd = cast(pa.array(texts), Form.NUMBER, Reading(**options))
    assert odd is None and found.to_pylist() == numbers
    rows = [f'"{text}";{"ab"[i % 2]}' for i, text in enumerate(texts)]
    path = write(tmp_path / "a.csv", "x;y", rows)
    assert priory.train(path, "y", **options).statistics.schema["x"].kind is Kind.NUMBERS
    plain = priory.train(write(tmp_path / "b.csv", "x;y", ["1;a", "2;b"]), "y", **options)
    assert plain.statistics.schema["x"].why == "integer"


def test_notations_that_contradict():
    assert cast(pa.array(["1.5"]), Form.NUMBER, Reading(decimal=","))[1] is not None
    assert cast(pa.array(["12,34"]), Form.NUMBER, Reading(thousands=","))[1] is not None
    for options, message in [
        ({"decimal": ";"}, "decimal must be '.' or ','"),
        ({"thousands": "x"}, "thousands must be one of"),
        ({"thousands": "."}, "thousands='.' is the decimal mark as well"),
        ({"on_error": "ignore"}, "on_error must be one of fail, skip, not 'ignore'"),
    ]:
        with pytest.raises(SettingError, match=message):
            open_source("examples/play_tennis.csv", **options)


@pytest.mark.parametrize(
    ("texts", "share", "commonest", "mend"),
    [
        (["1", "2", "3", "x", "x", "4", "5"], 5 / 7, (("x", 2),), r"na_values=\['x'\]"),
        (["1,5", "2,5", "3"], 1 / 3, (("1,5", 1), ("2,5", 1)), "decimal=','"),
        (["1,234", "2,345", "3"], 1 / 3, (("1,234", 1), ("2,345", 1)), "thousands=','"),
        (["1,234", "0,345", "3"], 1 / 3, (("1,234", 1), ("0,345", 1)), "decimal=','"),
        (["1", "2", "3", "not known"], 3 / 4, (("not known", 1),), r"na_values=\['not known'\]"),
        (["1,234,567", "3"], 1 / 2, (("1,234,567", 1),), "thousands=','"),
        (["1.234,5", "3"], 1 / 2, (("1.234,5", 1),), "decimal=',', thousands='.'"),
        ([*map(str, range(20)), *"abcdef"], 20 / 26, None, "families={'c': 'categorical'}"),
        (["2024-01-01", "2024-01-02", "1.2.24"], 2 / 3, (("1.2.24", 1),), r"na_values=\['1.2.24'"),
        (["true", "false", "perhaps"], 2 / 3, (("perhaps", 1),), r"na_values=\['perhaps'\]"),
    ],
)
def test_what_does_not_parse_is_told(texts, share, commonest, mend):
    forms, (report,) = find_forms({"c": pa.array(texts)}, Reading())
    assert forms["c"] is Form.TEXT and report.share == pytest.approx(share)
    assert commonest is None or report.commonest == commonest
    assert report.column == "c"
    assert re.search(mend.replace("{", r"\{"), report.mend)


def test_labels_are_not_told(tmp_path):
    columns = {"a": ["x", "y", "1"], "b": ["none", "missing"], "c": ["01067", "10115"]}
    forms, told = find_forms({n: pa.array(v) for n, v in columns.items()}, Reading())
    assert not told and set(forms.values()) == {Form.TEXT}


def test_training_tells_it_and_declared_labels_do_not(tmp_path):
    path = write(tmp_path / "a.csv", "x,y", ["1,a", "2,b", "3,a", "odd,b"])
    with pytest.warns(PrioryWarning, match=r"Column 'x' is read as labels, though 75.0% of its"):
        priory.train(path, "y")
    priory.train(path, "y", families={"x": "categorical"})  # without a warning
    priory.train(path, "y", na_values="odd")


def test_inspect(tmp_path):
    rows = [f"i{i},{i % 7},{'NA' if i % 4 == 0 else i / 2},,{'ab'[i % 2]}" for i in range(40)]
    rows[30] = "i30,odd,1,,?"
    path = write(tmp_path / "a.csv", "id,n,f,e,y", rows)
    found = inspect(path, "y")
    by_name = {column.column: column for column in found.columns}
    assert found.rows == 40
    assert by_name["id"].kind == "identifier" and "repeats" in by_name["id"].left_out
    assert by_name["e"].left_out == "every value is missing" and by_name["e"].gaps == 40
    assert (by_name["f"].kind, by_name["f"].gaps, by_name["f"].why) == ("numbers", 10, "float")
    assert (by_name["y"].kind, by_name["y"].gaps, by_name["y"].distinct) == ("target", 1, 2)
    assert by_name["n"].kind == "labels"
    (report,) = found.unread
    assert (report.column, report.share) == ("n", pytest.approx(39 / 40))
    with path.open("a") as file:
        file.write("short,line\n")
    assert "line 42" in inspect(path).skipped[0]
    assert inspect(path).to_dict()["unread"][0]["commonest"] == [["odd", 1]]
    assert "Rows that cannot be read: 1" in str(inspect(path))


def test_inspect_looks_at_every_row(tmp_path):
    rows = [f"{i % 50},{'ab'[i % 2]}" for i in range(21_000)]
    path = write(tmp_path / "a.csv", "n,y", [*rows, "late,a"])
    found = inspect(path)
    assert (found.columns[0].kind, found.columns[0].distinct) == ("labels", 51)
    assert found.unread[0].commonest == (("late", 1),) and found.unread[0].share > 0.999
    assert inspect(pa.table({"n": [1, None, 2]})).columns[0].gaps == 1


def test_integers_are_told_as_integers(tmp_path):
    rows = [f"{i},{i}.5,{'ab'[i % 2]}" for i in range(30)]
    path = write(tmp_path / "a.csv", "n,f,y", rows)
    schema = priory.train(path, "y").statistics.schema
    assert (schema["n"].why, schema["f"].why) == ("integer", "float")
    late = [f"{i % 9},{'ab'[i % 2]}" for i in range(21_000)] + ["0.5,a"]
    path = write(tmp_path / "b.csv", "n,y", late)
    assert priory.train(path, "y").statistics.schema["n"].why == "float"


def test_commas_before_three_digits_are_taken_for_thousands(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("x;y\n" + "".join(f"{750 * i:,};{'ab'[i % 2]}\n" for i in range(50)))
    (odd,) = inspect(path, "y").unread
    assert odd.mend == "To read all of them as numbers: thousands=','."


def test_an_empty_batch_of_truths_is_read():
    found, odd = cast(pa.array([], pa.string()), Form.BOOLEAN, Reading())
    assert len(found) == 0 and odd is None
