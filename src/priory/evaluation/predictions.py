"""True labels beside predictions, validated once and then immutable."""

from __future__ import annotations

from collections.abc import Iterable, Sized
from typing import Any, NoReturn, Self

import numpy as np

from priory.base.errors import InputError, NoProbabilitiesError, SettingError, did_you_mean, listing
from priory.base.labels import label_array, label_key, sorted_labels
from priory.base.typing import AnyArray, FloatArray, IntArray, Label
from priory.data.columns import Labels
from priory.data.reading import read_labels, read_weights
from priory.kernels.score import argmax_rows

__all__ = ["Predictions", "check_same_rows"]


class Predictions:
    """The true label of each row, its predicted label and, if given, P(k | x) or h(x)."""

    classes: tuple[Label, ...]
    """The classes, in the order of the columns of `probabilities`."""
    how: str
    """How the predictions were made, such as "held-out" or "10-fold"."""
    true_codes: IntArray
    """The index of each row's true label in `classes`."""
    predicted_codes: IntArray
    """The index of each row's predicted label in `classes`."""
    weights: FloatArray | None
    """The weight of each row; None if each is 1."""
    _probabilities: FloatArray | None
    _margin: FloatArray | None
    """h(x) of two classes, if given instead of probabilities."""

    def __init__(
        self,
        labels: Any,
        probabilities: Any,
        classes: Any,
        sample_weight: Any = None,
        how: str = "held-out",
        *,
        predictions: Any = None,
    ) -> None:
        known = _read_classes(classes)
        true_codes = _codes(labels, known, "labels")
        matrix = _read_probabilities(probabilities, _check_rows(true_codes), known)
        if predictions is None:
            predicted_codes = _most_probable(matrix)
        else:
            predicted_codes = _codes(predictions, known, "predictions", len(true_codes))
        weights = _read_weights(sample_weight, len(true_codes))
        self._hold(known, true_codes, predicted_codes, matrix, weights, how)

    @classmethod
    def of_predictions(
        cls,
        labels: Any,
        predictions: Any,
        classes: Any = None,
        sample_weight: Any = None,
        how: str = "held-out",
    ) -> Self:
        """Evaluate predicted labels, for models without probabilities.

        By default `classes` are the labels that occur. Metrics of probabilities are refused.
        """
        if classes is None:
            named = {"labels": labels, "predictions": predictions}
            found = [read_labels(values, name).labels for name, values in named.items()]
            known = sorted_labels([*found[0], *found[1]])
        else:
            known = _read_classes(classes)
        true_codes = _codes(labels, known, "labels")
        n = _check_rows(true_codes)
        predicted_codes = _codes(predictions, known, "predictions", n)
        weights = _read_weights(sample_weight, n)
        return cls._held(known, true_codes, predicted_codes, None, weights, how)

    @classmethod
    def of_scores(
        cls,
        labels: Any,
        scores: Any,
        classes: Any = None,
        sample_weight: Any = None,
        how: str = "held-out",
    ) -> Self:
        """Evaluate scores h(x), such as those of a decision function, for two classes.

        h(x) > 0 predicts the second class, otherwise the first. By default `classes` are the two
        labels that occur. Losses of the margin are available; metrics of probabilities are
        refused.

        >>> from priory.evaluation import Evaluation
        >>> e = Evaluation.of_scores([-1, 1, 1], [-2.0, 0.5, -0.25])  # h(x) of three rows
        >>> e.predictions.tolist(), round(e.empirical_risk("hinge"), 4)
        ([-1, 1, -1], 0.5833)
        """
        found = read_labels(labels, "labels").labels if classes is None else classes
        known = sorted_labels([*found]) if classes is None else _read_classes(classes)
        if len(known) != 2:
            hint = " Name both: classes=(first, second)." if classes is None else ""
            raise InputError(
                f"Scores h(x) are for two classes; there are {len(known)}: {listing(known)}.{hint}"
            )
        true_codes = _codes(labels, known, "labels")
        h = _read_scores(scores, _check_rows(true_codes))
        weights = _read_weights(sample_weight, len(true_codes))
        return cls._held(known, true_codes, (h > 0).astype(np.int64), None, weights, how, h)

    @classmethod
    def of_posterior(
        cls,
        labels: Labels,
        posterior: FloatArray,
        classes: tuple[Label, ...],
        weights: FloatArray | None,
        how: str,
    ) -> Self:
        """Evaluate a model's own P(k | x), without a copy: nobody else holds it."""
        true_codes = _codes(labels, classes, "labels")
        weights = _read_weights(weights, _check_rows(true_codes))
        return cls._held(classes, true_codes, _most_probable(posterior), posterior, weights, how)

    @classmethod
    def _held(cls, *parts: Any, **named: Any) -> Self:
        result = cls.__new__(cls)
        result._hold(*parts, **named)
        return result

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.true_codes)

    @property
    def labels(self) -> AnyArray:
        """The true label of each row."""
        return label_array(self.classes)[self.true_codes]

    @property
    def predictions(self) -> AnyArray:
        """The predicted label of each row."""
        return label_array(self.classes)[self.predicted_codes]

    @property
    def has_probabilities(self) -> bool:
        """Whether there are probabilities, or only predicted labels."""
        return self._probabilities is not None

    @property
    def probabilities(self) -> FloatArray:
        """P(k | x), rows × classes."""
        if self._probabilities is None:
            of = "predictions" if self._margin is None else "scores"
            raise NoProbabilitiesError(
                f"This evaluation was made of {of} alone, but the metric needs "
                "probabilities. Use Evaluation(labels, probabilities, classes); for the "
                "losses of a margin h(x), Evaluation.of_scores(labels, h)."
            )
        return self._probabilities

    @property
    def row_weights(self) -> FloatArray:
        """The weight of each row, 1 without sample weights."""
        return np.ones(self.n_rows) if self.weights is None else self.weights

    @property
    def support(self) -> FloatArray:
        """The number of rows of each class, or their weight."""
        return np.bincount(self.true_codes, self.weights, len(self.classes)).astype(np.float64)

    def class_index(self, positive: Label | None = None) -> int:
        """Find the index of the positive class: of two, the second by default."""
        if positive is None:
            if len(self.classes) == 2:
                return 1
            raise SettingError(
                f"With {len(self.classes)} classes positive must be given, for example "
                f"positive={self.classes[-1]!r}."
            )
        places = {label_key(label): k for k, label in enumerate(self.classes)}
        try:
            return places[label_key(positive)]
        except (KeyError, TypeError):
            raise SettingError(
                f"positive must be a class, not {positive!r}. Classes: {listing(self.classes)}."
                f"{did_you_mean(str(positive), map(str, self.classes))}"
            ) from None

    def _with(self, **changed: Any) -> Self:
        """Copy with some attributes changed."""
        kept = {name.lstrip("_"): self.__dict__[name] for name in Predictions.__annotations__}
        return self._held(**(kept | changed))

    def _hold(
        self,
        classes: tuple[Label, ...],
        true_codes: IntArray,
        predicted_codes: IntArray,
        probabilities: FloatArray | None,
        weights: FloatArray | None,
        how: str,
        margin: FloatArray | None = None,
    ) -> None:
        if not isinstance(how, str):
            raise SettingError(f"how must be a few words, such as 'held-out', not {how!r}.")
        for array in (true_codes, predicted_codes, probabilities, weights, margin):
            if array is not None:
                array.flags.writeable = False
        self.__dict__.update(
            classes=classes,
            true_codes=true_codes,
            predicted_codes=predicted_codes,
            weights=weights,
            how=how,
            _probabilities=probabilities,
            _margin=margin,
        )

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"An evaluation is immutable: {name} cannot be set.")


def check_same_rows(first: Predictions, second: Predictions) -> None:
    """Refuse evaluations of different rows, true labels or weights."""
    for e in (first, second):
        if not isinstance(e, Predictions):
            raise SettingError(f"compare takes two evaluations, not {e!r:.60}.")
    if first.n_rows != second.n_rows:
        raise InputError(
            "compare needs evaluations of the same rows: the first has "
            f"{first.n_rows}, the second {second.n_rows}."
        )
    place = {label_key(label): k for k, label in enumerate(first.classes)}
    there = np.array([place.get(label_key(label), -1) for label in second.classes])
    differ = there[second.true_codes] != first.true_codes
    if differ.any():
        row = int(np.argmax(differ))
        raise InputError(
            "compare needs evaluations of the same rows: the true labels of row "
            f"{row} are {_true_label(first, row)!r} and {_true_label(second, row)!r}."
        )
    if not np.array_equal(first.row_weights, second.row_weights):
        raise InputError("compare needs the same sample_weight in both evaluations.")


def _true_label(e: Predictions, row: int) -> Label:
    return e.classes[e.true_codes[row]]


def _read_classes(classes: Any) -> tuple[Label, ...]:
    coded = read_labels(classes, "classes")
    if not len(coded):
        raise InputError("classes must name at least one class; there is none.")
    if len(coded.labels) < len(coded):
        twice = coded.labels[int(np.bincount(coded.codes).argmax())]
        raise InputError(f"classes must be distinct; {twice!r} occurs twice.")
    return tuple(coded.labels[code] for code in coded.codes)


def _codes(
    labels: Any, classes: tuple[Label, ...], name: str, n_rows: int | None = None
) -> IntArray:
    """Find the index of each label among the classes."""
    coded = read_labels(labels, name)
    if n_rows is not None:
        _check_length(name, coded, n_rows)
    places = {label_key(label): k for k, label in enumerate(classes)}
    unknown = [label for label in coded.labels if label_key(label) not in places]
    if unknown:
        raise InputError(
            f"{name} must be among the classes {listing(classes)}; {listing(unknown)} is not."
            f"{_hint(unknown[0], classes)}"
        )
    place = np.array([places[label_key(label)] for label in coded.labels], dtype=np.int64)
    return place[coded.codes] if len(coded) else place


def _most_probable(matrix: FloatArray) -> IntArray:
    """Find the most probable class of each row, with ties broken as in `predict`."""
    places = np.empty(len(matrix), dtype=np.int32)
    argmax_rows(np.ascontiguousarray(matrix), places, probabilities=True)
    return places.astype(np.int64)


def _hint(unknown: Label, classes: Iterable[Label]) -> str:
    """Suggest what an unknown label meant: often it has another type."""
    for label in classes:
        if str(label) == str(unknown) or label == unknown:
            return f" {unknown!r} is {_kind(unknown)}, the class {label!r} is {_kind(label)}."
    return did_you_mean(str(unknown), map(str, classes))


def _kind(label: Label) -> str:
    return "a string" if isinstance(label, str) else f"of type {type(label).__name__}"


def _check_rows(true_codes: IntArray) -> int:
    if not len(true_codes):
        raise InputError("There are no rows to evaluate: labels is empty.")
    return len(true_codes)


def _check_length(name: str, array: Sized, n: int) -> None:
    if len(array) != n:
        raise InputError(f"{name} has {len(array)} rows, labels has {n}: they must be equal.")


def _read_weights(weight: Any, n: int) -> FloatArray | None:
    weights = read_weights(weight, n)
    if weights is None:
        return None
    if not weights.any():
        raise InputError("sample_weight is 0 in every row: there is nothing to evaluate.")
    return weights.copy()  # it is made read-only, and may be the caller's


def _read_scores(values: Any, n: int) -> FloatArray:
    """Read h(x), a number for each row."""
    try:
        scores = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"scores must be numbers, h(x) of each row: {error}.") from None
    if scores.ndim != 1:
        raise InputError(f"scores must be one number a row, h(x); its shape is {scores.shape}.")
    _check_length("scores", scores, n)
    if np.isnan(scores).any():
        raise InputError(f"scores must be numbers; row {int(np.isnan(scores).argmax())} is NaN.")
    return scores


def _read_probabilities(values: Any, n: int, classes: tuple[Label, ...]) -> FloatArray:
    """Read probabilities, rows × classes, each row summing to 1."""
    try:
        given = np.asarray(values)
        matrix = given.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"probabilities must be numbers, rows × classes: {error}.") from None
    if matrix.ndim == 1 and len(classes) == 2:  # P(second class), as in scikit-learn
        matrix = np.column_stack([1 - matrix, matrix])
    if matrix.ndim != 2 or matrix.shape[1] != len(classes):
        raise InputError(
            f"probabilities must have a column for each of the {len(classes)} classes "
            f"({listing(classes)}); its shape is {given.shape}."
        )
    _check_length("probabilities", matrix, n)
    wrong = ~((matrix >= 0) & (matrix <= 1 + 1e-9)).all(axis=1)  # also catches NaN
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            f"probabilities must be between 0 and 1; row {row} is {matrix[row, :6].tolist()}. "
            "For scores h(x) use Evaluation.of_scores, for labels Evaluation.of_predictions."
        )
    total = matrix.sum(axis=1)
    precision = np.finfo(given.dtype).eps if given.dtype.kind == "f" else np.finfo(float).eps
    off = np.abs(total - 1)
    row = int(np.argmax(off))
    if off[row] > max(1e-6, float(np.sqrt(precision))):
        raise InputError(
            f"probabilities must sum to 1 in every row; row {row} sums to {float(total[row])!r}. "
            "If they are unnormalised, divide each row by its sum."
        )
    # Single precision leaves sums such as 1 + 1e-7; rounding of doubles is left as it is.
    return matrix / total[:, None] if off[row] > 1e-12 else matrix
