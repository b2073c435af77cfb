"""The analyzer: how texts are split into words, stored with the statistics."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from priory.base.errors import InputError, SchemaError, SettingError
from priory.base.typing import AnyArray, BoolArray
from priory.kernels.text import Splitter
from priory.kernels.utf8 import encode_texts, encode_tokens
from priory.text.normalising import nfkc, strip_accents

__all__ = ["Analyzer", "as_analyzer", "register_analyzer"]

UNITS = ("word", "sklearn", "char", "char_wb", "html", "email")

SKLEARN_PATTERN = r"(?u)\b\w\w+\b"
"""scikit-learn's words, as a pattern."""

Encoded = tuple[AnyArray, AnyArray, "BoolArray | None"]
"""UTF-8 bytes, the offsets of the texts in them, and which texts are missing."""


@dataclass(frozen=True)
class Analyzer:
    r"""Split texts into words, of every script.

    Words are parted where Unicode's word boundaries are (UAX 29), and by all punctuation; marks
    belong to their letters. Scripts without spaces (Chinese, Japanese, Thai, Khmer, Lao, Burmese)
    give each character, with its marks, and each two that are side by side.

    Parameters
    ----------
    unit : "word", "sklearn", "char", "char_wb", "html", "email" or a function
        "sklearn" takes the words of scikit-learn's CountVectorizer, `\b\w\w+\b`; "char" and
        "char_wb" take character n-grams, across words or within them; "html" the words of the
        visible text of a page; "email" those of a message, with tagged headers (`subject:free`)
        and whole addresses and links. A function returns the words of a text.
    ngram_range : tuple of two integers
        The shortest and the longest n-grams of words, or of characters.
    stop_words : None, "english" or a list of words
        Words to ignore, in any case if texts are converted to lower case; with "sklearn" as given.
    lowercase : bool
        Whether to convert texts to lower case first.
    max_features : int or None
        The size of the vocabulary: only about so many words, the most frequent, are kept, in
        bounded memory.
    strip_accents : None, "unicode" or "ascii"
        Whether to remove accents first, of any letters or with whatever is not ASCII.
    normalize : None or "nfkc"
        Whether to convert to Unicode's form NFKC first, which makes fullwidth and other forms of
        letters alike, remove characters that no reader sees, and fold the case.
    token_pattern : None or str
        A regular expression whose matches are the words, or its group, if it has one.
    symbols : bool
        Whether symbols and punctuation are words too: `$$$`, `!`; more than three in a row are
        three.

    >>> Analyzer(ngram_range=(1, 2)).split("To be, or not")
    ['to', 'be', 'to be', 'or', 'be or', 'not', 'or not']
    >>> Analyzer().split("हिन्दी l'été 日本語"), Analyzer(symbols=True).split("FREE!!!")
    (['हिन्दी', 'l', 'été', '日', '本', '日本', '語', '本語'], ['free', '!!!'])
    """

    unit: str | Callable[[str], Iterable[str]] = "word"
    ngram_range: tuple[int, int] = (1, 1)
    stop_words: tuple[str, ...] | None = None
    lowercase: bool = True
    max_features: int | None = None
    strip_accents: str | None = None
    normalize: str | None = None
    token_pattern: str | None = None
    symbols: bool = False

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
        for name in ("lowercase", "symbols"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise SettingError(f"{name} must be True or False, not {getattr(self, name)!r}.")
        most = self.max_features
        if most is not None and not _is_count(most):
            raise SettingError(
                f"max_features must be None or an integer of at least 1, not {most!r}."
            )
        self._check_preparing()
        if self.stop_words is not None and not callable(self.unit) and self.unit != "sklearn":
            alike = map(self.prepare, self.stop_words)  # as the words are that they are to match
            object.__setattr__(self, "stop_words", _stop_words(alike))

    def _check_preparing(self) -> None:
        for name, allowed in (("strip_accents", ("unicode", "ascii")), ("normalize", ("nfkc",))):
            if getattr(self, name) not in (None, *allowed):
                raise SettingError(
                    f"{name} must be None or one of {', '.join(map(repr, allowed))}, not "
                    f"{getattr(self, name)!r}."
                )
        if self.token_pattern is not None:
            _ = self._pattern
        given = [name for name in PREPARING if getattr(self, name)]
        if given and callable(self.unit):
            raise SettingError(f"{given[0]} must be left out: the words are a function's.")
        wordless = self.unit in ("char", "char_wb")
        if self.token_pattern is not None and (wordless or self.unit == "sklearn"):
            raise SettingError(f"token_pattern must be None for {self.unit!r}, which has its own.")
        if self.symbols and (self.token_pattern is not None or wordless or self.unit == "sklearn"):
            raise SettingError(
                "symbols must be False with a token_pattern, and for 'sklearn', 'char' and "
                "'char_wb'."
            )

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        given: Any = self.token_pattern
        try:
            pattern: re.Pattern[str] = re.compile(given)
            pattern.findall("")  # refuses bytes
        except (re.error, TypeError) as error:
            raise SettingError(
                f"token_pattern must be a regular expression, not {given!r}: {error}."
            ) from None
        if pattern.groups > 1:
            raise SettingError(
                f"token_pattern must have one group at most, and {self.token_pattern!r} has "
                f"{pattern.groups}: write the others as (?:...)."
            )
        return pattern

    def split(self, text: str) -> list[str]:
        """Split a text into words and n-grams."""
        data, offsets, _ = self.encode(*encode_texts([text]))
        return self.splitter.split(data[offsets[0] : offsets[1]].tobytes())

    @cached_property
    def splitter(self) -> Splitter:
        """The kernel that splits encoded texts."""
        unit: Any = self.unit if self.unit in ("sklearn", "char", "char_wb") else "word"
        if self._makes_words:
            # A function's words are kept unchanged; e-mail is in lower case already.
            return Splitter("given", False, self.ngram_range, self.stop_words)
        lower = self.lowercase and not self._is_prepared
        return Splitter(unit, lower, self.ngram_range, self.stop_words, self.symbols)

    @cached_property
    def stops(self) -> frozenset[str]:
        """The stop words, to look them up."""
        return frozenset(self.stop_words or ())

    @property
    def _makes_words(self) -> bool:
        return callable(self.unit) or self.unit == "email" or self.token_pattern is not None

    @cached_property
    def _is_prepared(self) -> bool:
        """Whether texts are changed before they are split, their case with them."""
        return any(getattr(self, name) is not None for name in PREPARING[:3])

    @property
    def takes_texts_as_they_are(self) -> bool:
        """Whether `encode` changes nothing."""
        return self.unit in ("word", "sklearn", "char", "char_wb") and not self._is_prepared

    def prepare(self, text: str) -> str:
        """Convert a text as asked: case, forms, accents."""
        if self.normalize is not None:
            text = nfkc(text, self.lowercase)
        elif self.lowercase:
            text = text.lower()
        return text if self.strip_accents is None else strip_accents(text, self.strip_accents)

    def plain_words(self, text: str) -> list[str]:
        """Split a text that is neither a page nor a message into words, without n-grams."""
        if self._is_prepared:
            text = self.prepare(text)
            if self.token_pattern is not None:
                return self._pattern.findall(text)
        return self._plain_splitter.split(text)

    @cached_property
    def _plain_splitter(self) -> Splitter:
        unit: Any = "sklearn" if self.unit == "sklearn" else "word"
        lower = self.lowercase and not self._is_prepared
        return Splitter(unit, lower, symbols=self.symbols)

    def encode(self, data: AnyArray, offsets: AnyArray, missing: BoolArray | None) -> Encoded:
        """Prepare texts for `splitter`: extract those of pages and messages, call functions."""
        if self.takes_texts_as_they_are:
            return data, offsets, missing
        texts = _decoded(data, offsets, missing)
        if self.unit == "html":
            from priory.text.markup import html_text  # large, and rarely needed

            texts = [None if text is None else html_text(text) for text in texts]
        if not self._makes_words:
            if self._is_prepared:
                texts = [None if text is None else self.prepare(text) for text in texts]
            return encode_texts(texts)
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

            return email_words(text, self.plain_words)
        if not callable(self.unit):
            return self.plain_words(text)
        found = self.unit(text)
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
        return _function_name(self.unit)

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
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name not in ("unit", "stop_words") and value != field.default:
                parts.append(f"{field.name}={value!r}")
        if self.stop_words is not None:
            parts.append(f"{len(self.stop_words)} stop words")
        return f"Analyzer({', '.join(parts)})"

    def to_dict(self) -> dict[str, Any]:
        """Convert the options to plain JSON values; of a function only its name."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        plain["ngram_range"] = list(self.ngram_range)
        plain["stop_words"] = None if self.stop_words is None else list(self.stop_words)
        if callable(self.unit):
            plain |= {"unit": "function", "function": self._name}
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Analyzer:
        """Restore an analyzer from plain JSON values; a function must be registered."""
        options = {field.name: plain[field.name] for field in fields(cls) if field.name in plain}
        if plain["unit"] == "function":
            name = plain["function"]
            options["unit"] = REGISTERED.get(name) or LostFunction(name)
        elif "symbols" not in plain:  # a file of the time when all words were scikit-learn's
            if plain["unit"] == "word":
                options["unit"] = "sklearn"
            elif plain["unit"] in ("html", "email"):
                options["token_pattern"] = SKLEARN_PATTERN
        return cls(**options)


PREPARING = ("strip_accents", "normalize", "token_pattern", "symbols")
MOST_TOGETHER = 255
"""So many words or characters an n-gram may have."""

REGISTERED: dict[str, Callable[[str], Iterable[str]]] = {}
Function = TypeVar("Function", bound=Callable[[str], Iterable[str]])


def register_analyzer(function: Function) -> Function:
    """Let models whose analyzer is a function find it again when they are loaded.

    A model file holds the function's name, never its code. What it may name is what the program
    has registered; so this decorator belongs to the function's definition.

    >>> @register_analyzer
    ... def halves(text):
    ...     return [text[: len(text) // 2], text[len(text) // 2 :]]
    >>> Analyzer.from_dict(Analyzer(halves).to_dict()).split("abcd")
    ['ab', 'cd']
    """
    if not callable(function):
        raise SettingError(f"An analyzer must be a function, not {function!r:.60}.")
    name = _function_name(function)
    if "<lambda>" in name:
        raise SettingError(f"An analyzer must have a name of its own to be registered, not {name}.")
    REGISTERED[name] = function
    return function


def _function_name(function: Any) -> str:
    name = str(getattr(function, "__qualname__", function))
    module = getattr(function, "__module__", None)
    return f"{module}.{name}" if isinstance(module, str) and module != "builtins" else name


@dataclass(frozen=True)
class LostFunction:
    """A placeholder for a function that is not stored with its words."""

    name: str

    def __call__(self, text: str) -> list[str]:
        """Refuse to split: the function is not available."""
        raise SchemaError(
            f"The analyzer of these words is the function {self.name!r}, which is not stored "
            "with them. Register it before the model is loaded (priory.text.register_analyzer), or "
            "merge them into a model that has the function as its analyzer."
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
    if pair[1] > MOST_TOGETHER:
        raise SettingError(f"ngram_range must be at most {MOST_TOGETHER}, not {given!r}.")
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
    if not isinstance(given, Iterable):
        raise SettingError(f"stop_words must be None, 'english' or a list of words, not {given!r}.")
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
