"""The same data through every kind of table gives the same statistics, or a clear refusal."""

import datetime as dt
import uuid
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.exceptions import DataConversionWarning

from priory import Classifier, NaiveBayes, Settings, load
from priory.base.errors import InputError, SchemaError
from priory.data.columns import Numbers
from priory.data.rawtables import open_table
from priory.data.reading import infer, read, read_labels, read_weights
from priory.data.schema import Kind
from priory.statistics import Statistics

COLUMNS = {
    "word": ["red", "blü", None, "red", "green"],
    "whole": [1, 2, 3, None, 1],
    "number": [0.5, None, -2.25, 1e10, 0.0],
    "truth": [True, False, None, True, True],
}
Y = ["a", "b", "a", "c", "b"]


def count(X, y=Y, settings=None):
    return Classifier(settings).update(X, y).statistics


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


class TestTimes:
    """Dates are seconds since 1970, times and durations are seconds, whatever brings them."""

    DATES = (dt.datetime(2020, 1, 1), None, dt.datetime(1969, 12, 31, 23, 59, 59, 500_000))
    SECONDS = (1577836800.0, np.nan, -0.5)
    DURATIONS = (dt.timedelta(days=1), None, dt.timedelta(milliseconds=-250))
    LENGTHS = (86400.0, np.nan, -0.25)

    @pytest.mark.parametrize(
        "make",
        [
            list,
            pd.to_datetime,
            lambda d: pd.to_datetime(d).astype("datetime64[ms]"),
            lambda d: pd.to_datetime(d).tz_localize("UTC").tz_convert("Asia/Tokyo"),
            lambda d: np.array(d, dtype="M8[us]"),
            lambda d: pl.Series(d, dtype=pl.Datetime("ms")),
            lambda d: pa.array(d, pa.timestamp("us")),
            lambda d: pa.array(d, pa.timestamp("ns", "Europe/Berlin")),
        ],
    )
    def test_dates(self, make):
        self.same({"t": make(list(self.DATES))}, self.SECONDS)

    @pytest.mark.parametrize(
        "make",
        [
            list,
            pd.to_timedelta,
            lambda d: np.array(d, dtype="m8[ms]"),
            lambda d: pl.Series(d, dtype=pl.Duration("us")),
            lambda d: pa.array(d, pa.duration("ns")),
        ],
    )
    def test_durations(self, make):
        self.same({"t": make(list(self.DURATIONS))}, self.LENGTHS)

    @pytest.mark.parametrize(
        "make", [list, pa.array, lambda d: pa.array(d, pa.date64()), pl.Series, pd.Series]
    )
    def test_days(self, make):
        days = [dt.date(2020, 1, 1), None, dt.date(1970, 1, 2)]
        self.same({"t": make(days)}, (1577836800.0, np.nan, 86400.0))

    @pytest.mark.parametrize(
        "make", [list, pl.Series, lambda d: pa.array(d, pa.time32("s")), pa.array]
    )
    def test_times_of_day(self, make):
        self.same({"t": make([dt.time(1, 0), None, dt.time(0, 1)])}, (3600.0, np.nan, 60.0))

    @pytest.mark.parametrize(
        "make", [list, pd.Series, pd.PeriodIndex, lambda d: pd.Series(d, dtype=object)]
    )
    def test_periods_are_the_date_they_begin_on(self, make):
        periods = [pd.Period("2020-01", "M"), None, pd.Period("1970-02", "M")]
        self.same({"t": make(periods)}, (1577836800.0, np.nan, 31 * 86400.0))

    def test_days_among_points_in_time(self):
        mixed = [dt.date(2020, 1, 1), None, dt.datetime(1970, 1, 2)]
        self.same({"t": mixed}, (1577836800.0, np.nan, 86400.0))

    @staticmethod
    def same(X, seconds):
        y = ["a", "b", "a"]
        assert count(X, y) == count({"t": np.array(seconds)}, y)


@pytest.mark.parametrize(
    "make",
    [list, pa.array, pl.Series, lambda d: pd.Series(d, dtype=object), pd.Series],
)
def test_decimals_are_numbers(make):
    values = [Decimal("1.5"), None, Decimal("-3")]
    y = ["a", "b", "a"]
    assert count({"x": make(values)}, y) == count({"x": [1.5, None, -3.0]}, y)


def test_categories_of_other_types_become_strings():
    statistics = count(pd.DataFrame({"x": pd.cut([1, 2, 3, 4, 9], [0, 2, 5, 10])}))
    assert statistics.tables["x"].labels == ("(0, 2]", "(2, 5]", "(5, 10]")


def test_categories_of_numbers_are_labels():
    expected = count(
        {"x": [10, 20, 10, 30, 10]}, settings=Settings.textbook(families={"x": "categorical"})
    )
    category = count(pd.DataFrame({"x": pd.Categorical([10, 20, 10, 30, 10])}))
    dictionary = count(pa.table({"x": pa.array([10, 20, 10, 30, 10]).dictionary_encode()}))
    assert category == dictionary == expected
    assert category.tables["x"].labels == (10, 20, 30)


class TestOrdered:
    """Categories whose order was declared keep it, and may be read as their places in it."""

    SIZES = ("small", "large", "medium", None, "small")
    ORDER = ("small", "medium", "large")
    FRAME = pd.DataFrame({"size": pd.Categorical(SIZES, categories=ORDER, ordered=True)})

    def test_labels_with_an_order(self):
        schema = infer(self.FRAME)
        assert schema["size"].order == self.ORDER
        assert schema["size"].why == "ordered categories"
        assert count(self.FRAME) == count({"size": list(self.SIZES)})
        arrow = pa.DictionaryArray.from_arrays(
            pa.array([0, 2, 1, None, 0]), pa.array(self.ORDER), ordered=True
        )
        assert infer(pa.table({"size": arrow}))["size"].order == self.ORDER
        assert infer({"size": list(self.SIZES)})["size"].order == ()

    def test_places_as_numbers(self, tmp_path):
        settings = Settings.textbook({"size": "gaussian"})
        places = {"size": [0.0, 2.0, 1.0, None, 0.0]}
        classifier = Classifier(settings).update(self.FRAME, Y)
        expected = Classifier(settings).update(places, Y)
        assert classifier.statistics.tables["size"] == expected.statistics.tables["size"]
        classifier.save(tmp_path / "m.priory")
        for model in (classifier, load(tmp_path / "m.priory")):
            assert model.statistics.schema["size"].order == self.ORDER
            np.testing.assert_array_equal(
                model.predict_proba({"size": list(self.SIZES)}), expected.predict_proba(places)
            )
            np.testing.assert_array_equal(
                model.predict_proba({"size": "medium"}), expected.predict_proba({"size": 1})
            )
            message = r"'size' has the ordered categories 'small', .* but holds 'huge'"
            with pytest.raises(SchemaError, match=message):
                model.predict({"size": "huge"})

    def test_categories_of_numbers_are_those_numbers(self):
        years = pd.DataFrame({"x": pd.Categorical([2000, 2010, 2000, 2020, 2010], ordered=True)})
        settings = Settings.textbook({"x": "gaussian"})
        assert count(years, settings=settings) == count(
            {"x": years["x"].tolist()}, settings=settings
        )

    def test_two_orders_do_not_merge(self):
        other = pd.DataFrame({"size": self.FRAME["size"].cat.reorder_categories(self.ORDER[::-1])})
        a, b = (Classifier(Settings.textbook({"size": "gaussian"})) for _ in range(2))
        with pytest.raises(SchemaError, match=r"'size' counts the places of categories in the ord"):
            a.update(self.FRAME, Y).merge(b.update(other, Y))


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


def test_categories_without_rows_do_not_count():
    column = pd.Categorical(["b", "a", None], categories=["z", "b", "a"])
    assert count(pd.DataFrame({"x": column}), Y[:3]).tables["x"].labels == ("a", "b")


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


class TestMasked:
    """What is masked is missing, whatever stands below the mask."""

    MASK = (False, True, False, True)

    @pytest.mark.parametrize(
        "values",
        [
            np.array([1.5, np.inf, 2.5, 0.5]),
            np.array([1.5, 9.0, 2.5, 0.5], dtype=np.float32),
            np.array([1, 2**62, 3, 1]),
            np.array([True, True, False, False]),
            np.array(["u", "v", "w", "u"]),
            np.array(["u", object(), 2, None], dtype=object),
            np.array(["2020-01-01", "2021-01-01", "2022-01-01", "NaT"], dtype="M8[D]"),
        ],
        ids=lambda values: str(values.dtype),
    )
    def test_in_a_column(self, values):
        masked = np.ma.masked_array(values, mask=self.MASK)
        kept = [None if gap else v for v, gap in zip(values.tolist(), self.MASK, strict=True)]
        found, y = count({"x": masked}, Y[:4]), Y[:4]
        assert found == count({"x": kept}, y)
        assert NaiveBayes().fit({"x": masked}, y).statistics_ == found
        assert found.n_rows == 4
        structured = np.ma.masked_all(4, dtype=[("x", values.dtype)])
        structured["x"] = masked
        assert count(structured, y) == found

    def test_in_a_list(self):
        assert count({"x": [1.5, np.ma.masked, 2]}, Y[:3]) == count({"x": [1.5, None, 2]}, Y[:3])
        model = NaiveBayes.textbook().fit({"x": [1.0, 2.0, 3.0]}, Y[:3])
        expected = model.predict_proba({"x": None})
        np.testing.assert_array_equal(model.predict_proba({"x": np.ma.masked}), expected)

    def test_texts(self):
        texts = ["the first of many long sentences", "and here is yet another one"] * 2
        masked = np.ma.masked_array(texts, mask=self.MASK)
        settings = Settings.textbook(text=["x"])
        assert count({"x": masked}, Y[:4], settings) == count(
            {"x": [texts[0], None, texts[2], None]}, Y[:4], settings
        )

    def test_nothing_masked(self):
        values = np.array([1, 2, 3])
        assert count({"x": np.ma.masked_array(values)}, Y[:3]) == count({"x": values}, Y[:3])

    def test_classes(self):
        for values in ([0, 1, 0, 1], ["a", "b", "a", "b"]):
            y = np.ma.masked_array(values, mask=self.MASK)
            with pytest.raises(InputError, match=r"y has 2 missing labels .* first in row 1"):
                read_labels(y)
            with (
                pytest.raises(InputError, match=r"y has 2 missing labels .* first in row 1"),
                pytest.warns(DataConversionWarning),
            ):
                NaiveBayes().fit({"x": [1, 2, 3, 4]}, y.reshape(-1, 1))
        assert read_labels(np.ma.masked_array([3, 1, 3])).labels == (3, 1)

    def test_weights(self):
        with pytest.raises(InputError, match=r"sample_weight is masked in row 1; give every row"):
            read_weights(np.ma.masked_array([1.0, 2.0], mask=[0, 1]), 2)


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


class TestHugeIntegers:
    """Ids beyond 2^53 differ although a float64 would make them equal."""

    IDS = (2**60, 2**60 + 1, 2**60 + 2, -(2**60) - 1)

    @pytest.mark.parametrize(
        "make",
        [
            list,
            np.array,
            lambda v: np.array(v, dtype=">i8"),
            lambda v: pd.Series(v, dtype="Int64"),
            pl.Series,
            pa.array,
            lambda v: pa.array(v).dictionary_encode(),
        ],
    )
    def test_as_classes_and_as_categories(self, make):
        ids = list(self.IDS)
        assert sorted(read_labels(make(ids)).labels) == sorted(ids)
        statistics = count(
            {"id": make(ids)}, Y[:4], Settings.textbook(families={"id": "categorical"})
        )
        assert statistics.tables["id"].labels == tuple(sorted(ids))

    def test_beyond_64_bits(self):
        for ids in ([2**64 - 1, 2**64 - 2], [2**63, -1], [10**30, 10**30 + 1]):
            classifier = Classifier(Settings.textbook()).update({"x": [1.0, 2.0]}, ids)
            assert classifier.classes == tuple(sorted(ids))
            assert sorted(classifier.predict({"x": [1.0, 2.0]}).tolist()) == sorted(ids)

    @pytest.mark.parametrize("make", [list, np.array, pa.array])
    def test_as_numbers_they_stay_numbers(self, make):
        nanoseconds = [1_600_000_000_000_000_001, 1_600_000_000_000_000_003]
        statistics = count({"t": make(nanoseconds)}, Y[:2])
        assert statistics == count({"t": [1.6e18, 1.6e18]}, Y[:2])
        assert statistics.schema["t"].kind is Kind.NUMBERS

    def test_beyond_all_floats(self):
        with pytest.raises(InputError, match=r"Column 'x' holds inf"):
            count({"x": [10**400, 1]}, Y[:2])


def test_labels_of_every_kind_stay_apart():
    labels = read_labels([1, "1", True, 1.0, "é", "", 2.5, False, 0])
    assert [(type(v), v) for v in labels.labels] == [
        (int, 1),
        (str, "1"),
        (bool, True),
        (str, "é"),
        (str, ""),
        (float, 2.5),
        (bool, False),
        (int, 0),
    ]


@pytest.mark.parametrize("gap", [None, np.nan, pd.NA, pd.NaT, float("nan"), Decimal("nan")])
def test_every_kind_of_gap(gap):
    y = ["a", "b"]
    assert count({"x": ["u", gap]}, y) == count({"x": ["u", None]}, y)


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


class TestMatching:
    SCHEMA = infer({"color": ["red", "blue"], "size": [1.0, 2.0], "truth": [True, False]})

    def test_missing_column(self):
        message = r"Column 'color' was not found. Columns: 'colour', .* Did you mean 'colour'\?"
        with pytest.raises(SchemaError, match=message):
            read({"colour": ["red"], "size": [1.0], "truth": [True]}, self.SCHEMA)

    @pytest.mark.parametrize(
        "X",
        [
            {"color": "red", "size": 1.0, "truth": True, "sizes": 2},
            [{"color": "red", "size": 1.0, "truth": True, "sizes": 2}],
            {"color": ["red"], "size": [1.0], "truth": [True], "sizes": [2]},
            pd.DataFrame({"sizes": [2], "color": ["red"], "size": [1.0], "truth": [True]}),
        ],
    )
    def test_extra_columns_are_not_looked_at(self, X):
        frame = read(X, self.SCHEMA)
        assert frame["size"].values.tolist() == [[1.0]]
        assert [frame["color"].value(0), frame["truth"].value(0)] == ["red", True]

    def test_a_key_that_is_not_there_is_a_gap(self):
        for X in ({"size": 1.0}, [{"size": 1.0}], {"size": np.float64(1.0), "other": 2}):
            frame = read(X, self.SCHEMA)
            assert frame["color"].missing.all() and frame["truth"].missing.all()
            assert frame["size"].values.tolist() == [[1.0]]
        frame = read([{"size": 1.0}, {"color": "red"}], self.SCHEMA)
        assert frame["color"].missing.tolist() == [True, False]
        assert read({}, self.SCHEMA)["size"].missing.all()

    def test_a_key_that_is_misspelt_is_no_gap(self):
        message = r"Column 'sizes' was not there .* Did you mean 'size'\? .* on purpose is None"
        with pytest.raises(SchemaError, match=message):
            read({"color": "red", "sizes": 2.0}, self.SCHEMA)
        assert read({"color": "red", "sizes": 2.0, "size": None}, self.SCHEMA)["size"].missing.all()

    def test_a_row_of_other_keys_alone_is_refused(self):
        with pytest.raises(SchemaError, match=r"Column 'color' was not found. Columns: 'weight'"):
            read({"weight": 2.0}, self.SCHEMA)

    def test_keys_of_an_array_are_matched_by_name(self):
        schema = infer(np.array([[1.0, 2.0], [3.0, 4.0]]))
        for X in ({"x1": 5.0, "x0": 6.0}, pd.DataFrame({"x1": [5.0], "x0": [6.0]})):
            frame = read(X, schema)
            assert [frame["x0"].value(0), frame["x1"].value(0)] == [6.0, 5.0]
        assert read({"x1": 5.0}, schema)["x0"].missing.all()
        frame = read(pd.DataFrame({"a": [6.0], "b": [5.0]}), schema)  # by position
        assert [frame["x0"].value(0), frame["x1"].value(0)] == [6.0, 5.0]

    def test_number_of_columns(self):
        message = r"X has 2 features, but priory is expecting 3 features as input: 'color'"
        with pytest.raises(SchemaError, match=message):
            read(np.zeros((1, 2)), self.SCHEMA)

    def test_words_in_a_column_of_numbers(self):
        message = r"Column 'size' is read as numbers, but holds 'tall'. .*\{'size': 'categorical'\}"
        with pytest.raises(SchemaError, match=message):
            read({"color": "red", "size": "tall", "truth": True}, self.SCHEMA)

    def test_truths_in_a_column_of_numbers_are_numbers(self):
        frame = read({"color": "red", "size": True, "truth": True}, self.SCHEMA)
        assert frame["size"].values.tolist() == [[1.0]]

    def test_declared_columns_must_be_there(self):
        with pytest.raises(SchemaError, match=r"Column 'siz' was not found.* Did you mean 'size'"):
            infer({"size": [1.0, 2.0]}, {("siz",): Kind.LABELS})

    def test_declared_twice(self):
        with pytest.raises(SchemaError, match=r"Column 'a' is declared twice; it can be in one"):
            infer({"a": [1], "b": [2]}, {("a",): Kind.NUMBERS, ("b", "a"): Kind.MOMENTS})


class TestClasses:
    def test_missing(self):
        for gap in (None, np.nan, pd.NA):
            message = r"y has 1 missing labels \(NaN or None\), the first in row 1"
            with pytest.raises(InputError, match=message):
                read_labels(["a", gap, "b"])

    @pytest.mark.parametrize("y", ["abc", 5, {"a": 1}, {1, 2}])
    def test_not_a_sequence(self, y):
        with pytest.raises(InputError, match=r"'y' must be a sequence with a value for each row"):
            read_labels(y)

    def test_two_dimensions(self):
        with pytest.raises(InputError, match=r"'y' must be one-dimensional.*\(3, 2\)"):
            read_labels(np.zeros((3, 2)))

    @pytest.mark.parametrize(
        "make",
        [
            lambda y: pd.Categorical(y, categories=["c", "b", "a"]),
            lambda y: pd.Series(pd.Categorical(y, categories=["c", "b", "a"])),
            lambda y: pl.Series(y, dtype=pl.Enum(["c", "b", "a"])),
            lambda y: pa.DictionaryArray.from_arrays(
                pa.array([2 - (v == "b") for v in y]), pa.array(["c", "b", "a"])
            ),
        ],
    )
    def test_categories_without_rows_are_no_classes(self, make):
        y = ["a", "b"] * 20
        assert sorted(read_labels(make(y)).labels) == ["a", "b"]
        X = {"x": np.arange(40.0)}
        expected = NaiveBayes().fit(X, y)
        for model in (NaiveBayes().fit(X, make(y)), Classifier().fit(X, make(y)).to_sklearn()):
            assert model.classes_.tolist() == ["a", "b"]
            np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))

    def test_truths_of_one_kind(self):
        assert read_labels(np.array([True, True])).labels == (True,)

    @pytest.mark.parametrize(
        "make",
        [
            lambda y: np.array(y).reshape(-1, 1),
            lambda y: pd.DataFrame({"y": y}),
            lambda y: pl.DataFrame({"y": y}),
            lambda y: pa.table({"y": y}),
        ],
    )
    def test_a_table_of_one_column(self, make):
        assert read_labels(make(["b", "a", "b"])).labels == ("b", "a")


class TestWeights:
    def test_numbers(self):
        assert read_weights([1, 0.5, 0], 3).tolist() == [1.0, 0.5, 0.0]
        assert read_weights(2, 3).tolist() == [2.0, 2.0, 2.0]
        assert read_weights(None, 3) is None

    @pytest.mark.parametrize("wrong", [-1.0, np.nan, np.inf])
    def test_wrong_numbers(self, wrong):
        message = r"sample_weight must be finite and at least 0; row 1 has .* use forget"
        with pytest.raises(InputError, match=message):
            read_weights([1.0, wrong], 2)

    def test_wrong_length(self):
        with pytest.raises(InputError, match=r"one number a row: it has shape \(2,\), .* 3 rows"):
            read_weights([1.0, 2.0], 3)

    def test_words(self):
        with pytest.raises(InputError, match=r"sample_weight must be numbers: .*'heavy'"):
            read_weights(["heavy", 1], 2)


def test_empty_columns_find_their_kind_later():
    classifier = Classifier(Settings.textbook()).update(
        {"x": [None, None], "z": [1.0, 2.0]}, ["a", "b"]
    )
    assert classifier.statistics.schema["x"].kind is Kind.EMPTY
    classifier.update({"x": ["u", "v"], "z": [1.0, 2.0]}, ["a", "b"])
    assert classifier.statistics.schema["x"].kind is Kind.LABELS
    assert classifier.statistics.tables["x"].labels == ("u", "v")


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


ROWS = [
    {"s": "a", "b": True, "n": 1.5, "i": 3},
    {"s": None, "b": None, "n": None, "i": float("nan")},
    {"s": "never seen", "b": False, "n": float("nan"), "i": 4.0},
    {"s": 2.0, "b": 1, "n": True, "i": np.int64(3)},
]


@pytest.mark.parametrize("row", ROWS)
def test_one_row_as_a_dict_is_read_as_a_table_of_one_row_is(row):
    learned = {"s": ["a", "b", 2], "b": [True, False, True], "n": [1.0, 2.5, 0.5], "i": [3, 4, 5]}
    model = NaiveBayes(families={"i": "categorical"}, smoothing=1).fit(learned, [0, 1, 1])
    as_table = {name: np.array([value], dtype=object) for name, value in row.items()}
    np.testing.assert_array_equal(model.predict_proba(row), model.predict_proba(as_table))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"x": [1.0]}, "Column 'y' was not found"),
        ({"x": 1.0, "Y": [2.0]}, "Column 'x' is a single value"),
        ({"x": "one", "y": 2.0}, "Column 'x'"),
        ({"x": 1e300, "y": 2.0}, "Column 'x' holds 1e[+]300"),
    ],
)
def test_one_row_that_does_not_fit_is_refused_as_a_table_is(row, message):
    model = NaiveBayes().fit({"x": [1.0, 2.0], "y": [0.5, 1.5]}, [0, 1])
    with pytest.raises(InputError, match=message):
        model.predict_proba(row)
