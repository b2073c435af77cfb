"""What tests of reading share."""

from priory import Classifier

COLUMNS = {
    "word": ["red", "blü", None, "red", "green"],
    "whole": [1, 2, 3, None, 1],
    "number": [0.5, None, -2.25, 1e10, 0.0],
    "truth": [True, False, None, True, True],
}
Y = ["a", "b", "a", "c", "b"]


def count(X, y=Y, settings=None):
    return Classifier(settings).update(X, y).statistics
