"""Detection of texts: free text as opposed to identifiers, by the words of the strings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from priory.text.analyzer import Analyzer

__all__ = ["Reason", "as_text", "is_unspaced", "text_setting"]

SENTENCE_WORDS = 6
"""Distinct strings with at least so many words on average are sentences."""

SHORT_WORDS = 3
REPEATS = 3
"""Shorter strings are texts if their words repeat, each so often on average."""

SEVERAL_WORDS = 2
LOOKED_AT = 1000

UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003134f]"
)
"""Letters of Thai, Lao, Burmese, Khmer, Japanese and Chinese, which are written without spaces.

Two of them count as a word, which is about right for Chinese.
"""


class Reason(NamedTuple):
    """How a column of texts is split, and why it is treated as text."""

    analyzer: Analyzer
    why: str


def as_text(strings: Sequence[str]) -> Reason | None:
    r"""Choose an analyzer for distinct strings if they are texts, else None.

    >>> as_text(["the first of\nmany long sentences", "and here is\tyet another one"]).why
    'strings of 6 words, almost all distinct'
    >>> as_text(["row 1", "row 2", "row 3"])
    """
    found = _Wording(strings)
    if found.words >= SENTENCE_WORDS:
        reason = "almost all distinct"
    elif found.words >= SHORT_WORDS <= found.with_letters and found.repeats >= REPEATS:
        reason = "whose words repeat"
    else:
        return None
    if found.is_unspaced:
        return Reason(Analyzer(), f"strings of {found.letters:.0f} letters, {reason}")
    return Reason(Analyzer(), f"strings of {found.words:.0f} words, {reason}")


def text_setting(name: str, strings: Sequence[str]) -> str | None:
    """Suggest the setting that reads a column as text, if its strings look like texts.

    >>> text_setting("note", ["a good one", "not so good"]), text_setting("id", ["x1", "x2"])
    ("text=['note']", None)
    """
    return f"text=[{name!r}]" if _Wording(strings).with_letters >= SEVERAL_WORDS else None


def is_unspaced(strings: Sequence[str]) -> bool:
    """Tell whether texts are mostly of a script that is written without spaces.

    >>> is_unspaced(["房间很好", "ok"]), is_unspaced(["a nice room"])
    (True, False)
    """
    return _Wording(strings).is_unspaced


class _Wording:
    """The mean number of words per string, and how often each occurs.

    Words are separated by white space; one of digits alone may be a number.
    """

    def __init__(self, strings: Sequence[str]) -> None:
        some = strings[:: -(-len(strings) // LOOKED_AT) or 1]
        pieces, unspaced = [], []
        for string in some:
            letters = UNSPACED.findall(string)
            unspaced += letters
            pieces += (UNSPACED.sub(" ", string) if letters else string).split()
        words = [piece.lower() for piece in pieces if any(map(str.isalpha, piece))]
        n = max(len(some), 1)
        self.letters = len(unspaced) / n
        self.words = len(pieces) / n + self.letters / 2
        self.with_letters = len(words) / n + self.letters / 2
        self.repeats = (len(words) + len(unspaced)) / max(len({*words, *unspaced}), 1)
        self.is_unspaced = len(unspaced) / 2 > len(words)
