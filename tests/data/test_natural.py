"""Columns of every type: what each value becomes."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.exceptions import DataConversionWarning

from priory import Classifier, NaiveBayes, Settings, load
from priory.base.errors import InputError, SchemaError
from priory.data.reading import infer, read_labels, read_weights
from priory.data.schema import Kind

from .tables import Y, count


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


def test_categories_without_rows_do_not_count():
    column = pd.Categorical(["b", "a", None], categories=["z", "b", "a"])
    assert count(pd.DataFrame({"x": column}), Y[:3]).tables["x"].labels == ("a", "b")


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
