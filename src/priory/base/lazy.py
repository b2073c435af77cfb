"""Lazy imports: names of a package that are imported when first used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["Lazy", "importer"]


def importer(package: dict[str, Any], homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Make the `__getattr__` of a package from its globals and the module of each name.

    >>> importer({"__name__": "priory.base"}, {"listing": "errors"})("listing").__name__
    'listing'
    """

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package['__name__']!r} has no attribute {name!r}")
        package[name] = getattr(import_module(f"{package['__name__']}.{homes[name]}"), name)
        return package[name]

    return get


class Lazy:
    """A module that is imported when something of it is asked for.

    >>> Lazy("math").pi
    3.141592653589793
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        value = getattr(import_module(self._name), attribute)
        setattr(self, attribute, value)  # the next time it is there
        return value
