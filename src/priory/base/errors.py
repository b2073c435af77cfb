"""Exceptions and warnings: every error is a `PrioryError`, every warning a `PrioryWarning`."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Iterable

__all__ = [
    "DriftWarning",
    "ExpressionError",
    "ForgetError",
    "IdentifierWarning",
    "ImpossibleEvidenceWarning",
    "InputError",
    "MissingValueError",
    "ModelFileError",
    "NoLikelihoodError",
    "NoPosteriorError",
    "NoProbabilitiesError",
    "NotConvergedWarning",
    "NotFittedError",
    "NotLinearError",
    "PrioryError",
    "PrioryWarning",
    "SchemaError",
    "SettingError",
    "SparseTestWarning",
    "StaleTuningWarning",
    "TooLargeError",
    "UncalibratedWarning",
    "UnknownFamilyError",
    "UnseenValueError",
    "VanishingVarianceWarning",
    "ZeroProbabilityError",
]


class PrioryError(Exception):
    """The base class of all errors that priory raises deliberately.

    >>> from priory import NaiveBayes
    >>> try:
    ...     NaiveBayes().fit({"x": [1, 2]}, ["a"])
    ... except PrioryError as error:
    ...     print(type(error).__name__)
    InputError
    """


class InputError(PrioryError, ValueError):
    """Raised if data cannot be read: because of its shape, type or values."""


class SchemaError(InputError):
    """Raised if data does not have the columns, or the kinds of columns, of the training data."""


class MissingValueError(InputError):
    """Raised if a column with ``missing="error"`` has a missing value."""


class UnseenValueError(InputError):
    """Raised if a column with ``unseen="error"`` has a value that is not in the training data."""


class ExpressionError(InputError):
    """Raised if a logical expression cannot be parsed, or refers to unknown names."""


class ForgetError(PrioryError, ValueError):
    """Raised if rows cannot be forgotten because they are not in the training data."""


class SettingError(PrioryError, ValueError):
    """Raised if an argument, or a combination of arguments, is invalid."""


class UnknownFamilyError(SettingError):
    """Say that a setting, or a model file, names a family that is not there."""


class ModelFileError(PrioryError, ValueError):
    """Raised if a model file cannot be read or written."""


class TooLargeError(PrioryError, ValueError):
    """Raised if a result would need more memory than allowed."""


class ZeroProbabilityError(PrioryError, ValueError):
    """Raised if something of probability zero is given as evidence."""


class NotLinearError(PrioryError, ValueError):
    """Raised if a model has no linear form; names the column that prevents it."""


class NoLikelihoodError(PrioryError, ValueError):
    """Raised if a family has no likelihood, so that it has no samples and no evidence."""


class NoPosteriorError(PrioryError, ValueError):
    """Raised if a family has no posterior distribution of its parameters."""


class NoProbabilitiesError(PrioryError, ValueError):
    """Raised if a metric needs probabilities but only predicted labels are given."""


class NotFittedError(PrioryError, ValueError, AttributeError):
    """Raised if a model is used before it is fitted."""


class PrioryWarning(UserWarning):
    """The base class of all warnings of priory.

    >>> import warnings
    >>> warnings.simplefilter("error", PrioryWarning)  # turn them into exceptions
    >>> warnings.simplefilter("default", PrioryWarning)
    """


class ImpossibleEvidenceWarning(PrioryWarning):
    """Issued if rows are impossible under every class, so that the class prior is used."""


class DriftWarning(PrioryWarning):
    """Issued if the values of a column do not occur in the training data, so that it is ignored."""


class IdentifierWarning(PrioryWarning):
    """Issued if a column is a unique identifier and is left out."""


class NotConvergedWarning(PrioryWarning):
    """Issued if an iteration ends before its result has settled."""


class UncalibratedWarning(PrioryWarning):
    """Issued if a decision rests on the probabilities of a model that was not tuned."""


class SparseTestWarning(PrioryWarning):
    """Issued if a table is too sparse for the distribution that a test compares it with."""


class StaleTuningWarning(PrioryWarning):
    """Issued if the tuning of a model is older than its training data."""


class VanishingVarianceWarning(PrioryWarning):
    """Issued if the numbers of a class have variance 0, so that its density is a spike."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Make a hint such as ``" Did you mean 'color'?"``, or an empty string.

    >>> did_you_mean("colour", ["color", "size"])
    " Did you mean 'color'?"
    """
    import difflib  # imported only for an error

    close = difflib.get_close_matches(str(name), [str(k) for k in known], n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


def listing(names: Iterable[object], most: int = 5) -> str:
    """List the first few names, in quotes.

    >>> listing(["a", "b"]), listing(range(9), most=2)
    ("'a', 'b'", '0, 1 and 7 more')
    """
    names = list(names)
    text = ", ".join(repr(name) for name in names[:most])
    return text + (f" and {len(names) - most} more" if len(names) > most else "")


def warn(message: str, category: type[PrioryWarning] | type[UserWarning]) -> None:
    """Warn at the line of the caller's code, however deep inside priory the warning arises."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("priory"):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def check_number(name: str, value: object, *, above: float | None = None) -> None:
    """Refuse anything but a finite number of at least 0, or above a bound.

    >>> check_number("alpha", 0.5)
    """
    number = isinstance(value, int | float) or hasattr(value, "__float__")
    if number and not isinstance(value, bool):
        x = float(value)  # type: ignore[arg-type]
        if math.isfinite(x) and (x >= 0 if above is None else x > above):
            return
    bound = "of at least 0" if above is None else f"above {above:g}"
    raise SettingError(f"{name} must be a finite number {bound}, not {value!r}.")
