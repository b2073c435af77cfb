"""What an evaluation takes, keeps and refuses."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

from priory.base.errors import InputError, SettingError
from priory.evaluation import Evaluation

P = [[0.7, 0.2, 0.1], [0.1, 0.5, 0.4]]


def test_what_it_keeps():
    e = Evaluation(["b", "c"], P, ["c", "b", "a"], [1, 2], how="10-fold")
    assert e.classes == ("c", "b", "a")
    assert e.labels.tolist() == ["b", "c"]
    assert e.predictions.tolist() == ["c", "b"]
    assert e.probabilities.tolist() == P
    assert e.weights.tolist() == [1, 2]
    assert (e.how, e.n_rows) == ("10-fold", 2)
    assert repr(e) == "<Evaluation, 10-fold: 2 rows, 3 classes, accuracy 0.0000>"


@pytest.mark.parametrize(
    "labels",
    [
        ["x", "y"],
        np.array(["x", "y"]),
        pd.Series(["x", "y"], index=[7, 8]),
        pd.Categorical(["x", "y"]),
        pl.Series(["x", "y"]),
    ],
)
def test_labels_of_any_kind(labels):
    e = Evaluation(labels, [0.25, 0.75], np.array(["x", "y"]))
    assert e.accuracy == 1
    assert e.probabilities.tolist() == [[0.75, 0.25], [0.25, 0.75]]


@pytest.mark.parametrize("classes", [[False, True], [0, 1], ["0", "1"], [0.5, 1.5], [-1, "a"]])
def test_classes_of_any_type(classes):
    e = Evaluation(classes, [0.2, 0.8], classes)
    assert e.labels.tolist() == e.predictions.tolist() == list(classes)
    assert [type(label) for label in e.classes] == [type(label) for label in classes]


def test_tables_of_probabilities():
    for table in (pd.DataFrame(P), np.array(P, dtype=np.float32), pl.DataFrame(P, orient="row")):
        e = Evaluation([0, 1], table, [0, 1, 2])
        np.testing.assert_allclose(e.probabilities, P, rtol=1e-6)
        np.testing.assert_allclose(e.probabilities.sum(axis=1), 1, rtol=1e-15)


def test_rounding_is_left_as_it_is():
    p = np.full((1, 3), 1 / 3)
    p[0, 0] += 1e-16
    np.testing.assert_array_equal(Evaluation([0], p, [0, 1, 2]).probabilities, p)


def test_it_does_not_change():
    p, w = np.array(P), np.array([1.0, 2.0])
    e = Evaluation([0, 1], p, [0, 1, 2], w)
    with pytest.raises(AttributeError, match="An evaluation is immutable: how cannot be set"):
        e.how = "guessed"
    for array in (e.probabilities, e.true_codes, e.predicted_codes, e.weights, e.confusion_matrix):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    p[:], w[:] = 0, 0  # what was given is the giver's
    assert e.probabilities.tolist() == P
    assert e.weights.tolist() == [1, 2]
    again = pickle.loads(pickle.dumps(e))
    assert again.to_dict() == e.to_dict()


def test_predictions_that_are_not_the_most_probable():
    e = Evaluation([0, 1], [0.4, 0.4], [0, 1], predictions=[0, 1])
    assert e.accuracy == 1
    assert e.reliability(bins=10).rows.tolist() == [0, 0, 0, 0, 1, 0, 1, 0, 0, 0]


def test_of_predictions():
    e = Evaluation.of_predictions(["b", "a"], ["b", "c"])
    assert e.classes == ("a", "b", "c")
    assert not e.has_probabilities
    assert Evaluation.of_predictions([1], [1], [0, 1], [3.0], "10-fold").to_dict()["weight"] == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], np.zeros((0, 2)), [0, 1]), "There are no rows to evaluate"),
        (([0], [[1.0]], []), "classes must name at least one class"),
        (([0], [[0.5, 0.5]], [0, 0]), "classes must be distinct; 0 occurs twice"),
        (([0, 5], P, [0, 1, 2]), "labels must be among the classes 0, 1, 2; 5 is not"),
        (
            (["1", "0"], [0.2, 0.3], [0, 1]),
            "'0' is a string, the class 0 is of type int|'1' is a string, the class 1 is of type",
        ),
        (([True, False], [0.2, 0.3], [0, 1]), "is of type bool, the class . is of type int"),
        ((["hamm"], [0.2], ["ham", "spam"]), "Did you mean 'ham'"),
        (([None, 1], [0.2, 0.3], [0, 1]), "labels has 1 missing labels"),
        (([0, 1], [P[0]], [0, 1, 2]), "probabilities has 1 rows, labels has 2"),
        (
            ([0, 1], P, [0, 1]),
            r"a column for each of the 2 classes \(0, 1\); its shape is \(2, 3\)",
        ),
        (([0, 1], [0.2, 0.3], [0, 1, 2]), r"a column for each of the 3 classes.*\(2,\)"),
        (([0, 1], [["x"] * 3] * 2, [0, 1, 2]), "probabilities must be numbers"),
        (([0, 1], [P[0], [np.nan] * 3], [0, 1, 2]), "between 0 and 1; row 1 is .nan, nan, nan"),
        (([0, 1], [P[0], [1.5, -0.5, 0]], [0, 1, 2]), "between 0 and 1; row 1 is .1.5, -0.5"),
        (([0, 1], [P[0], [0.5, 0.4, 0]], [0, 1, 2]), "sum to 1 in every row; row 1 sums to 0.9"),
        (([0, 1], P, [0, 1, 2], [1]), "sample_weight must have one number a row"),
        (([0, 1], P, [0, 1, 2], [1, -1]), "sample_weight must be finite and at least 0"),
        (([0, 1], P, [0, 1, 2], [0, 0]), "sample_weight is 0 in every row"),
    ],
)
def test_what_it_refuses(arguments, message):
    with pytest.raises(InputError, match=message):
        Evaluation(*arguments)


def test_what_predictions_alone_refuse():
    with pytest.raises(InputError, match="predictions has 1 rows, labels has 2"):
        Evaluation.of_predictions([0, 1], [0])
    with pytest.raises(InputError, match="There are no rows to evaluate"):
        Evaluation.of_predictions([], [])
    with pytest.raises(InputError, match="predictions must be among the classes 0, 1; 2 is not"):
        Evaluation.of_predictions([0], [2], [0, 1])
    with pytest.raises(InputError, match="predictions has 1 rows, labels has 2"):
        Evaluation([0, 1], [0.1, 0.2], [0, 1], predictions=[0])
    with pytest.raises(SettingError, match="how must be a few words"):
        Evaluation([0], [0.1], [0, 1], how=10)
