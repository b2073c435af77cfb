"""One contract for rows: an absent column, one too many, a bad value, the order of columns."""

import json

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import priory
from priory.base.errors import InputError, PrioryWarning, SchemaError
from priory.sources import forget, update
from priory.sources.scoring import rows_of

ROWS = [
    {"n": "1", "t": "true", "s": "u"},
    {"n": "2", "t": "false", "s": "v"},
    {"n": "NA", "t": "?", "s": " u"},
    {"n": "3", "t": "true", "s": "w"},
    {"n": "4", "t": "", "s": ""},
]


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "train.csv"
    rows = [f"{i},{str(i % 2 == 0).lower()},{'uv'[i % 3 > 0]},{'ab'[i % 2]}" for i in range(12)]
    path.write_text("n,t,s,y\n" + "\n".join(rows) + "\n")
    return priory.train(path, "y", settings=priory.Settings.textbook())


def csv(rows, folder):
    names = list(rows[0])
    lines = [",".join(names), *(",".join(row[n] for n in names) for row in rows)]
    (folder / "rows.csv").write_text("\n".join(lines) + "\n")
    return folder / "rows.csv"


def lines(rows, folder):
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder / "rows.jsonl"


def array(rows, folder):
    (folder / "rows.json").write_text(json.dumps(rows))
    return folder / "rows.json"


def parquet(rows, folder):
    pq.write_table(pa.Table.from_pylist(rows), folder / "rows.parquet")
    return folder / "rows.parquet"


def query(rows, folder):
    return f"SELECT * FROM '{parquet(rows, folder)}'"


ROADS = {
    "csv": csv,
    "lines": lines,
    "array": array,
    "parquet": parquet,
    "query": query,
    "pandas": lambda rows, _: pd.DataFrame(rows),
    "arrow": lambda rows, _: pa.Table.from_pylist(rows),
    "stream": lambda rows, _: pa.Table.from_pylist(rows).to_reader(2),
    "columns": lambda rows, _: {name: [row[name] for row in rows] for name in rows[0]},
    "rows": lambda rows, _: rows,
}


@pytest.fixture(params=ROADS)
def road(request, tmp_path):
    return lambda rows: ROADS[request.param](rows, tmp_path)


def answers(model, source, **options):
    """Answer as many rows as can be read, and tell what then went wrong."""
    found = []
    try:
        for X, _ in rows_of(model, source, **options):
            found += model.predict_proba(X).tolist()
    except InputError as error:
        return found, str(error)
    return found, None


def expected(model):
    rows = {"n": [1, 2, None, 3, 4], "t": [True, False, None, True, None]}
    return model.predict_proba({**rows, "s": ["u", "v", "u", "w", None]}).tolist()


@pytest.mark.filterwarnings("ignore:Column 's'")
def test_gap_words_blanks_and_the_order_of_columns(model, road):
    assert answers(model, road(ROWS)) == (expected(model), None)
    turned = [{name: row[name] for name in ("s", "t", "n")} for row in ROWS]
    assert answers(model, road(turned)) == (expected(model), None)


@pytest.mark.filterwarnings("ignore:Column 's'")
def test_a_column_too_many_is_ignored(model, road):
    more = [{**row, "moon": "full"} for row in ROWS]
    assert answers(model, road(more)) == (expected(model), None)


def test_an_absent_column_is_missing_with_a_warning(model, road):
    less = [{"n": row["n"], "s": row["s"]} for row in ROWS[:2]]
    with pytest.warns(PrioryWarning, match=r"has no column 't': missing in every row"):
        found = answers(model, road(less))
    assert found == (
        model.predict_proba({"n": [1, 2], "s": ["u", "v"], "t": [None] * 2}).tolist(),
        None,
    )


def test_what_is_misspelt_is_not_missing(model, road):
    found, error = answers(model, road([{"n": "1", "t": "true", "ss": "u"}]))
    assert (
        not found and "Column 'ss' was not there when the model learned. Did you mean 's'" in error
    )
    assert "No column that the model learned" in answers(model, road([{"q": "1"}]))[1]


@pytest.mark.filterwarnings("ignore:Column 's'")
def test_rows_before_a_bad_one_are_answered(model, road):
    bad = [*ROWS[:3], {**ROWS[3], "n": "three"}, ROWS[4]]
    found, error = answers(model, road(bad))
    assert found == expected(model)[:3]
    assert "column 'n' is read as numbers, but holds 'three'" in error
    number = {"l": "5", "r": "4"}[error.split()[0][0].lower()] if ".csv" in error else "4"
    assert error.split()[1] == number


@pytest.mark.filterwarnings("ignore:Column 's'")
def test_bad_rows_are_left_out(model, road):
    bad = [{**ROWS[0], "t": "perhaps"}, *ROWS[1:3], {**ROWS[3], "n": "three"}, ROWS[4]]
    with pytest.warns(PrioryWarning, match=r"2 rows were left out of .*'perhaps'; .*'three'"):
        found = answers(model, road(bad), on_error="skip")
    whole = expected(model)
    assert found == ([whole[1], whole[2], whole[4]], None)


def test_updates_hold_to_it_too(model, road):
    given = [{**row, "y": "a"} for row in ROWS]
    before = model.statistics
    assert update(model, road(given)) == 5
    assert forget(model, road(given)) == 5
    assert model.statistics == before
    bad = [*given[:2], {**given[2], "n": "many"}]
    with pytest.raises(SchemaError, match=r"column 'n' is read as numbers, but holds 'many'"):
        update(model, road(bad))
    assert model.statistics == before
    with pytest.warns(PrioryWarning, match=r"1 row was left out"):
        assert update(model, road(bad), on_error="skip") == 2


def test_a_new_column_is_told_and_a_new_class_may_be_refused(model, road):
    with pytest.warns(PrioryWarning, match=r"new column, not learned: 'moon'"):
        update(model, road([{**ROWS[0], "y": "a", "moon": "full"}]))
    with pytest.raises(SchemaError, match=r"has 1 row of the class 'aa'.*Did you mean 'a'\?"):
        update(model, road([{**ROWS[0], "y": "aa"}]), new_classes=False)
