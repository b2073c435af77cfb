"""What all plots share: matplotlib, if it is there, and colours.

The colours are those of Okabe and Ito (2008), which colour-blind readers can distinguish.
"""

from __future__ import annotations

from typing import Any

__all__ = ["AGAINST", "COLOURS", "DASHES", "FOR", "GREY", "plot_text", "pyplot"]

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F6A00", "#000000")
DASHES = ("-", "--", "-.", ":")
GREY = "#9a9a9a"
FOR, AGAINST = COLOURS[0], COLOURS[1]
"""What speaks for a class, and what against it."""


def plot_text(text: str) -> str:
    r"""Write text for matplotlib: no mathematics, on one line, and never hidden.

    >>> print(plot_text("_$5"))
     _\$5
    """
    text = " ".join(text.split()).replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


def pyplot() -> Any:
    """Import matplotlib, or say how to install it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("Plots need matplotlib: pip install 'priory[plot]'.") from None
    return plt
