"""Texts made alike before they are split: compatibility forms, case, accents."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["IGNORABLE", "nfkc", "strip_accents"]

IGNORABLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Unicode's default-ignorable code points: what no reader sees."""


def nfkc(text: str, fold: bool = True) -> str:
    r"""Convert to Unicode's form NFKC, without characters that no reader sees, and fold the case.

        NFKC(casefold(NFKC(text)))

    So fullwidth letters, ligatures and mathematical alphabets become plain letters.

    >>> nfkc("Ｆｒｅｅ ﬁ\u200bsh 𝐂𝐚𝐬𝐡 Straße"), nfkc("Ｆｒｅｅ", fold=False)
    ('free fish cash strasse', 'Free')
    """
    if text.isascii():
        return text.lower() if fold else text
    text = IGNORABLE.sub("", unicodedata.normalize("NFKC", text))
    # Folding may leave what is not in the form, and what is in it may be folded again.
    return unicodedata.normalize("NFKC", text.casefold()) if fold else text


def strip_accents(text: str, how: str) -> str:
    """Remove accents as scikit-learn does: "unicode" marks of letters, "ascii" all but ASCII.

    >>> strip_accents("Żółć, naïve", "unicode"), strip_accents("Żółć, naïve", "ascii")
    ('Zołc, naive', 'Zoc, naive')
    """
    if text.isascii():
        return text
    if how == "ascii":
        return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
