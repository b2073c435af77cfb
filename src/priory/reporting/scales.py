"""Scales of pictures: positions in per cent of the width, so that pictures may be of any width."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, isinf, log10

__all__ = ["Scale", "percent", "signed", "ticks"]

LEFT, RIGHT = 8.0, 97.0
"""Where the smallest and the largest number stand, in per cent."""


@dataclass(frozen=True)
class Scale:
    """Map numbers to per cent of the width; those beyond the ends stand at the edge.

    >>> Scale(-1.0, 1.0)(0.0), Scale(0.0, 1.0).at(float("inf"))
    ('52.5000%', 99.0)
    """

    low: float
    high: float

    def at(self, x: float) -> float:
        """Find the place of a number, in per cent."""
        share = (x - self.low) / (self.high - self.low)
        return min(max(LEFT + share * (RIGHT - LEFT), LEFT - 2.0), RIGHT + 2.0)

    def __call__(self, x: float) -> str:
        """Write the place of a number."""
        return f"{self.at(x):.4f}%"


def ticks(low: float, high: float, most: int) -> list[float]:
    """Choose at most so many round numbers between two.

    >>> ticks(-1.2, 2.4, 5)
    [-1.0, 0.0, 1.0, 2.0]
    >>> ticks(17.0, 90.0, 4)
    [20.0, 40.0, 60.0, 80.0]
    """
    if not high > low:
        return [low]
    size = (high - low) / most
    power = 10.0 ** floor(log10(size))
    step = next(s * power for s in (1, 2, 5, 10, 20) if (high - low) / (s * power) <= most)
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    return [round(i * step, 12) + 0.0 for i in range(first, last + 1)]


def signed(x: float, digits: int | None = None) -> str:
    """Write a number with its sign; 0 has none.

    >>> signed(-0.5), signed(1.0, 2), signed(0.0, 3), signed(float("-inf"))
    ('−0.5', '+1.00', '0', '−∞')
    """
    if not x:
        return "0"
    text = "∞" if isinf(x) else f"{abs(x):g}" if digits is None else f"{abs(x):.{digits}f}"
    return ("−" if x < 0 else "+") + text


def percent(share: float, digits: int = 1) -> str:
    r"""Write a share in per cent.

    >>> percent(0.25), percent(0.5, 0)
    ('25.0\xa0%', '50\xa0%')
    """
    return f"{100 * share:.{digits}f}\xa0%"
