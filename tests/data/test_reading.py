"""The same data through every kind of table gives the same statistics, or a clear refusal."""

import datetime as dt
import uuid

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from priory import Classifier, NaiveBayes, Settings
from priory.base.errors import InputError, SchemaError
from priory.data.columns import Numbers
from priory.data.rawtables import open_table
from priory.data.reading import infer, read, read_labels
from priory.data.schema import Kind
from priory.statistics import Statistics

from .tables import COLUMNS, Y, count


@pytest.fixture
def expected():
    return count(COLUMNS)


class Stream:
    """Anything that speaks the Arrow C stream protocol, and nothing else."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


ARROW = pa.table(COLUMNS)
WORDS = COLUMNS["word"]
PANDAS_OBJECT = pd.DataFrame({name: pd.Series(v, dtype=object) for name, v in COLUMNS.items()})
SAME = {
    "list of dicts": lambda: [
        dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)
    ],
    "dict of arrays": lambda: {n: np.array(v, dtype=object) for n, v in COLUMNS.items()},
    "dict of series": lambda: {n: pd.Series(v) for n, v in COLUMNS.items()},
    "pandas": lambda: pd.DataFrame(COLUMNS),
    "pandas object": lambda: PANDAS_OBJECT,
    "pandas nullable": lambda: PANDAS_OBJECT.convert_dtypes(),
    "pandas category": lambda: PANDAS_OBJECT.convert_dtypes().astype({"word": "category"}),
    "pandas Arrow": lambda: ARROW.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "polars categorical": lambda: pl.DataFrame(COLUMNS).with_columns(
        pl.col("word").cast(pl.Categorical)
    ),
    "polars enum": lambda: pl.DataFrame(COLUMNS).with_columns(
        pl.col("word").cast(pl.Enum(["red", "blü", "green"]))
    ),
    "Arrow": lambda: ARROW,
    "Arrow batch": lambda: ARROW.to_batches()[0],
    "Arrow reader": lambda: ARROW.to_reader(max_chunksize=2),
    "Arrow chunks": lambda: pa.concat_tables([ARROW.slice(0, 2), ARROW.slice(2)]),
    "Arrow stream": lambda: Stream(ARROW),
    "Arrow dictionary": lambda: ARROW.set_column(0, "word", ARROW["word"].dictionary_encode()),
    "Arrow dictionaries that differ": lambda: pa.table(
        [
            pa.chunked_array(
                [pa.array(part).dictionary_encode() for part in (WORDS[:2], WORDS[2:])]
            ),
            *ARROW.columns[1:],
        ],
        names=ARROW.column_names,
    ),
    "Arrow views": lambda: ARROW.set_column(0, "word", ARROW["word"].cast(pa.string_view())),
    "Arrow large": lambda: ARROW.set_column(0, "word", ARROW["word"].cast(pa.large_string())),
    "structured": lambda: np.array(
        list(zip(*COLUMNS.values(), strict=True)), dtype=[(n, "O") for n in COLUMNS]
    ),
}


@pytest.mark.parametrize("how", SAME)
def test_same_statistics(how, expected):
    assert count(SAME[how]()) == expected


@pytest.mark.parametrize("how", SAME)
def test_same_predictions(how):
    classifier = Classifier(Settings.textbook()).update(COLUMNS, Y)
    np.testing.assert_array_equal(
        classifier.predict_proba(SAME[how]()), classifier.predict_proba(COLUMNS)
    )


@pytest.mark.parametrize("how", ["pandas", "polars", "Arrow"])
def test_columns_are_matched_by_name(how):
    classifier = Classifier(Settings.textbook()).update(COLUMNS, Y)
    table = SAME[how]()
    names = list(reversed(COLUMNS))
    table = table.select(names) if how != "pandas" else table[names]
    np.testing.assert_array_equal(
        classifier.predict_proba(table), classifier.predict_proba(COLUMNS)
    )


def test_names_in_parts_are_joined():
    parts = pd.MultiIndex.from_tuples([("a", "x"), ("a", "y"), ("b", "")])
    frame = pd.DataFrame([[1.0, 2.0, 3.0], [2.0, 4.0, 1.0]], columns=parts)
    model = NaiveBayes.textbook().fit(frame, [0, 1])
    assert model.feature_names_in_.tolist() == ["a.x", "a.y", "b"]
    expected = model.predict_proba(frame.iloc[[0]])
    for row in ({"a.x": 1.0, "a.y": 2.0, "b": 3.0}, {("a", "x"): 1.0, ("a", "y"): 2.0, "b": 3.0}):
        np.testing.assert_array_equal(model.predict_proba(row), expected)
    both = NaiveBayes({("a.x", "b"): "multivariate-gaussian"}).fit(frame, [0, 1])
    assert [block.title for block in both.schema_] == ["a.x, b", "a.y"]
    message = r"families names \('a', 'x'\), which is a block of 2 columns.* by dots: 'a.x'"
    with pytest.raises(SchemaError, match=message):
        NaiveBayes({("a", "x"): "histogram"}).fit(frame, [0, 1])


class TestArrays:
    X = np.arange(20.0).reshape(5, 4) % 7 - 2

    @pytest.mark.parametrize(
        "make",
        [
            np.asfortranarray,
            lambda X: X.astype(np.float32),
            lambda X: X.astype(np.float16),
            lambda X: X.astype(np.longdouble),
            lambda X: X.astype(">f8"),
            lambda X: X.astype(object),
            lambda X: X.tolist(),
            lambda X: X.astype(np.int8),
            lambda X: X.astype(">i4"),
            lambda X: X.astype(np.int64),
            lambda X: np.repeat(X, 2, axis=0)[::2],
            lambda X: np.repeat(X, 3, axis=1)[:, ::3],
            lambda X: X[::-1][::-1],
        ],
    )
    def test_same_statistics(self, make):
        assert count(make(self.X)) == count(self.X)

    def test_read_only(self):
        X = self.X.copy()
        X.flags.writeable = False
        assert count(X) == count(self.X)

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_floats_are_not_copied(self, dtype):
        X = self.X.astype(dtype)
        frame = read(X, infer(X))
        for column in frame.columns.values():
            assert column.values.dtype == dtype
            assert np.shares_memory(column.values, X)

    def test_arrow_floats_are_not_copied(self):
        array = pa.array(np.arange(5, dtype=np.float32))
        found = read({"x": array}, infer({"x": array}))["x"].values
        assert found.dtype == np.float32
        assert np.shares_memory(found, array.to_numpy())

    @pytest.mark.filterwarnings("ignore:the matrix subclass")
    def test_matrix(self):
        assert count(np.asmatrix(self.X)) == count(self.X)

    def test_booleans_are_truths(self):
        X = np.array([[True], [False], [True]])
        assert count(X, Y[:3]).tables["x0"].labels == (False, True)

    def test_strings_are_labels(self):
        for dtype in ("U1", np.dtypes.StringDType(), object):
            X = np.array([["1", "x"], ["2", "y"], ["1", "y"]], dtype=dtype)
            tables = count(X, Y[:3]).tables
            assert tables["x0"].labels == ("1", "2")

    def test_mixed_lists_keep_their_types(self):
        schema = infer([[1, "x"], [2.5, "y"], [None, "x"]])
        assert [block.kind for block in schema] == [Kind.NUMBERS, Kind.LABELS]

    def test_masked_is_missing(self):
        masked = np.ma.masked_array([[1.0, 2.0], [3.0, 4.0]], mask=[[0, 1], [0, 0]])
        plain = np.array([[1.0, np.nan], [3.0, 4.0]])
        assert count(masked, Y[:2]) == count(plain, Y[:2])
        assert count(masked.astype(int), Y[:2]) == count(plain, Y[:2])
        together = Settings.textbook("gaussian")
        assert count(masked, Y[:2], together) == count(plain, Y[:2], together)

    def test_unnamed_columns_are_matched_by_position(self):
        frame = pd.DataFrame(self.X, columns=list("abcd"))
        classifier = Classifier(Settings.textbook()).update(frame, Y)
        np.testing.assert_array_equal(
            classifier.predict_proba(self.X), classifier.predict_proba(frame)
        )


class TestSparse:
    X = np.array([[0, 2, 1], [3, 0, 0], [0, 0, 0], [1, 1, 1], [0, 0, 4.0]])

    @pytest.mark.parametrize(
        "make",
        [
            sp.csr_matrix,
            sp.csc_matrix,
            sp.coo_matrix,
            sp.csr_array,
            sp.dok_array,
            sp.lil_matrix,
            lambda X: sp.csr_matrix(X.astype(np.float32)),
            lambda X: sp.csr_matrix(X.astype(np.int64)),
        ],
    )
    def test_same_as_dense_counts(self, make):
        assert count(make(self.X)) == count(
            self.X, settings=Settings.textbook(families="multinomial")
        )

    def test_duplicates_are_added_up(self):
        rows, columns = [0, 0, 0, 1, 3, 3, 3, 4], [1, 1, 2, 0, 0, 1, 2, 2]
        values = [1.0, 1.0, 1.0, 3.0, 1.0, 1.0, 1.0, 4.0]
        matrix = sp.coo_matrix((values, (rows, columns)), shape=(5, 3))
        assert count(matrix) == count(sp.csr_matrix(self.X))
        assert matrix.nnz == 8  # the user's matrix stays as it was

    def test_duplicates_in_csr_leave_the_matrix_alone(self):
        data, indices, indptr = [1.0, 1.0, 2.0], [1, 1, 0], [0, 2, 3]
        matrix = sp.csr_matrix((data, indices, indptr), shape=(2, 3))
        dense = matrix.toarray()
        assert count(matrix, Y[:2]) == count(
            dense, Y[:2], Settings.textbook(families="multinomial")
        )
        assert matrix.nnz == 3

    def test_booleans(self):
        present = self.X > 0
        found = count(sp.csr_matrix(present), settings=Settings.textbook(families="bernoulli"))
        assert found == count(sp.csr_matrix(present.astype(float)))


class TestOneRow:
    def test_a_dict_of_values_is_one_row(self):
        classifier = Classifier(Settings.textbook()).update(COLUMNS, Y)
        row = {"word": "red", "whole": 1, "number": np.float64(0.5), "truth": None}
        many = {name: [value] for name, value in row.items()}
        np.testing.assert_array_equal(classifier.predict_proba(row), classifier.predict_proba(many))

    def test_values_beside_sequences_are_refused(self):
        with pytest.raises(
            InputError, match=r"Column 'b' is a single value, 3, but others are seq"
        ):
            infer({"a": [1, 2], "b": 3})


def test_reader_that_gives_only_once_is_enough():
    assert count(Once(ARROW)) == count(COLUMNS)


class Once(Stream):
    """A stream that can be read one time."""

    def __arrow_c_stream__(self, requested_schema=None):
        table, self.table = self.table, None
        return table.__arrow_c_stream__(requested_schema)


REFUSED = {
    "lists": (
        lambda: {"x": [[1], [2]]},
        r"Column 'x' holds \[1\], of type list, in row 0; .* their own",
    ),
    "sets": (lambda: {"x": {1, 2}}, r"'x' must be a sequence with a value for each row.* type set"),
    "dicts": (lambda: {"x": [{"a": 1}, {"a": 2}]}, r"Column 'x' holds .* of type dict"),
    "bytes": (
        lambda: {"x": [b"a", b"b"]},
        r"Column 'x' holds b'a', of type bytes, in row 0; .* into strings",
    ),
    "uuids": (lambda: {"x": [uuid.UUID(int=1)] * 2}, r"Column 'x' holds UUID.* Turn it into strin"),
    "dates and words": (
        lambda: {"x": [dt.date(2020, 1, 1), "soon"]},
        r"Column 'x' mixes dates with other values",
    ),
    "matrix in a column": (
        lambda: {"x": np.zeros((2, 2))},
        r"'x' must be one-dimensional, but has shape \(2, 2\)",
    ),
    "Arrow lists": (lambda: pa.table({"x": [[1], [2]]}), r"Column 'x' has the type list.* Spread"),
    "Arrow structs": (lambda: pa.table({"x": [{"a": 1}]}), r"Column 'x' has the type struct.* Spr"),
    "Arrow binary": (lambda: pa.table({"x": [b"a"]}), r"Column 'x' has the type binary.* Cast it"),
    "Arrow months": (
        lambda: pa.table({"x": [pa.MonthDayNano([1, 2, 3])]}),
        r"Column 'x' has the type month_day_nano_interval.* Cast it",
    ),
    "polars lists": (lambda: pl.DataFrame({"x": [[1], [2]]}), r"Column 'x' has the type .*list"),
    "dates and numbers": (
        lambda: {"x": [dt.datetime(2020, 1, 1), 3]},
        r"Column 'x' mixes dates with other values: row 1 holds 3. Make all of them dates",
    ),
    "periods of several lengths": (
        lambda: {"x": [pd.Period("2020-01", "M"), pd.Period("2020", "Y")]},
        r"Column 'x' mixes periods with other values, or with others of another frequency",
    ),
    "pandas intervals": (
        lambda: pd.DataFrame({"x": pd.Series(pd.IntervalIndex.from_breaks([0, 1, 2]))}),
        r"Column 'x' has the type .*interval.* Cast it",
    ),
    "a row of a DataFrame": (
        lambda: pd.DataFrame({"a": [1], "b": [2]}).iloc[0],
        r"X is a Series, which may be one row or one column.* df.iloc\[\[0\]\].* df\[\['name'\]\]",
    ),
    "polars 128 bits": (
        lambda: pl.DataFrame({"x": pl.Series([1], dtype=pl.Int128)}),
        r"X, of type DataFrame, cannot be read as an Arrow table: .* Cast the column at fault",
    ),
    "rows without keys": (lambda: [{}, {}], r"rows without a single key: there is nothing to"),
    "complex": (lambda: np.zeros((2, 2), dtype=complex), r"Complex data not supported"),
    "complex column": (lambda: {"x": np.zeros(2, dtype=complex)}, r"Complex .* column 'x'"),
    "complex sparse": (lambda: sp.csr_matrix(np.eye(2) * 1j), r"Complex data not supported"),
    "bytes array": (lambda: np.array([[b"a"], [b"b"]]), r"Column 'x0' has the type \|S1.* Turn it"),
    "same name twice": (
        lambda: pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]),
        r"Column 'a' stands more than once; give each column its own name",
    ),
    "same name but for its type": (
        lambda: pd.DataFrame([[1, 2], [3, 4]], columns=[1, "1"]),
        r"Column '1' stands more than once",
    ),
    "Arrow name twice": (
        lambda: pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]),
        r"Column 'a' stands more than once",
    ),
    "1D": (lambda: np.zeros(3), r"Expected 2D array, got 1D array .*\(3,\).*reshape\(-1, 1\)"),
    "3D": (lambda: np.zeros((2, 2, 2)), r"Expected 2D array, got 3D array"),
    "1D sparse": (lambda: sp.coo_array(np.array([1.0, 0.0])), r"Expected 2D array, got 1D array"),
    "one column": (lambda: pl.Series("x", [1]), r"X is one column, of type Series, .*\{'x': X\}"),
    "ragged rows": (lambda: [[1, 2], [3]], r"X cannot be read as a table; its rows must have the"),
    "ragged columns": (
        lambda: {"a": [1, 2], "b": [1]},
        r"The columns differ in length: \{'a': 2, 'b': 1\}",
    ),
    "no columns": (lambda: np.zeros((3, 0)), r"Found array with 0 feature\(s\)"),
    "no table": (lambda: "rows.csv", r"X is no table: 'rows.csv', of type str. Give a DataFrame"),
    "nothing": (lambda: None, r"X is no table: None"),
    "lazy": (lambda: pl.LazyFrame({"x": [1]}), r"X is a LazyFrame, .* give X.collect\(\)"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what):
    make, message = REFUSED[what]
    with pytest.raises(InputError, match=message):
        infer(make())


def test_sentences_may_be_declared_categories():
    X = {"x": ["the first of many long sentences", "and here is yet another one"]}
    assert infer(X, {("x",): Kind.LABELS})["x"].kind is Kind.LABELS


MESSAGE = r"Column 'x' holds -?(inf|1e\+\d+) in row 1\. Numbers must be finite"


@pytest.mark.parametrize("wrong", [np.inf, -np.inf, 1e300, -1e151])
@pytest.mark.parametrize("families", ["plain", {("x", "z"): "gaussian"}])
def test_numbers_too_large_are_refused(wrong, families):
    X = {"z": [1.0, 2.0, 3.0], "x": [1.0, wrong, 2.0]}
    with pytest.raises(InputError, match=MESSAGE):
        count(X, Y[:3], Settings.textbook(families))
    model = Classifier(Settings.textbook(families)).update({**X, "x": [1.0, 3.0, 2.0]}, Y[:3])
    with pytest.raises(InputError, match=MESSAGE):
        model.predict(X)


def test_infinity_is_no_label():
    with pytest.raises(InputError, match=r"Column 'x': infinity is no label"):
        count({"x": [1.0, np.inf]}, Y[:2], Settings.textbook(families={"x": "categorical"}))
    with pytest.raises(InputError, match=r"y: infinity is no label"):
        read_labels([1.0, np.inf])


def test_identifiers_are_not_counted():
    X = {"id": [f"row {i}" for i in range(1000)], "x": np.arange(1000) % 3}
    assert infer(X)["id"].kind is Kind.IDENTIFIER
    repeated = {**X, "id": [*X["id"][:999], "row 0"]}
    assert infer(repeated)["id"].kind is Kind.LABELS


def test_table_is_coded_once():
    raw = open_table(COLUMNS)
    assert raw.column("word") is raw.column("word")
    assert open_table(raw) is raw
    assert isinstance(raw.column("number").column, Numbers)


def test_statistics_do_not_depend_on_why():
    statistics = count(COLUMNS)
    assert isinstance(statistics, Statistics)
    assert {b.name: b.why for b in statistics.schema}["word"] == "strings"
    category = count(PANDAS_OBJECT.convert_dtypes().astype({"word": "category"}))
    assert {b.name: b.why for b in category.schema}["word"] == "category"
    assert category == statistics


def test_dates_of_a_declared_family_are_asked_for_as_dates():
    when = pd.DataFrame({"when": pd.date_range("2024-01-01", periods=40)})
    model = NaiveBayes.textbook(families={"when": "student-t"}).fit(when, ["a"] * 20 + ["b"] * 20)
    assert model.schema_["when"].unit == "date"
    asked = model.predict_proba({"when": ["2024-01-05", "2024-02-05"]})
    np.testing.assert_array_equal(asked, model.predict_proba(when.iloc[[4, 35]]))
    assert "2024-02-05" in str(model.explain({"when": ["2024-02-05"]}))
