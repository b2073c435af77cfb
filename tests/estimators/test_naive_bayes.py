"""The scikit-learn face."""

import datetime as dt
import pickle
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from priory import Classifier, NaiveBayes, Settings
from priory.base.errors import (
    DriftWarning,
    ForgetError,
    InputError,
    PrioryError,
    PrioryWarning,
    SchemaError,
    SettingError,
)
from priory.families.priors import MEstimate

X = pd.DataFrame(
    {
        "word": ["red", "blue", "red", None, "green", "blue"],
        "number": [1.0, 2.5, np.nan, 4.0, 0.5, 2.0],
        "truth": [True, False, True, True, False, False],
        "whole": [3, 1, 4, 1, 5, 9],
    }
)
Y = ["a", "b", "a", "c", "b", "a"]
COLUMNS = {"word": ["red", "blue", "red", None, "green", "blue"], "whole": [3, 1, 4, 1, 5, 9]}


def refused_by_the_default(estimator):
    """Return the checks that contradict a law of what is tuned."""
    if estimator.weights is None:
        return {}
    weight = "a row of weight 2 is one row that counts double, and is left out as one"
    names = "six rows under other names of columns fall into other folds"
    return {
        "check_sample_weight_equivalence_on_sparse_data": weight,
        "check_classifier_data_not_an_array": names,
    }


# Data of these checks have many constant, equal or far-away columns: warnings are in order.
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [NaiveBayes(), NaiveBayes.textbook()], expected_failed_checks=refused_by_the_default
)
def test_scikit_learn_compatible(estimator, check):
    check(estimator)


def test_all_weights_zero():
    with pytest.raises(ValueError, match=r".*weight.*zero.*"):
        NaiveBayes().fit(X, Y, sample_weight=np.zeros(6))


class TestParameters:
    def test_textbook(self):
        expected = NaiveBayes(
            families="plain", smoothing=0.5, weights=None, missing="skip", pairs=None
        )
        assert NaiveBayes.textbook(0.5).get_params() == expected.get_params()

    def test_clone_and_set(self):
        model = NaiveBayes(smoothing=MEstimate(3.0), missing={"word": "category"}).fit(X, Y)
        copy = clone(model)
        assert copy.get_params() == model.get_params()
        assert not hasattr(copy, "classifier_")
        copy.set_params(smoothing=0.1, unseen="error")
        assert copy.get_params()["smoothing"] == 0.1
        assert model.smoothing == MEstimate(3.0)
        with pytest.raises(ValueError, match=r"Invalid parameter 'alpha'"):
            copy.set_params(alpha=1)

    def test_wrong_settings_are_said_at_fit(self):
        with pytest.raises(SettingError, match=r"weights must be one of None, 'auto', .* 'rows'"):
            NaiveBayes(weights="rows").fit(X, Y)
        with pytest.raises(SettingError, match=r"weights must be one of None, 'auto'"):
            NaiveBayes(weights=np.ones(4)).fit(X, Y)
        with pytest.raises(SettingError, match=r"There is no family 'nonsense'"):
            NaiveBayes(families="nonsense").fit(X, Y)
        with pytest.raises(SettingError, match=r"sum of the priors should be 1"):
            NaiveBayes(class_prior=[1, 1, 1]).fit(X, Y)

    def test_same_answers_as_the_classifier(self):
        model = NaiveBayes.textbook().fit(X, Y)
        classifier = Classifier(Settings.textbook()).update(X, Y)
        np.testing.assert_array_equal(model.predict_proba(X), classifier.predict_proba(X))
        np.testing.assert_array_equal(model.predict_log_proba(X), classifier.predict_log_proba(X))
        np.testing.assert_array_equal(
            model.predict_joint_log_proba(X), classifier.predict_joint_log_proba(X)
        )
        np.testing.assert_array_equal(model.score_samples(X), classifier.score_samples(X))
        assert str(model.explain(X)) == str(classifier.explain(X))
        assert str(model.schema_) == str(classifier.schema)
        assert model.statistics_ == classifier.statistics

    def test_fitting_again_forgets(self):
        model = NaiveBayes().fit(X, Y).fit(X[["word", "whole"]], ["p", "q"] * 3)
        assert model.n_features_in_ == 2
        assert model.statistics_.n_rows == 6
        assert model.classes_.tolist() == ["p", "q"]
        assert model.feature_names_in_.tolist() == ["word", "whole"]

    def test_failing_fit_leaves_the_model(self):
        model = NaiveBayes().fit(X, Y)
        before = model.predict_proba(X)
        with pytest.raises(PrioryError):
            model.fit(X, Y[:3])
        np.testing.assert_array_equal(model.predict_proba(X), before)


class TestClasses:
    @pytest.mark.parametrize(
        ("y", "classes"),
        [
            (["b", "a", "c"] * 2, ["a", "b", "c"]),
            (np.array([2, 0, 1] * 2, dtype=np.int16), [0, 1, 2]),
            (np.array([2.0, 0.0, 1.0] * 2), [0.0, 1.0, 2.0]),
            ([True, False, True] * 2, [False, True]),
            (pd.Series(["b", "a", "c"] * 2), ["a", "b", "c"]),
            (pd.Categorical(["b", "a", "c"] * 2, categories=["z", "c", "b", "a"]), ["a", "b", "c"]),
            (pd.Series([2, 0, 1] * 2, dtype="Int64"), [0, 1, 2]),
            (pd.Series(["b", "a", "c"] * 2, dtype="category"), ["a", "b", "c"]),
            (pl.Series(["b", "a", "c"] * 2), ["a", "b", "c"]),
            (pa.array(["b", "a", "c"] * 2), ["a", "b", "c"]),
            ([1, "1", True] * 2, [True, 1, "1"]),
        ],
    )
    def test_of_every_kind(self, y, classes):
        model = NaiveBayes().fit(X, y)
        assert model.classes_.tolist() == classes
        assert [type(v) for v in model.classes_.tolist()] == [type(v) for v in classes]
        predicted = model.predict(X)
        assert predicted.dtype == model.classes_.dtype
        if isinstance(y, np.ndarray):
            assert predicted.dtype == y.dtype

    def test_column_vector_is_taken_with_a_warning(self):
        with pytest.warns(DataConversionWarning, match=r"A column-vector y was passed"):
            model = NaiveBayes().fit(X, np.array(Y).reshape(-1, 1))
        assert model.classes_.tolist() == ["a", "b", "c"]

    def test_two_columns_are_refused(self):
        with pytest.raises(
            ValueError, match=r"y should be a 1d array, got an array of shape \(6, 2\)"
        ):
            NaiveBayes().fit(X, np.array([Y, Y]).T)

    def test_a_table_of_one_column_is_taken_with_a_warning(self):
        categories = pd.DataFrame({"y": pd.Categorical(Y, categories=["z", "c", "b", "a"])})
        for y in (categories, pl.DataFrame({"y": Y}), pa.table({"y": Y})):
            with pytest.warns(DataConversionWarning, match=r"A column-vector y was passed"):
                model = NaiveBayes().fit(X, y)
            assert model.classes_.tolist() == ["a", "b", "c"]

    def test_rows_are_matched_by_position(self):
        expected = NaiveBayes().fit(X, Y)
        for index in (range(100, 106), list("uvwxyz"), [0, 1, 2, 3, 4, 4], [(0, 1)] * 6):
            y = pd.Series(Y, index=pd.Index(index, tupleize_cols=False))
            assert NaiveBayes().fit(X, y).statistics_ == expected.statistics_
        y = pd.Series(Y, index=range(5, -1, -1))
        for learn in (NaiveBayes().fit, NaiveBayes().partial_fit):
            message = r"The index of y is that of X in another order.* give y.loc\[X.index\]"
            with pytest.warns(PrioryWarning, match=message):
                assert learn(X, y).statistics_ == expected.statistics_
        assert NaiveBayes().fit(X[::-1], y).statistics_.n_rows == 6  # the same order: no warning

    @pytest.mark.parametrize(
        ("first", "second"),
        [
            ([0, 1], ["0", "1"]),
            ([0, 1], [False, True]),
            (["0", "1"], [0, 1]),
            ([False, True], ["False", "True"]),
        ],
    )
    def test_another_type_is_cast(self, first, second):
        model = NaiveBayes().fit(X, first * 3)
        before = model.statistics_
        model.partial_fit(X, second * 3)
        assert [repr(c) for c in model.classes_.tolist()] == [repr(c) for c in first]
        assert model.forget(X, second * 3).statistics_ == before

    def test_another_type_that_cannot_be_cast(self):
        model = NaiveBayes().fit(X, [0, 1] * 3)
        message = r"y holds 'no', 'yes', of another type than the classes that were learned: 0, 1"
        with pytest.warns(DriftWarning, match=message):
            model.partial_fit(X, ["no", "yes"] * 3)
        assert model.classes_.tolist() == [0, 1, "no", "yes"]
        model.partial_fit(X, ["perhaps", 1] * 3)  # both are types of its own by now

    def test_regression_target_is_refused(self):
        with pytest.raises(InputError, match=r"Unknown label type: continuous. y holds 0\.5"):
            NaiveBayes().fit(X, [0.5, 1.0, 2.0] * 2)

    def test_none_is_refused(self):
        with pytest.raises(InputError, match=r"requires y to be passed, but the target y is None"):
            NaiveBayes().fit(X, None)

    def test_score(self):
        model = NaiveBayes().fit(X, Y)
        assert model.score(X, Y) == np.mean(model.predict(X) == Y)


class TestLearningOn:
    def test_in_pieces_is_at_once(self):
        pieces = NaiveBayes().partial_fit(X[:2], Y[:2])
        pieces.partial_fit(X[2:], Y[2:])
        whole = NaiveBayes().fit(X, Y)
        assert pieces.statistics_ == whole.statistics_
        np.testing.assert_array_equal(pieces.predict_proba(X), whole.predict_proba(X))

    def test_classes_may_be_named_first(self):
        model = NaiveBayes().partial_fit(X[:2], Y[:2], classes=["a", "b", "c"])
        assert model.classes_.tolist() == ["a", "b", "c"]
        assert (model.predict_proba(X)[:, 2] == 0).all()

    def test_wrong_classes_change_nothing(self):
        model = NaiveBayes().fit(X, Y)
        before = model.statistics_
        with pytest.raises(InputError, match=r"classes has 1 missing labels"):
            model.partial_fit(X, Y, classes=["a", None])
        assert model.statistics_ == before

    def test_forget(self):
        model = NaiveBayes().fit(X, Y).forget(X[3:], Y[3:])
        assert model.classes_.tolist() == ["a", "b"]
        assert model.statistics_ == NaiveBayes().fit(X[:3], Y[:3]).statistics_
        with pytest.raises(ForgetError, match=r"Class 'c' was never learned"):
            model.forget(X[3:4], ["c"])

    def test_merge_changes_self_and_sum_does_not(self):
        a, b, whole = (NaiveBayes().fit(X[s], Y[s]) for s in (slice(3), slice(3, 6), slice(6)))
        total = a + b
        assert total.statistics_ == whole.statistics_
        assert a.statistics_.n_rows == 3
        np.testing.assert_array_equal(total.predict(X), whole.predict(X))
        assert a.merge(b) is a
        assert a.statistics_ == whole.statistics_

    def test_not_fitted(self):
        for call in ("predict", "predict_proba", "explain", "score_samples"):
            with pytest.raises(NotFittedError, match=r"NaiveBayes instance is not fitted yet"):
                getattr(NaiveBayes(), call)(X)
        with pytest.raises(NotFittedError, match=r"not fitted yet"):
            NaiveBayes().fit(X, Y).merge(NaiveBayes())


class TestSample:
    """New rows come in the kind of table that was learned."""

    def test_pandas(self):
        table, y = NaiveBayes().fit(X, Y).sample(8, random_state=0)
        assert isinstance(table, pd.DataFrame)
        assert table.columns.tolist() == X.columns.tolist()
        assert table.shape == (8, 4)
        assert y.shape == (8,)

    @pytest.mark.parametrize("make", [pa.table, dict])
    def test_arrow(self, make):
        table, _ = NaiveBayes().fit(make(COLUMNS), Y).sample(8, random_state=0)
        assert isinstance(table, pa.Table)
        assert table.column_names == list(COLUMNS)

    def test_polars(self):
        table, _ = NaiveBayes().fit(pl.DataFrame(COLUMNS), Y).sample(8, random_state=0)
        assert isinstance(table, pl.DataFrame)
        assert table.columns == list(COLUMNS)

    def test_values_of_several_types(self):
        model = NaiveBayes().fit({"v": [1, "1", True] * 2}, Y)
        message = r"values of several types.* classifier_.sample, which"
        with pytest.raises(InputError, match=message):
            model.sample(50, random_state=0)
        table, _ = model.classifier_.sample(50, random_state=0)
        assert {(type(v), v) for v in table["v"]} == {(int, 1), (str, "1"), (bool, True)}

    @pytest.mark.parametrize("families", ["plain", {("x0", "x2"): "gaussian"}])
    def test_array(self, families):
        array = np.array([[1, 100, -50.0], [2, 101, -51], [3, 102, -52], [2, 99, -50]])
        table, _ = NaiveBayes(families).fit(array, [0, 0, 1, 1]).sample(40, random_state=0)
        np.testing.assert_allclose(table.mean(axis=0), array.mean(axis=0), atol=1.5)

    def test_counts(self):
        counts = sp.csr_matrix(np.array([[3.0, 0, 1], [0, 2, 2], [1, 1, 0]]))
        table, _ = NaiveBayes().fit(counts, [0, 1, 1]).sample(5, random_state=0)
        assert table.shape == (5, 3)

    def test_can_be_learned_again(self):
        model = NaiveBayes().fit(X, Y)
        table, y = model.sample(50, random_state=0)
        model.partial_fit(table, y)
        assert model.statistics_.n_rows == 56

    def test_class_and_seed(self):
        model = NaiveBayes().fit(X, Y)
        table, y = model.sample(5, y="c", random_state=1)
        again, _ = model.sample(5, y="c", random_state=1)
        assert y.tolist() == ["c"] * 5
        pd.testing.assert_frame_equal(table, again)


NAMED = pd.DataFrame({"a": range(12), "b": ["u", "v", None, "u"] * 3})


class TestOddTables:
    """What a table may hold: each is learned, learned on and predicted, or refused clearly."""

    @pytest.mark.parametrize(
        "column",
        [
            pd.array([True, False, pd.NA] * 8, dtype="boolean"),
            pd.array([1, 2, pd.NA] * 8, dtype="Int64"),
            pd.array([1, 2, pd.NA] * 8, dtype="UInt8"),
            pd.array([1.5, 2, pd.NA] * 8, dtype="Float32"),
            pd.array(["u", "v", pd.NA] * 8, dtype="string"),
            pd.array(["u", "v", None] * 8, dtype=pd.ArrowDtype(pa.string())),
            pd.array([1, 2, None] * 8, dtype=pd.ArrowDtype(pa.int64())),
            pd.array([True, False, None] * 8, dtype=pd.ArrowDtype(pa.bool_())),
            pd.array([Decimal("1.5"), None] * 12, dtype=pd.ArrowDtype(pa.decimal128(5, 2))),
            pd.array(
                ["u", "v", None] * 8, dtype=pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))
            ),
            pd.array(pd.date_range("2020", periods=24), dtype=pd.ArrowDtype(pa.timestamp("us"))),
            pd.Categorical(["u", "v"] * 12, categories=["z", "v", "u"]),
            pd.period_range("2020", periods=24, freq="D"),
            pd.date_range("2020", periods=24, tz="Asia/Tokyo"),
            pd.to_timedelta(range(24), "h"),
            pd.arrays.SparseArray([0, 0, 1.5] * 8),
            np.array([2**63 + 1, 2**64 - 1] * 12, dtype=np.uint64),
            [Decimal("1.5"), Decimal("2"), None] * 8,
            [1, "a", True, None, 2.5, "b"] * 4,
            [dt.date(2020, 1, 1), dt.datetime(2020, 1, 2), None] * 8,
            [None] * 24,
        ],
        ids=range(21),
    )
    def test_learned(self, column):
        table, y = pd.DataFrame({"x": column, "z": np.arange(24.0)}), ["a", "b", "b"] * 8
        model = NaiveBayes().fit(table, y)
        expected = model.predict_proba(table)
        assert np.isfinite(expected).all()
        for i in (0, 5):
            row = {"x": table["x"].iloc[i], "z": float(i)}
            np.testing.assert_allclose(model.predict_proba(row)[0], expected[i], atol=1e-12)
        before = model.statistics_
        assert model.partial_fit(table[:5], y[:5]).forget(table[:5], y[:5]).statistics_ == before

    @pytest.mark.parametrize(
        ("column", "message"),
        [
            (np.ones(24) * 1j, r"Complex data not supported: column 'x' holds complex numbers"),
            ([1j] * 24, r"Column 'x' holds 1j, of type complex, in row 0"),
            ([[1, 2], [3]] * 12, r"'x' holds \[1, 2\], of type list, in row 0; .* of their own"),
            ([None, {"a": 1}] * 12, r"'x' holds \{'a': 1\}, of type dict, in row 1; .* their own"),
            ([np.ones(2)] * 24, r"'x' holds array.*, of type ndarray, in row 0; .* their own"),
            (["u", "v\ud800"] * 12, r"'x' holds 'v\\ud800' in row 1, half of a surrogate pair"),
            ([0.5, np.inf] * 12, r"'x' holds inf in row 1. Numbers must be finite"),
            ([Decimal("inf"), 1] * 12, r"'x' holds inf in row 0. Numbers must be finite"),
            (pd.DataFrame({"a": [1] * 24, "b": 2}), r"'x' must be one-dim.* shape \(24, 2\)"),
        ],
        ids=range(9),
    )
    def test_refused(self, column, message):
        y, z = ["a", "b", "b"] * 8, np.arange(24.0)
        for call in (NaiveBayes().fit, NaiveBayes().partial_fit):
            with pytest.raises(InputError, match=message):
                call({"x": column, "z": z}, y)
        labels = NaiveBayes().fit({"x": ["u", "v"] * 12, "z": z}, y)
        if "inf" not in message:
            with pytest.raises(InputError, match=message):
                labels.predict({"x": column, "z": z})

    def test_half_of_a_pair(self):
        model = NaiveBayes().fit(NAMED, ["a", "b"] * 6)
        for row in ({"b": "v\ud800"}, [{"b": "v\ud800"}]):
            with pytest.raises(InputError, match=r"Column 'b' holds .* in row 0, half of a surr"):
                model.predict(row)
        with pytest.raises(InputError, match=r"Column 'y' holds .* in row 1, half of a surrogate"):
            NaiveBayes().fit(NAMED, ["a", "b\udfff"] * 6)
        with pytest.raises(
            SchemaError, match=r"The name of column 'b\\udfff' holds half of a surr"
        ):
            NaiveBayes().fit({"b\udfff": [1, 2]}, [0, 1])

    def test_one_record_is_one_row(self):
        table = np.array([(1, 2.5), (3, 4.5)] * 6, dtype=[("a", int), ("b", float)])
        model = NaiveBayes.textbook().fit(table, ["p", "q"] * 6)
        assert model.predict(table[1]).tolist() == ["q"]

    def test_rows_by_keys(self):
        model = NaiveBayes.textbook().fit(NAMED, ["p", "q"] * 6)
        expected = model.predict_proba({"a": None, "b": "u"})
        for row in ({"b": "u"}, [{"b": "u"}], {"b": "u", "c": 3}):
            np.testing.assert_array_equal(model.predict_proba(row), expected)
        assert str(model.explain({"b": "u"})[0]) == str(model.explain({"a": None, "b": "u"})[0])
        model.partial_fit([{"a": 1}, {"b": "u"}], ["p", "q"])  # what is not named is a gap
        assert model.statistics_.tables["b"].rows.sum() == 10

    def test_counts_have_no_gaps(self):
        counts = {"a": [1, 2] * 6, "b": [3, 4] * 6}
        model = NaiveBayes({("a", "b"): "multinomial"}).fit(counts, ["p", "q"] * 6)
        message = (
            r"Column 'b' is one of a block of counts, which has no missing values, .* row 0. "
            "Give 0 for"
        )
        with pytest.raises(InputError, match=message):
            model.predict({"a": 1})


class TestInputs:
    def test_stream_is_read_once(self):
        model = NaiveBayes().fit(pa.table(COLUMNS).to_reader(), Y)
        assert model.n_features_in_ == 2
        assert model.statistics_.n_rows == 6

    def test_attributes(self):
        model = NaiveBayes().fit(X, Y)
        assert model.n_features_in_ == 4
        assert model.feature_names_in_.tolist() == X.columns.tolist()
        assert not hasattr(
            NaiveBayes().fit(X[["whole", "number"]].to_numpy(), Y), "feature_names_in_"
        )

    def test_gaussian_like_scikit_learn(self):
        rng = np.random.default_rng(0)
        table, y = rng.normal(size=(60, 4)), rng.integers(0, 3, 60)
        ours, theirs = (
            NaiveBayes.textbook().fit(table, y),
            GaussianNB(var_smoothing=0).fit(table, y),
        )
        np.testing.assert_allclose(
            ours.predict_proba(table), theirs.predict_proba(table), atol=1e-10
        )


class TestEcosystem:
    def test_pickle(self):
        model = NaiveBayes(missing="category").fit(X, Y)
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
        assert again.statistics_ == model.statistics_
        again.partial_fit(X, Y)
        assert model.statistics_.n_rows == 6

    def test_pipeline_of_numbers(self):
        rng = np.random.default_rng(0)
        y = rng.integers(0, 3, 90)
        table = rng.normal(size=(90, 4)) + 3 * y[:, None]
        pipeline = make_pipeline(StandardScaler(), NaiveBayes())
        assert cross_val_score(pipeline, table, y).mean() > 0.9

    def test_pipeline_of_words(self):
        texts = ["red apple", "green apple", "fast car", "red car", "apple pie"] * 2
        y = ["fruit", "fruit", "car", "car", "fruit"] * 2
        pipeline = make_pipeline(CountVectorizer(), NaiveBayes(class_prior="words"))
        assert pipeline.fit(texts, y).predict(["green pie", "fast red car"]).tolist() == [
            "fruit",
            "car",
        ]

    def test_grid_search(self):
        table = pd.concat([X] * 5, ignore_index=True)
        search = GridSearchCV(NaiveBayes(), {"smoothing": [0.1, 1.0], "families": ["plain"]}, cv=3)
        search.fit(table, Y * 5)
        assert search.best_params_["smoothing"] in (0.1, 1.0)

    def test_base_learner_of_an_ensemble(self):
        rng = np.random.default_rng(0)
        y = rng.integers(0, 3, 90)
        table = rng.normal(size=(90, 4)) + 3 * y[:, None]
        ensemble = BaggingClassifier(NaiveBayes(), n_estimators=5, random_state=0).fit(table, y)
        assert ensemble.score(table, y) > 0.9

    def test_linear_form(self):
        form = NaiveBayes.textbook().fit(X[["truth"]], Y).linear_form()
        assert form.features == ("truth",)
        assert form.weights.shape == (1, 3)


# The lecture's


def test_the_textbook_has_what_it_was_asked_for():
    asked = {
        "smoothing": 0.5,
        "families": {"x": "categorical"},
        "class_prior": "uniform",
        "missing": "category",
        "unseen": "smooth",
        "text": ["t"],
        "structure": "tan",
        "weights": "columns",
    }
    params = NaiveBayes.textbook(**asked).get_params()
    assert {name: params[name] for name in asked} == asked
    settings = NaiveBayes.textbook(0.5).settings
    assert settings == Settings.textbook(smoothing=0.5) and not settings.is_tuned
