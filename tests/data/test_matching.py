"""Columns matched to what was learned, classes, weights and single rows."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from priory import Classifier, NaiveBayes, Settings
from priory.base.errors import InputError, SchemaError
from priory.data.reading import infer, read, read_labels, read_weights
from priory.data.schema import Kind


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
