"""The analyzer: how texts are split into words, stored with the statistics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from priory.base.errors import InputError, SchemaError, SettingError
from priory.base.typing import AnyArray, BoolArray
from priory.kernels.text import Splitter
from priory.kernels.utf8 import encode_texts, encode_tokens

__all__ = ["Analyzer", "as_analyzer"]

UNITS = ("word", "char", "char_wb", "html", "email")

Encoded = tuple[AnyArray, AnyArray, "BoolArray | None"]
"""UTF-8 bytes, the offsets of the texts in them, and which texts are missing."""


@dataclass(frozen=True)
class Analyzer:
    r"""Split texts into words; the default is that of scikit-learn's CountVectorizer.

        words = matches of \b\w\w+\b in text.lower()

    Parameters
    ----------
    unit : "word", "char", "char_wb", "html", "email" or a function
        "char" and "char_wb" take character n-grams, across words or within them; "html" the words
        of the visible text of a page; "email" those of a message, with tagged headers
        (`subject:free`) and whole addresses and links. A function returns the words of a text.
    ngram_range : tuple of two integers
        The shortest and the longest n-grams of words, or of characters.
    stop_words : None, "english" or a list of words
        Words to ignore.
    lowercase : bool
        Whether to convert texts to lower case first.
    max_features : int or None
        The size of the vocabulary: only about so many words, the most frequent, are kept, in
        bounded memory.

    >>> Analyzer(ngram_range=(1, 2)).split("To be, or not")
    ['to', 'be', 'to be', 'or', 'be or', 'not', 'or not']
    """

    unit: str | Callable[[str], Iterable[str]] = "word"
    ngram_range: tuple[int, int] = (1, 1)
    stop_words: tuple[str, ...] | None = None
    lowercase: bool = True
    max_features: int | None = None

    def __post_init__(self) -> None:
        if not (callable(self.unit) or self.unit in UNITS):
            raise SettingError(
                f"analyzer must be one of {', '.join(map(repr, UNITS))}, or a function from a text "
                f"to its words, not {self.unit!r}."
            )
        object.__setattr__(self, "ngram_range", _ngram_range(self.ngram_range))
        object.__setattr__(self, "stop_words", _stop_words(self.stop_words))
        if self.stop_words is not None and self.unit in ("char", "char_wb"):
            raise SettingError(f"stop_words must be None for {self.unit!r}, which has no words.")
        if not isinstance(self.lowercase, bool | np.bool_):
            raise SettingError(f"lowercase must be True or False, not {self.lowercase!r}.")
        most = self.max_features
        if most is not None and not _is_count(most):
            raise SettingError(
                f"max_features must be None or an integer of at least 1, not {most!r}."
            )

    def split(self, text: str) -> list[str]:
        """Split a text into words and n-grams."""
        data, offsets, _ = self.encode(*encode_texts([text]))
        return self.splitter.split(data[offsets[0] : offsets[1]].tobytes())

    @cached_property
    def splitter(self) -> Splitter:
        """The kernel that splits encoded texts."""
        unit: Any = self.unit if self.unit in ("char", "char_wb") else "word"
        if self._makes_words:
            # A function's words are kept unchanged; e-mail is in lower case already.
            return Splitter("given", False, self.ngram_range, self.stop_words)
        return Splitter(unit, self.lowercase, self.ngram_range, self.stop_words)

    @property
    def _makes_words(self) -> bool:
        return callable(self.unit) or self.unit == "email"

    @property
    def takes_texts_as_they_are(self) -> bool:
        """Whether `encode` changes nothing."""
        return self.unit in ("word", "char", "char_wb")

    def encode(self, data: AnyArray, offsets: AnyArray, missing: BoolArray | None) -> Encoded:
        """Prepare texts for `splitter`: extract those of pages and messages, call functions."""
        if self.takes_texts_as_they_are:
            return data, offsets, missing
        texts = _decoded(data, offsets, missing)
        if self.unit == "html":
            from priory.text.messages import (
                html_text,  # large, and rarely needed
            )

            return encode_texts([None if text is None else html_text(text) for text in texts])
        words = [None if text is None else self._words(text) for text in texts]
        try:
            return encode_tokens(words)
        except TypeError as error:
            given = words[error.args[0]]
            raise InputError(
                f"The analyzer {self._name} must return a list of strings for a text, not "
                f"{given!r:.60}."
            ) from None

    def _words(self, text: str) -> list[str]:
        if self.unit == "email":
            from priory.text.messages import email_words

            return email_words(text, Splitter("word", self.lowercase).split)
        found = self.unit(text)  # type: ignore[operator]
        if isinstance(found, str) or not isinstance(found, Iterable):
            raise InputError(
                f"The analyzer {self._name} must return a list of strings for a text, not "
                f"{found!r:.60}."
            )
        return list(found)

    @property
    def _name(self) -> str:
        if isinstance(self.unit, LostFunction):
            return self.unit.name
        return str(getattr(self.unit, "__qualname__", self.unit))

    def join(self, other: Analyzer, column: str) -> Analyzer:
        """Merge with another analyzer, which must be equal."""
        if callable(self.unit) and callable(other.unit) and self._name == other._name:
            a, b = (self, other) if isinstance(other.unit, LostFunction) else (other, self)
            if replace(b, unit=a.unit) == a:
                return a
        if self != other:
            raise SchemaError(
                f"Column {column!r} was split by different analyzers, {self} and {other}. "
                "Statistics can be merged only if they count the same words."
            )
        return self

    def __str__(self) -> str:
        parts = [repr(self._name) if callable(self.unit) else repr(self.unit)]
        for name, default in (("ngram_range", (1, 1)), ("lowercase", True), ("max_features", None)):
            if getattr(self, name) != default:
                parts.append(f"{name}={getattr(self, name)!r}")
        if self.stop_words is not None:
            parts.append(f"{len(self.stop_words)} stop words")
        return f"Analyzer({', '.join(parts)})"

    def to_dict(self) -> dict[str, Any]:
        """Convert the options to plain JSON values; of a function only its name."""
        plain = {
            "unit": "function" if callable(self.unit) else self.unit,
            "ngram_range": list(self.ngram_range),
            "stop_words": None if self.stop_words is None else list(self.stop_words),
            "lowercase": self.lowercase,
            "max_features": self.max_features,
        }
        return plain | ({"function": self._name} if callable(self.unit) else {})

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Analyzer:
        """Restore an analyzer from plain JSON values."""
        unit = LostFunction(plain["function"]) if plain["unit"] == "function" else plain["unit"]
        return cls(
            unit,
            tuple(plain["ngram_range"]),
            plain["stop_words"],
            plain["lowercase"],
            plain["max_features"],
        )


@dataclass(frozen=True)
class LostFunction:
    """A placeholder for a function that is not stored with its words."""

    name: str

    def __call__(self, text: str) -> list[str]:
        """Refuse to split: the function is not available."""
        raise SchemaError(
            f"The analyzer of these words is the function {self.name!r}, which is not stored "
            "with them. Merge them into a model that has the function as its analyzer."
        )


def as_analyzer(given: Any) -> Analyzer:
    """Make an analyzer of a setting: an analyzer, or its unit.

    >>> as_analyzer("char") == Analyzer("char")
    True
    """
    return given if isinstance(given, Analyzer) else Analyzer(given)


def _ngram_range(given: Any) -> tuple[int, int]:
    pair = tuple(given) if isinstance(given, tuple | list) else (given,)
    if len(pair) != 2 or not all(map(_is_count, pair)) or pair[0] > pair[1]:
        raise SettingError(
            f"ngram_range must be two integers, the shortest and the longest, such as "
            f"(1, 2), not {given!r}."
        )
    return int(pair[0]), int(pair[1])


def _is_count(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) >= 1


def _stop_words(given: Any) -> tuple[str, ...] | None:
    if given is None:
        return None
    if isinstance(given, str):
        if given != "english":
            raise SettingError(
                f"stop_words must be None, 'english' or a list of words, not {given!r}."
            )
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        given = ENGLISH_STOP_WORDS
    words = list(given)
    wrong = [word for word in words if not isinstance(word, str)]
    if wrong:
        raise SettingError(f"stop_words must be strings, not {wrong[0]!r}.")
    return tuple(sorted(set(words)))


def _decoded(data: AnyArray, offsets: AnyArray, missing: BoolArray | None) -> list[str | None]:
    """Decode texts; invalid UTF-8 becomes replacement characters."""
    whole = np.ascontiguousarray(data).data
    ends = offsets.tolist()
    return [
        None if missing is not None and missing[i] else _string(bytes(whole[a:b]))
        for i, (a, b) in enumerate(pairwise(ends))
    ]


def _string(utf8: bytes) -> str:
    try:
        return utf8.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return utf8.decode("utf-8", "replace")
