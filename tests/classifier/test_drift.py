"""Values in another type than was learned are cast where nothing is lost, or warned of."""

import datetime as dt
import warnings
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest

from priory import Classifier, NaiveBayes, Settings, cross_validate, leave_one_out
from priory.base.errors import DriftWarning, SchemaError

Y = ["a", "b", "a", "a", "b", "b", "a", "b", "a", "a", "b", "a"]
TRUTHS = [True, False, True, True, False, True, True, False, True, False, False, True]
CODES = [1, 2, 1, 3, 2, 2, 1, 3, 1, 1, 2, 3]
DAYS = [dt.datetime(2020, 1, 1) + dt.timedelta(days=i) for i in range(12)]
LABELS = Settings.textbook({"x": "categorical"})


def learned(values, settings=LABELS):
    return Classifier(settings).update({"x": values}, Y)


class TestCasts:
    """What was learned in one type and is given in another is the same where it is written so."""

    @pytest.mark.parametrize(
        ("values", "given"),
        [
            (TRUTHS, [int(v) for v in TRUTHS]),
            (TRUTHS, [float(v) for v in TRUTHS]),
            (TRUTHS, [str(v) for v in TRUTHS]),
            (TRUTHS, [str(v).lower() for v in TRUTHS]),
            (TRUTHS, [str(int(v)) for v in TRUTHS]),
            (TRUTHS, [str(v) if i % 2 else v for i, v in enumerate(TRUTHS)]),
            ([str(v) for v in TRUTHS], TRUTHS),
            ([str(v).upper() for v in TRUTHS], TRUTHS),
            ([int(v) for v in TRUTHS], TRUTHS),
            ([str(int(v)) for v in TRUTHS], TRUTHS),
            (CODES, [str(v) for v in CODES]),
            (CODES, [str(float(v)) for v in CODES]),
            (pd.Categorical(CODES), [str(v) for v in CODES]),
            ([str(v) for v in CODES], CODES),
            ([str(v) for v in CODES], [float(v) for v in CODES]),
            ([str(float(v)) for v in CODES], CODES),
            ([v / 2 for v in CODES], [str(v / 2) for v in CODES]),
        ],
    )
    def test_same_answers(self, values, given):
        model = learned(values)
        expected = model.predict_proba({"x": values})
        assert len(np.unique(expected)) > 2
        np.testing.assert_array_equal(model.predict_proba({"x": given}), expected)
        rows = [model.predict_proba({"x": value})[0] for value in given]
        np.testing.assert_array_equal(rows, expected)
        # And so when learning on and forgetting.
        twice = learned(values).update({"x": given}, Y)
        assert twice.statistics == learned(values).update({"x": values}, Y).statistics
        assert twice.forget({"x": given}, Y).statistics == model.statistics

    def test_a_type_that_was_learned_is_not_cast(self):
        model = learned([1, "1", 2, "2", "x", 1, "1", 2, "2", "x", 1, True])
        column = model.frame({"x": ["1", 1, True, "2"]})["x"]
        assert [column.value(i) for i in range(4)] == ["1", 1, True, "2"]

    def test_columns_counted_together(self):
        X = {"x": CODES, "z": TRUTHS, "n": np.arange(12.0)}
        given = {"x": [str(v) for v in CODES], "z": [int(v) for v in TRUTHS], "n": X["n"]}
        for settings in (
            Settings.textbook({("x", "z"): "joint"}),
            *(
                Settings.textbook({"x": "plain"}, structure=structure)
                for structure in ("tan", "aode", "joint")
            ),
        ):
            labels = {**X, "x": pd.Categorical(CODES)}
            model = Classifier(settings).update(labels, Y)
            expected = model.predict_proba(labels)
            np.testing.assert_array_equal(model.predict_proba(given), expected)

    def test_figures_of_rows_that_were_learned(self):
        X, given = {"x": TRUTHS * 4}, {"x": [str(v) for v in TRUTHS] * 4}
        model = NaiveBayes.textbook().fit(X, Y * 4)
        for figures in (leave_one_out, cross_validate):
            assert figures(model, given, Y * 4).log_loss == figures(model, X, Y * 4).log_loss

    def test_new_values_come_in_the_type_that_was_learned(self):
        model = learned([str(v) for v in CODES]).update({"x": [7, 1]}, ["a", "b"])
        assert model.statistics.tables["x"].labels == ("1", "2", "3", "7")

    def test_numbers_written_as_strings(self):
        model = learned([v / 4 for v in CODES], Settings.textbook())
        expected = model.predict_proba({"x": [v / 4 for v in CODES]})
        given = {"x": [str(v / 4) for v in CODES]}
        np.testing.assert_array_equal(model.predict_proba(given), expected)
        missing = model.predict_proba({"x": None})
        for gap in ("nan", "", "NA", " ? "):
            np.testing.assert_array_equal(model.predict_proba({"x": gap}), missing)
        for wrong in ("inf", "1_000", "1,5", "0x1"):
            with pytest.raises(SchemaError, match=r"Column 'x' is read as numbers, but holds"):
                model.predict({"x": wrong})

    @pytest.mark.parametrize(
        "make",
        [
            lambda days: [str(day) for day in days],
            lambda days: [day.isoformat() for day in days],
            lambda days: [day.isoformat() + "+00:00" for day in days],
            lambda days: [str(day.date()) for day in days],
            lambda days: [day.date() for day in days],
            lambda days: np.array(days, dtype="M8[D]"),
            lambda days: [day.replace(tzinfo=dt.UTC).timestamp() for day in days],
        ],
    )
    def test_dates(self, make):
        model = learned(DAYS, Settings.textbook())
        expected = model.predict_proba({"x": DAYS})
        np.testing.assert_array_equal(model.predict_proba({"x": make(DAYS)}), expected)
        first = model.predict_proba({"x": make(DAYS)[0]})
        np.testing.assert_array_equal(first, expected[:1])

    @pytest.mark.parametrize("wrong", ["soon", "1577836800", "2020-13-01"])
    def test_strings_that_are_no_dates(self, wrong):
        message = rf"Column 'x' is read as dates, but holds '{wrong}'. Give dates, or strings such"
        with pytest.raises(SchemaError, match=message):
            learned(DAYS, Settings.textbook()).predict({"x": wrong})


class TestWarnings:
    """A column whose values are unknown looks as if it were missing; that is said."""

    def test_another_type_that_cannot_be_cast(self):
        model = learned([f"{v:02}" for v in CODES])
        message = (
            r"Column 'x': 100% of 12 values were never learned, such as 1, 2, 3; learned were "
            r"'01', '02', '03'. Give the column in the type and spelling"
        )
        with pytest.warns(DriftWarning, match=message):
            model.predict({"x": CODES})
        with pytest.warns(DriftWarning, match=r"100% of 1 values"):  # a single row too
            model.predict({"x": 1})

    def test_a_column_of_a_joint_block(self):
        model = Classifier(Settings.textbook({("x", "z"): "joint"}))
        model.update({"x": [f"{v:02}" for v in CODES], "z": TRUTHS}, Y)
        with pytest.warns(DriftWarning, match=r"Column 'x': 100% .* learned were '01', '02', '03'"):
            model.predict({"x": CODES, "z": [int(v) for v in TRUTHS]})

    def test_another_type_when_learning_on(self):
        model = learned(["u", "v"] * 6)
        with pytest.warns(DriftWarning, match=r"such as 1, 2, 3; .* are counted as new values"):
            model.update({"x": CODES}, Y)
        assert model.statistics.tables["x"].labels == ("1", "2", "3", "u", "v")

    def test_most_values_are_new(self):
        model = learned(["u", "v"] * 6)
        half = ["u", "v", "w", "w"] * 3  # not more than half of them
        with silent():
            model.predict({"x": half})
            model.predict({"x": [*half[:8], None]})
            model.predict({"x": ["w"] * 9})  # too few to tell
            model.predict({"x": [None] * 20})
            model.update({"x": ["w"] * 20}, ["a", "b"] * 10)  # what is new is learned
        model = learned(["u", "v"] * 6)
        with pytest.warns(DriftWarning, match=r"'x': 58% of 12 values .* such as 'w'; learned"):
            model.predict({"x": [*half[:9], "w", "w", "w"]})

    def test_new_values_are_expected_where_many_were_learned_once(self):
        values = [*"abcdefgh", "i", "i", "i", "i"]  # 8 of 12 stand once: expect two thirds new
        model = learned(values)
        with silent():
            model.predict({"x": [*"ABCDEFGHI", "i", "i", "i"]})  # 9 of 12 are new: 3/4 < 5/6
        with pytest.warns(DriftWarning, match=r"92% of 12 values were never learned"):
            model.predict({"x": [*"ABCDEFGHIJK", "i"]})

    def test_dates_and_numbers(self):
        model = learned(DAYS, Settings.textbook())
        nanoseconds = pd.to_datetime(DAYS).astype("datetime64[ns]").astype("int64")
        message = (
            r"Column 'x' learned dates from 2020-01-01T00:00:00 to 2020-01-12T00:00:00, and is "
            r"given numbers far away, such as 1.5778368e\+18. Dates are seconds since 1970"
        )
        with pytest.warns(DriftWarning, match=message):
            model.predict({"x": nanoseconds})
        with pytest.warns(DriftWarning, match=r"given durations far away, such as 3600"):
            model.predict({"x": [dt.timedelta(hours=1)]})
        numbers = learned([float(i) for i in range(12)], Settings.textbook())
        with pytest.warns(DriftWarning, match=r"learned numbers from 0 to 11, and is given dates"):
            numbers.predict({"x": DAYS})
        with silent():
            numbers.predict({"x": pd.to_timedelta(range(12), "s")})  # not far away
            numbers.predict({"x": [pd.NaT]})

    def test_declared_columns_may_be_dates(self):
        model = learned(DAYS, Settings.textbook({"x": "histogram"}))
        with silent():
            model.predict({"x": DAYS})

    def test_the_line_is_the_users(self):
        model = NaiveBayes.textbook().fit({"x": ["u", "v"] * 6}, Y)
        with pytest.warns(DriftWarning) as caught:
            model.predict({"x": 3})
        assert caught[0].filename == __file__


@contextmanager
def silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield
