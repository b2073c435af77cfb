"""Values that are computed when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, cast

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
        self._value: T | None = None

    @classmethod
    def known(cls, value: T) -> Self:
        """Hold a value that is there already."""
        later = cls.__new__(cls)
        later._compute, later._value = None, value
        return later

    @property
    def value(self) -> T:
        """The value."""
        if self._compute is not None:
            self._settle()
        return cast("T", self._value)

    @alone
    def _settle(self) -> None:
        if self._compute is not None:
            self._value = self._compute()
            self._compute = None  # with all that it held

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __reduce__(self) -> Any:
        return type(self).known, (self.value,)
