"""The classifier: learn, forget, merge, read again; data as it comes."""

import numpy as np
import pytest

from priory import Classifier, Settings
from priory.base.errors import (
    ForgetError,
    IdentifierWarning,
    InputError,
    NotFittedError,
    PrioryError,
    SchemaError,
    SettingError,
)
from priory.base.labels import label_array
from priory.families import Gaussian
from priory.model import Explanation
from priory.statistics import Statistics

X = {
    "word": ["red", "blue", "red", None, "green", "blue", "red"],
    "number": [1.0, 2.5, None, 4.0, 0.5, 2.0, 3.5],
    "truth": [True, False, True, True, None, False, False],
    "whole": [3, 1, 4, 1, 5, 9, 2],
}
Y = ["a", "b", "a", "c", "b", "a", "c"]


def rows(which):
    return {name: values[which] for name, values in X.items()}, Y[which]


@pytest.fixture
def classifier():
    return Classifier(Settings.textbook()).update(X, Y)


def state(classifier):
    return classifier.statistics, classifier.predict_proba(X).tolist()


class TestLearning:
    def test_in_pieces_is_at_once(self, classifier):
        pieces = Classifier(Settings.textbook()).update(*rows(slice(0, 2)))
        pieces.update(*rows(slice(2, 3))).update(*rows(slice(3, 7)))
        assert pieces.statistics == classifier.statistics
        np.testing.assert_array_equal(pieces.predict_proba(X), classifier.predict_proba(X))

    def test_new_classes_and_values_may_come(self, classifier):
        row = {"word": "violet", "number": 2.0, "truth": True, "whole": 1}
        classifier.update(row, ["d"])
        assert classifier.classes == ("a", "b", "c", "d")
        assert "violet" in classifier.statistics.tables["word"].labels

    def test_columns_in_another_order(self, classifier):
        backwards = dict(reversed(X.items()))
        np.testing.assert_array_equal(
            classifier.predict_proba(backwards), classifier.predict_proba(X)
        )
        classifier.update(backwards, Y)
        assert (
            classifier.statistics
            == Classifier(Settings.textbook()).update(X, Y).update(X, Y).statistics
        )

    def test_weight_two_is_the_row_twice(self):
        weighted = Classifier(Settings.textbook()).update(X, Y, 2)
        twice = Classifier(Settings.textbook()).update(X, Y).update(X, Y)
        np.testing.assert_allclose(
            weighted.predict_joint_log_proba(X), twice.predict_joint_log_proba(X), rtol=1e-12
        )

    def test_weight_zero_is_no_row(self):
        weight = [1, 1, 0, 0, 1, 1, 0]
        kept = [i for i, w in enumerate(weight) if w]
        table = {name: [values[i] for i in kept] for name, values in X.items()}
        without = Classifier(Settings.textbook()).update(table, [Y[i] for i in kept])
        found = Classifier(Settings.textbook()).update(X, Y, weight)
        assert found.classes == ("a", "b")
        np.testing.assert_array_equal(found.statistics.rows, without.statistics.rows)
        np.testing.assert_allclose(found.predict_proba(X), without.predict_proba(X), rtol=1e-13)

    @pytest.mark.parametrize("weight", [[0] * 7, 0])
    def test_all_weights_zero(self, weight):
        with pytest.raises(
            InputError, match=r"no rows to learn from.*sample_weight is zero in every row"
        ):
            Classifier(Settings.textbook()).update(X, Y, weight)

    @pytest.mark.parametrize("table", [{"a": [], "b": []}, np.zeros((0, 3))])
    def test_no_rows(self, table):
        with pytest.raises(
            InputError, match=r"There are no rows to learn from: the table has none"
        ):
            Classifier(Settings.textbook()).update(table, [])

    def test_no_more_rows_change_nothing(self, classifier):
        before = classifier.statistics
        classifier.update({name: [] for name in X}, [])
        assert classifier.statistics == before

    def test_lengths_must_agree(self):
        with pytest.raises(
            InputError, match=r"inconsistent numbers of samples: X has 7 rows, y has 2"
        ):
            Classifier(Settings.textbook()).update(X, Y[:2])

    def test_declared_class_has_no_rows(self, classifier):
        classifier.declare(["z"])
        assert classifier.classes == ("a", "b", "c", "z")
        assert (classifier.predict_proba(X)[:, 3] == 0).all()

    def test_nothing_learned(self):
        for ask in ("statistics", "model", "classes", "schema"):
            with pytest.raises(
                NotFittedError, match=r"has learned nothing yet; give it rows first"
            ):
                getattr(Classifier(Settings.textbook()), ask)
        with pytest.raises(NotFittedError, match=r"has learned nothing yet"):
            Classifier(Settings.textbook()).predict(X)


class TestForgetting:
    def test_as_if_never_seen(self, classifier):
        classifier.update(*rows(slice(0, 3))).forget(*rows(slice(0, 3)))
        assert classifier.statistics == Classifier(Settings.textbook()).update(X, Y).statistics

    def test_last_row_takes_its_class_and_values_along(self):
        classifier = Classifier(Settings.textbook()).update({"x": ["u", "v", "v"]}, ["a", "b", "b"])
        classifier.forget({"x": ["u"]}, ["a"])
        assert classifier.classes == ("b",)
        assert classifier.statistics.tables["x"].labels == ("v",)

    def test_everything(self, classifier):
        classifier.forget(X, Y)
        assert classifier.statistics.n_rows == 0
        with pytest.raises(NotFittedError, match=r"forgotten every row"):
            classifier.predict(X)
        assert (
            classifier.update(X, Y).statistics
            == Classifier(Settings.textbook()).update(X, Y).statistics
        )

    @pytest.mark.parametrize(
        ("row", "label", "message"),
        [
            ({"word": "violet"}, "a", r"in column 'word' value 'violet' was never learned"),
            ({"number": 77.0}, "a", r"in column 'number' a number was never learned"),
            (
                {},
                "z",
                r"Class 'z' was never learned, so its rows cannot be forgotten. Classes: 'a'",
            ),
            ({"word": "blue", "whole": 5}, "c", r"cannot be forgotten: in column 'word'"),
        ],
    )
    def test_what_was_never_learned(self, classifier, row, label, message):
        before = state(classifier)
        with pytest.raises(ForgetError, match=message):
            classifier.forget(
                {"word": "red", "number": 1.0, "truth": True, "whole": 3, **row}, [label]
            )
        assert state(classifier) == before

    def test_more_rows_than_there_are(self, classifier):
        with pytest.raises(ForgetError, match=r"Class 'b' has 2 rows, so 4 cannot be forgotten"):
            row = {
                "word": ["blue"] * 4,
                "number": [2.5] * 4,
                "truth": [False] * 4,
                "whole": [1] * 4,
            }
            classifier.forget(row, ["b"] * 4)

    def test_nothing_learned(self):
        with pytest.raises(NotFittedError, match=r"has learned nothing yet"):
            Classifier(Settings.textbook()).forget(X, Y)


FAILING = {
    "a word among numbers": ({**X, "number": ["tall"] * 7}, Y, None),
    "infinity": ({**X, "number": [np.inf] * 7}, Y, None),
    "a list": ({**X, "word": [[1]] * 7}, Y, None),
    "a column too few": ({name: X[name] for name in ("word", "number")}, Y, None),
    "a column too many": ({**X, "more": [1] * 7}, Y, None),
    "a missing class": (X, [*Y[:6], None], None),
    "too few classes": (X, Y[:6], None),
    "negative weight": (X, Y, -1),
}


@pytest.mark.parametrize("what", FAILING)
@pytest.mark.parametrize("verb", ["update", "forget"])
def test_failing_call_changes_nothing(classifier, what, verb):
    before = state(classifier)
    with pytest.raises(PrioryError):
        getattr(classifier, verb)(*FAILING[what])
    assert state(classifier) == before


class TestMerging:
    def test_sum_is_learning_both(self, classifier):
        a, b = (
            Classifier(Settings.textbook()).update(*rows(slice(0, 3))),
            Classifier(Settings.textbook()).update(*rows(slice(3, 7))),
        )
        assert (a + b).statistics == classifier.statistics
        assert (
            a.statistics == Classifier(Settings.textbook()).update(*rows(slice(0, 3))).statistics
        )  # a new one
        assert a.merge(b).statistics == classifier.statistics

    def test_settings_of_the_first(self):
        a = Classifier(Settings.textbook(smoothing=0.5)).update(*rows(slice(0, 3)))
        assert (
            a + Classifier(Settings.textbook()).update(*rows(slice(3, 7)))
        ).settings.smoothing == 0.5

    def test_other_columns(self, classifier):
        other = Classifier(Settings.textbook()).update({"word": ["red"], "extra": [1.0]}, ["a"])
        before = state(classifier)
        with pytest.raises(SchemaError, match=r"not have the same columns: only the first has"):
            classifier.merge(other)
        assert state(classifier) == before

    def test_other_kinds(self, classifier):
        table = {**X, "number": list("abcdefg")}
        with pytest.raises(SchemaError, match=r"'number' holds numbers on one side and labels on"):
            classifier.merge(Classifier(Settings.textbook()).update(table, Y))

    def test_one_that_learned_nothing(self, classifier):
        with pytest.raises(NotFittedError, match=r"has learned nothing yet"):
            classifier.merge(Classifier(Settings.textbook()))


class TestReadingAgain:
    def test_like_learning_with_those_settings(self, classifier):
        settings = Settings.textbook(
            {"number": Gaussian(shared=True), "whole": "poisson"}, 0.25, class_prior="uniform"
        )
        before = classifier.statistics
        again = classifier.change_settings(settings)
        assert again.statistics is before
        fresh = Classifier(settings).update(X, Y)
        np.testing.assert_array_equal(again.predict_proba(X), fresh.predict_proba(X))

    def test_settings_that_fail_change_nothing(self, classifier):
        before, settings = state(classifier), classifier.settings
        with pytest.raises(SettingError, match=r"sum of the priors should be 1"):
            classifier.change_settings(Settings.textbook(class_prior=[1.0, 1.0, 1.0]))
        assert state(classifier) == before
        assert classifier.settings is settings

    def test_before_learning(self):
        classifier = Classifier(Settings.textbook()).change_settings(Settings.textbook(smoothing=0))
        assert classifier.update(X, Y).settings.smoothing == 0


class TestData:
    """Data as it comes: few rows, one class, gaps, odd labels."""

    def test_single_class(self):
        classifier = Classifier(Settings.textbook()).update(X, ["only"] * 7)
        assert classifier.predict(X).tolist() == ["only"] * 7
        assert (classifier.predict_proba(X) == 1.0).all()
        assert np.isfinite(classifier.score_samples(X)).all()

    def test_class_with_one_row(self):
        classifier = Classifier(Settings.textbook()).update(X, ["one", *["two"] * 6])
        posterior = classifier.predict_proba(X)
        assert np.isfinite(posterior).all()
        assert classifier.predict(X)[0] == "one"

    def test_one_row(self):
        row = {"word": "red", "number": 1.0, "truth": True, "whole": 3}
        classifier = Classifier(Settings.textbook()).update(row, ["a"])
        assert classifier.predict({**row, "number": 1e6, "word": "blue"}).tolist() == ["a"]

    @pytest.mark.parametrize("constant", ["same", 5.0, True, 7])
    def test_constant_column_says_nothing(self, constant):
        only = Classifier(Settings.textbook()).update({"word": X["word"]}, Y)
        both = Classifier(Settings.textbook(smoothing=0)).update(
            {"c": [constant] * 7, "word": X["word"]}, Y
        )
        only.change_settings(Settings.textbook(smoothing=0))
        table = {"word": ["red", "green"]}
        np.testing.assert_allclose(
            both.predict_proba({"c": [constant] * 2, **table}), only.predict_proba(table), rtol=1e-9
        )

    def test_column_of_gaps_is_left_out(self):
        classifier = Classifier(Settings.textbook()).update({**X, "gaps": [None] * 7}, Y)
        assert "gaps" not in [term.title for term in classifier.model.terms]
        for value in ("anything", 3.0, None):
            found = classifier.predict_proba({**X, "gaps": [value] * 7})
            np.testing.assert_array_equal(
                found, Classifier(Settings.textbook()).update(X, Y).predict_proba(X)
            )

    def test_column_of_gaps_in_one_class(self):
        table, y = {"n": [1.0, 2.0, None, None], "w": ["u", "v", None, None]}, ["a", "a", "b", "b"]
        for smoothing in (0, 1):
            classifier = Classifier(Settings.textbook(smoothing=smoothing)).update(table, y)
            # A class that never saw the columns takes those of all: nothing speaks.
            found = classifier.predict_proba({"n": [1.0], "w": [None]})
            np.testing.assert_allclose(found, [[0.5, 0.5]], rtol=1e-12)

    @pytest.mark.parametrize(
        "labels",
        [
            ["ja", "nein", "vielleicht"],
            ["", " ", "é中🎉"],
            [0, 1, 2],
            [-1, 2**62, 2**62 + 1],
            [False, True, "other"],
            [1, "1", True],
            [1, 1.5, "x\0"],
            ["x", "x\0", "y"],
        ],
    )
    def test_labels_of_any_kind(self, labels):
        y = labels * 3
        table = {"word": [f"v{i}" for i in range(3)] * 3, "n": [float(i) for i in range(3)] * 3}
        classifier = Classifier(Settings.textbook()).update(table, y)
        found = classifier.predict(table).tolist()
        assert [(type(v), v) for v in found] == [(type(v), v) for v in y]

    def test_values_of_any_kind(self):
        table = {"v": [1, "1", True, 1, "1", True]}
        y = ["int", "string", "truth"] * 2
        classifier = Classifier(Settings.textbook()).update(table, y)
        assert classifier.predict(table).tolist() == y

    def test_non_ascii_column_names(self):
        table = {"größe": [1.0, 9.0], "色": ["赤", "青"]}
        classifier = Classifier(Settings.textbook()).update(table, ["a", "b"])
        assert classifier.predict(table).tolist() == ["a", "b"]

    def test_missing_labels(self):
        with pytest.raises(
            InputError, match=r"y has 2 missing labels .* the first in row 1. .* leave"
        ):
            Classifier(Settings.textbook()).update({"x": [1, 2, 3]}, ["a", None, float("nan")])

    def test_missing_column(self, classifier):
        table = {**X, "words": X["word"]}
        del table["word"]
        with pytest.raises(SchemaError, match=r"Column 'word' was not found.*Did you mean 'words'"):
            classifier.predict(table)

    def test_extra_column(self, classifier):
        expected = classifier.predict_proba(X)
        np.testing.assert_array_equal(classifier.predict_proba({**X, "id": range(7)}), expected)
        for learn in (classifier.update, classifier.forget):
            with pytest.raises(
                SchemaError, match=r"Column 'id' was not there when the model learned; leave it"
            ):
                learn({**X, "id": range(7)}, Y)

    def test_wrong_type(self, classifier):
        with pytest.raises(
            SchemaError, match=r"Column 'number' is read as numbers, but holds 'tall'"
        ):
            classifier.predict({**X, "number": ["tall"] * 7})

    def test_numbers_written_as_truths_are_numbers(self, classifier):
        ones = classifier.predict_proba({**X, "number": [1.0] * 7})
        np.testing.assert_array_equal(classifier.predict_proba({**X, "number": [True] * 7}), ones)

    def test_far_away_numbers_do_not_overflow(self):
        classifier = Classifier(Settings.textbook()).update(
            {"x": [1e149, -1e149, 1e-300]}, ["a", "b", "b"]
        )
        assert np.isfinite(classifier.predict_proba({"x": [1e149, 0.0, -1e149]})).all()


NAMED = {"id": [f"row {i}" for i in range(30)], "x": [i % 3 for i in range(30)]}


class TestIdentifiers:
    def test_left_out_with_one_warning(self):
        classifier = Classifier(Settings.textbook()).update(NAMED, [i % 3 for i in range(30)])
        with pytest.warns(IdentifierWarning, match=r"Column 'id' has hardly two rows alike"):
            classifier.predict(NAMED)
        classifier.predict(NAMED)  # a second warning would be an error

    def test_several_are_named_with_how_each_is_used(self):
        found = {
            "id": [f"row {i}" for i in range(30)],
            "size": [f"{i}.{i}" for i in range(29)] + ["."],
            "day": [f"2020-0{1 + i // 20}-{1 + i % 20:02d}" for i in range(30)],
            "x": [i % 3 for i in range(30)],
        }
        classifier = Classifier(Settings.textbook()).update(found, [i % 3 for i in range(30)])
        said = (
            r"Columns 'id', 'size', 'day' have hardly two rows alike: they are unique identifiers "
            r"and were left out. To use them all the same: families={'id': 'categorical'}, "
            r"give 'size' as numbers, which its strings are, give 'day' as dates, which its "
        )
        with pytest.warns(IdentifierWarning, match=said):
            classifier.predict(found)

    def test_absent_at_prediction(self):
        names = {"id": [f"row {i}" for i in range(1200)], "x": [i % 3 for i in range(1200)]}
        classifier = Classifier(Settings.textbook()).update(names, [i % 3 for i in range(1200)])
        with pytest.warns(IdentifierWarning, match=r"'id'"):
            found = classifier.predict({"x": [0, 1, 2]})
        assert found.tolist() == [0, 1, 2]


def test_schema_tells_families_and_why(classifier):
    lines = str(classifier.schema).splitlines()
    assert lines[1].split() == ["word", "labels", "categorical", "strings"]
    assert len(lines) == 5


def test_explain_gives_a_row_each(classifier):
    explanation = classifier.explain(X)
    assert isinstance(explanation, Explanation)
    assert len(explanation) == 7


def test_statistics_are_what_was_counted(classifier):
    assert isinstance(classifier.statistics, Statistics)
    assert classifier.statistics.rows.tolist() == [3, 2, 2]


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        ((1, 2), "i"),
        ((False, True), "b"),
        (("a", "b"), "U"),
        ((1, 2.5), "f"),
        ((1, "1"), "O"),
        ((True, 1), "O"),
        (("a\0", "a"), "O"),
        ((2**63, -1), "O"),
        ((2**60 + 1, 0.5), "O"),
    ],
)
def test_label_array_keeps_labels(labels, kind):
    array = label_array(labels)
    assert array.dtype.kind == kind
    assert array.tolist() == list(labels)


BLOCK = {
    "colour": ["r", "g", "r", "g"],
    "ripe": [True, False, True, True],
    "n": [1.0, 2.0, 3.0, 4.0],
}
KIND = ["a", "a", "b", "b"]
JOINT = {("colour", "ripe"): "joint"}


@pytest.mark.parametrize("value", [np.inf, -np.inf, 1e300, -1e151])
@pytest.mark.parametrize(
    "family", ["gaussian", "histogram", "rank-normal", "log-normal", "kernel-density", "student-t"]
)
def test_numbers_too_large_are_refused_at_predict_too(value, family):
    classifier = Classifier(Settings.textbook(families={"n": family})).update(
        {"n": BLOCK["n"]}, KIND
    )
    for ask in (classifier.predict_proba, classifier.score_samples):
        with pytest.raises(InputError, match=r"Column 'n' holds .* at most 1e150"):
            ask({"n": [value, 1.0]})


@pytest.mark.parametrize(
    "settings",
    [
        {"families": JOINT, "missing": {"colour": "error"}},
        {"families": JOINT, "smoothing": {"colour": 100}},
        {"families": JOINT, "smoothing": {("ripe", "colour"): 100}},
        {"families": JOINT, "unseen": {"ripe": "error"}},
    ],
)
def test_settings_for_part_of_a_block_are_refused(settings):
    with pytest.raises(SettingError, match=r"is one block\. Blocks are declared before learning"):
        _ = Classifier(Settings.textbook(**settings)).update(BLOCK, KIND).model


def test_blocks_cannot_be_cut_up_or_put_together_after_learning():
    apart = Classifier(Settings.textbook()).update(BLOCK, KIND)
    with pytest.raises(SettingError, match="Blocks are declared before learning"):
        apart.change_settings(Settings.textbook(families=JOINT))
    together = Classifier(Settings.textbook(families=JOINT)).update(BLOCK, KIND)
    with pytest.raises(SettingError, match="Blocks are declared before learning"):
        together.change_settings(Settings.textbook(families={"colour": "categorical"}))


def test_declared_classes_outlive_merging_and_forgetting():
    a = Classifier(Settings.textbook()).update(BLOCK, KIND).declare(["a", "b", "fig"])
    b = Classifier(Settings.textbook()).update(BLOCK, KIND)
    for merged in (a + b, b.merge(a)):
        assert "fig" in merged.forget(BLOCK, KIND).classes


def test_only_classifiers_can_be_merged():
    with pytest.raises(SettingError, match="merges with another one, not with 3"):
        Classifier(Settings.textbook()).update(BLOCK, KIND).merge(3)


def test_dates_are_no_classes():
    with pytest.raises(InputError, match="y holds dates"):
        Classifier(Settings.textbook()).update(
            {"x": [1.0, 2.0]}, np.array(["2020-01-01", "2020-01-02"], "M8[D]")
        )


def test_a_column_named_like_a_block_is_refused():
    data = {**BLOCK, "colour, ripe": [1.0, 2.0, 3.0, 4.0]}
    with pytest.raises(SchemaError, match="both a column and a block"):
        Classifier(Settings.textbook(families=JOINT)).update(data, KIND)


def test_warnings_point_at_the_line_of_the_caller():
    names = {"name": [f"row {i}" for i in range(20)], "x": [1.0, 2.0] * 10}
    with pytest.warns(IdentifierWarning) as caught:
        _ = Classifier(Settings.textbook()).update(names, [0, 1] * 10).model
    assert [warning.filename for warning in caught] == [__file__]


def test_a_column_left_out_says_why():
    names = {"name": [f"row {i}" for i in range(20)], "x": [1.5, 2.0] * 10}
    classifier = Classifier(Settings.textbook()).update(names, [0, 1] * 10)
    with pytest.warns(IdentifierWarning):
        assert "left out  hardly two rows alike" in str(classifier.schema)
