"""Families: one likelihood a file, each derived from a table of sums.

The classes are imported when they are first asked for; `registry` says which there are.
"""

from __future__ import annotations

from typing import Any

from priory.families.base import Family
from priory.families.registry import (
    as_family,
    class_names,
    families_for,
    family_class,
    family_names,
    register,
)

__all__ = [
    "Family",
    "as_family",
    "class_names",
    "families_for",
    "family_class",
    "family_names",
    "register",
]

__all__ += class_names()


def __getattr__(name: str) -> Any:
    if name not in class_names():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return family_class(name)
