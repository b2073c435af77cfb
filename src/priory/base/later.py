"""Values that are computed when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Generic, Self, TypeVar

from priory.base.locking import alone

__all__ = ["Later"]

T = TypeVar("T")


class Later(Generic[T]):
    """A value that is computed when it is first asked for, by one thread.

    Copies share it, and a pickle holds the value itself.

    >>> held = Later(lambda: print("computed") or 7)
    >>> held.value + held.value
    computed
    14
    """

    def __init__(self, compute: Callable[[], T]) -> None:
        self._compute: Callable[[], T] | None = compute

    @classmethod
    def known(cls, value: T) -> Self:
        """Hold a value that is there already."""
        later = cls.__new__(cls)
        later._compute, later.__dict__["value"] = None, value
        return later

    @cached_property
    def value(self) -> T:
        """The value."""
        return self._computed()

    @alone
    def _computed(self) -> T:
        if self._compute is not None:
            self.__dict__["value"] = self._compute()
            self._compute = None  # with all that it held
        return self.__dict__["value"]

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __reduce__(self) -> Any:
        return type(self).known, (self.value,)
