"""Words that stand for a missing value, and strings as they are meant: without blanks around."""

from __future__ import annotations

import numpy as np

from priory.data.columns import Labels

__all__ = ["CLASS_GAPS", "GAP_WORDS", "tidied"]

CLASS_GAPS = frozenset(
    [
        "na",
        "n/a",
        "n.a.",
        "#n/a",
        "#na",
        "<na>",
        "nan",
        "-nan",
        "nat",
        "null",
        "(null)",
        "#null!",
        "\\n",
        "?",
        "",
    ]
)
"""What stands for a gap everywhere but among labels, in any case; also among names of classes."""

GAP_WORDS = CLASS_GAPS | frozenset(
    [
        "-",
        "--",
        "–",
        "—",
        ".",
        "..",
        "none",
        "nil",
        "missing",
        "unknown",
        "#value!",
        "#div/0!",
        "#ref!",
        "#num!",
        "#name?",
    ]
)
"""What stands for a gap among numbers, dates and truths; a class might have such a name."""


def tidied(column: Labels, gaps: frozenset[str] = frozenset()) -> Labels:
    """Strip blanks from strings; an empty one is missing, and so is a word of `gaps` in any case.

    >>> column = tidied(Labels(np.array([0, 1, 2, 3]), (" ja", "ja", "?", "")), CLASS_GAPS)
    >>> column.codes.tolist(), column.labels
    ([0, 0, -1, -1], ('ja',))
    """
    stripped = [v.strip() if isinstance(v, str) else v for v in column.labels]
    kept = {
        (type(v), v): v for v in stripped if not isinstance(v, str) or (v and v.lower() not in gaps)
    }
    if len(kept) == len(stripped) and list(kept.values()) == list(column.labels):
        return column
    places = {key: code for code, key in enumerate(kept)}
    codes = [*(places.get((type(v), v), -1) for v in stripped), -1]  # the last: missing
    return Labels(np.array(codes, dtype=np.int32)[column.codes], tuple(kept.values()))
