"""Factors that SQL and ONNX cannot express, and the writers of those that they can."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from priory.base.errors import SettingError
from priory.base.typing import FloatArray
from priory.model.term import Term

__all__ = ["grid", "no_form", "writer"]


def writer(term: Term, writers: Mapping[type, Any], form: str) -> Any:
    """Find what writes the factors of a family."""
    for family, write in writers.items():
        if isinstance(term.family, family):
            return write
    raise no_form(term, form, f"{term.family.name} has no {form} form")


def grid(term: Term, form: str) -> FloatArray:
    """Tabulate the scores of columns that are counted together, unless there are too many."""
    try:
        found: FloatArray = term.parameters.grid()
        return found
    except SettingError as error:
        raise no_form(term, form, str(error)) from None


def no_form(term: Term, form: str, reason: str) -> SettingError:
    """Make the error for a factor that cannot be exported."""
    return SettingError(
        f"Column {term.block.title!r} cannot be exported to {form}: {reason}. Choose another "
        "family for it; the data need not be counted again."
    )
