"""The exceptions and warnings of priory, all under one name."""

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
    "NotFittedError",
    "NotLinearError",
    "PrioryError",
    "PrioryWarning",
    "SchemaError",
    "SettingError",
    "StaleTuningWarning",
    "TooLargeError",
    "UnseenValueError",
    "VanishingVarianceWarning",
    "ZeroProbabilityError",
]


class PrioryError(Exception):
    """Catch every error that priory raises on purpose."""


class InputError(PrioryError, ValueError):
    """Say that data cannot be read: its shape, type or values."""


class SchemaError(InputError):
    """Say that data does not have the columns, or the kinds, that the model learned."""


class MissingValueError(InputError):
    """Say that a column whose policy is ``missing="error"`` has a gap."""


class UnseenValueError(InputError):
    """Say that a column whose policy is ``unseen="error"`` holds a value never learned."""


class ExpressionError(InputError):
    """Say that a logical expression cannot be read, or names what is not there."""


class ForgetError(PrioryError, ValueError):
    """Say that rows cannot be forgotten because they were never learned."""


class SettingError(PrioryError, ValueError):
    """Say that an argument, or a combination of them, cannot be honoured."""


class ModelFileError(PrioryError, ValueError):
    """Say that a model file cannot be read or written, and why."""


class TooLargeError(PrioryError, ValueError):
    """Say that an answer would need more memory than allowed, and how much."""


class ZeroProbabilityError(PrioryError, ValueError):
    """Say that something of probability zero was taken as known."""


class NotLinearError(PrioryError, ValueError):
    """Say that a model has no linear form, and which column prevents it."""


class NoLikelihoodError(PrioryError, ValueError):
    """Say that a family has no likelihood, so it cannot be sampled or give evidence."""


class NoPosteriorError(PrioryError, ValueError):
    """Say that a family has no distribution over its parameters."""


class NoProbabilitiesError(PrioryError, ValueError):
    """Say that a figure needs probabilities, where there are predictions alone."""


class NotFittedError(PrioryError, ValueError, AttributeError):
    """Say that a model was asked before it learned anything."""


class PrioryWarning(UserWarning):
    """Catch every warning that priory gives."""


class ImpossibleEvidenceWarning(PrioryWarning):
    """Tell that rows are impossible under every class, so the class prior was used."""


class DriftWarning(PrioryWarning):
    """Tell that a column holds other values than were learned, so that it tells nothing."""


class IdentifierWarning(PrioryWarning):
    """Tell that a column names its rows and was left out."""


class StaleTuningWarning(PrioryWarning):
    """Tell that families and weights were chosen on other rows than are learned now."""


class VanishingVarianceWarning(PrioryWarning):
    """Tell that numbers of a class do not vary, so that its density is a spike."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint such as ``" Did you mean 'color'?"``, or nothing.

    >>> did_you_mean("colour", ["color", "size"])
    " Did you mean 'color'?"
    """
    import difflib  # only once something has gone wrong

    close = difflib.get_close_matches(str(name), [str(k) for k in known], n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


def listing(names: Iterable[object], most: int = 5) -> str:
    """Return names in quotes, the first few of them.

    >>> listing(["a", "b"]), listing(range(9), most=2)
    ("'a', 'b'", '0, 1 and 7 more')
    """
    names = list(names)
    text = ", ".join(repr(name) for name in names[:most])
    return text + (f" and {len(names) - most} more" if len(names) > most else "")


def warn(message: str, category: type[PrioryWarning] | type[UserWarning]) -> None:
    """Warn at the line of the user's code that led here, however deep inside priory this is."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("priory"):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def check_number(name: str, value: object, *, above: float | None = None) -> None:
    """Refuse what is no finite number of at least 0, or not above a bound.

    >>> check_number("alpha", 0.5)
    """
    number = isinstance(value, int | float) or hasattr(value, "__float__")
    if number and not isinstance(value, bool):
        x = float(value)  # type: ignore[arg-type]
        if math.isfinite(x) and (x >= 0 if above is None else x > above):
            return
    bound = "of at least 0" if above is None else f"above {above:g}"
    raise SettingError(f"{name} must be a finite number {bound}, not {value!r}.")
