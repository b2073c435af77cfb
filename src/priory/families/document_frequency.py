"""In how many texts a word must be, and may be."""

from __future__ import annotations

from typing import Any

import numpy as np

from priory.base.errors import SettingError

__all__ = ["check_document_frequencies", "most_texts"]


def check_document_frequencies(min_df: Any, max_df: Any) -> None:
    """Refuse what is no least and no greatest number of texts.

    >>> check_document_frequencies(3, 2)
    Traceback (most recent call last):
    priory.base.errors.SettingError: max_df must be at least min_df, 3, not 2: no word can be left.
    """
    if isinstance(min_df, bool) or not isinstance(min_df, int | np.integer) or min_df < 1:
        raise SettingError(f"min_df must be an integer of at least 1, not {min_df!r}.")
    is_count = isinstance(max_df, int | np.integer) and not isinstance(max_df, bool)
    is_share = isinstance(max_df, float | np.floating) and 0 <= max_df <= 1
    if not is_share and not (is_count and max_df >= 1):
        raise SettingError(
            "max_df must be a share of the texts between 0.0 and 1.0, or an integer of at least 1, "
            f"not {max_df!r}."
        )
    if is_count and max_df < min_df:
        raise SettingError(
            f"max_df must be at least min_df, {min_df}, not {max_df}: no word can be left."
        )


def most_texts(max_df: float, texts: float) -> float:
    """Tell in how many of the texts a word may be: `max_df`, or that share of them.

    >>> most_texts(3, 10), most_texts(0.25, 10), most_texts(1.0, 10)
    (3, 2.5, 10.0)
    """
    return max_df if isinstance(max_df, int | np.integer) else max_df * texts
