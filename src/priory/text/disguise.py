"""Letters in disguise: characters that are not seen, and letters that look like others.

Spam is written so that people read one word and filters another: "Viagra" with a zero-width space
in it, or "paypal" in letters of two alphabets.
"""

from __future__ import annotations

import re
from unicodedata import normalize

from priory.text.normalising import IGNORABLE

__all__ = ["undisguised"]

_UNSEEN_INSIDE = re.compile(f"(?<=[A-Za-z]){IGNORABLE.pattern}++(?=[A-Za-z])")

_STYLED = re.compile(
    "[\u2102\u210a-\u2115\u2119-\u211d\u2124\u2128-\u2138\u2460-\u24ff\uff01-\uff5e"
    "\U0001d400-\U0001d7ff\U0001f130-\U0001f189]"
)
"""Letters of another width, in circles, bold, script or Fraktur: NFKC makes plain ones of them."""

_PAIRS = (
    *zip("аеорсухіїјѕһӏԁԛԝѵвкмнтӓӧ", "aeopcyxiijshldqwvbkmhtao", strict=True),
    *zip("АВЕЗКМНОРСТУХІЇЈЅԚԜ", "ABE3KMHOPCTYXIIJSQW", strict=True),
    *zip("αβγεικνορτυχωάέίόύ", "abyeikvoptuxwaeiou", strict=True),
    *zip("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX", strict=True),
    *zip("օսոհցյ", "ounhgj", strict=True),
    *zip("ɑɡıɩʟʀᴀᴄᴅᴇᴊᴋᴍɴᴏᴘꜱᴛᴜᴠᴡᴢ", "agiilracdejkmnopstuvwz", strict=True),
)
_LATIN_LOOK = {ord(strange): latin for strange, latin in _PAIRS}
"""Letters of Cyrillic, Greek, Armenian and phonetic alphabets that look like Latin ones."""

_WORD = re.compile(r"\w++")
_STRANGE = re.compile("[" + "".join(strange for strange, _ in _PAIRS) + "]")
_LATIN = re.compile("[A-Za-z]")


def undisguised(text: str) -> tuple[str, list[str]]:
    r"""Write a text in the letters that it shows, and name the disguises found.

    Default-ignorable characters are removed; letters in styles become plain (NFKC); in a word that
    mixes alphabets and could be all Latin by its looks, letters become Latin. Other words stay.

    >>> undisguised("V\u200biagra from \u0440aypal, \u043f\u0440\u0438\u0432\u0435\u0442")
    ('Viagra from paypal, привет', ['invisible', 'alphabets'])
    """
    if text.isascii() or ("\xad" not in text and _is_latin(text)):
        return text, []
    found = []
    if IGNORABLE.search(text):
        if _UNSEEN_INSIDE.search(text):
            found.append("invisible")
        text = IGNORABLE.sub("", text)
    if _STYLED.search(text):
        found.append("styled")
        text = normalize("NFKC", text)
    if _STRANGE.search(text) and _LATIN.search(text):
        folded = _WORD.sub(_folded, text)
        if folded != text:
            found.append("alphabets")
        text = folded
    return text, found


def _is_latin(text: str) -> bool:
    """Tell whether all characters are of Latin-1, where none but the soft hyphen is a disguise."""
    try:
        text.encode("latin-1")
    except UnicodeEncodeError:
        return False
    return True


def _folded(found: re.Match[str]) -> str:
    word = found[0]
    if word.isascii() or not (_STRANGE.search(word) and _LATIN.search(word)):
        return word
    latin = word.translate(_LATIN_LOOK)
    return latin if latin.isascii() else word
