"""A text with its words shaded by what each says of a class."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from html import escape

import numpy as np

from priory.base.html import Html
from priory.base.typing import FloatArray
from priory.families.described import FactorPart
from priory.model.log_odds import log_odds
from priory.text.analyzer import Analyzer

__all__ = ["shade", "shaded_text", "spans_of_words"]

Span = tuple[int, int, float, str]
"""Where a stretch of text begins and ends, what it says, and what is told of it."""

LONGEST = 20_000
"""So many characters of a text are shaded."""

GIVEN = re.compile(r"\S+")


def shaded_text(
    text: str,
    parts: Mapping[str, FactorPart],
    analyzer: Analyzer,
    k: int,
    classes: tuple[object, ...],
    weight: float = 1.0,
) -> Html:
    """Shade the words of a text: blue for those that speak for class k, orange against it.

    The pointer on a word shows how far it moves the odds, and how often it was counted.
    """
    said = {name: weight * float(log_odds(part.log_p)[k]) for name, part in parts.items()}
    told = {name: _told(name, said[name], parts[name], k, classes) for name in said}
    whole, text = len(text), text[:LONGEST]
    spans = spans_of_words(text, said, told, analyzer)
    most = max((abs(span[2]) for span in spans if np.isfinite(span[2])), default=0.0)
    pieces, at = [], 0
    for start, stop, value, title in spans:
        pieces.append(escape(text[at:start]))
        pieces.append(
            f'<span style="{shade(value, most)}" title="{escape(title)}">'
            f"{escape(text[start:stop])}</span>"
        )
        at = stop
    pieces.append(escape(text[at:]))
    more = f" … ({whole - LONGEST:,} more characters)" if whole > LONGEST else ""
    return Html(
        '<p style="white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.7; '
        f'max-width: 60em">{"".join(pieces)}{more}</p>'
    )


def shade(value: float, most: float) -> str:
    """Write the style of a background: the more is said, the stronger.

    >>> shade(1.0, 2.0), shade(-2.0, 2.0), shade(0.0, 0.0)
    ('background: rgba(0, 114, 178, 0.30)', 'background: rgba(213, 94, 0, 0.60)', '')
    """
    if not value or not most:
        return ""
    strength = 0.6 * (min(abs(value) / most, 1.0) if np.isfinite(value) else 1.0)
    colour = "0, 114, 178" if value > 0 else "213, 94, 0"
    return f"background: rgba({colour}, {strength:.2f})"


def spans_of_words(
    text: str, said: Mapping[str, float], told: Mapping[str, str], analyzer: Analyzer
) -> list[Span]:
    """Find the words of a text that say something, in their order.

    What an n-gram says is shared evenly by its words, and by all the places where it is.
    """
    if analyzer.unit in ("char", "char_wb"):
        return _character_spans(text, said, told, analyzer)
    words = [word for word in _places_of_words(text, analyzer) if word[2] not in analyzer.stops]
    places: dict[str, list[range]] = defaultdict(list)
    shortest, longest = analyzer.ngram_range
    glued = [w[3] and i > 0 and words[i - 1][1] == w[0] for i, w in enumerate(words)]
    for last in range(len(words)):
        gram = ""
        for n in range(1, min(max(longest, 1 + glued[last]), last + 1) + 1):
            first = last + 1 - n
            between = "" if n == 1 or glued[first + 1] else " "
            gram = f"{words[first][2]}{between}{gram}"
            if n >= shortest and gram in said:
                places[gram].append(range(first, last + 1))
    values, titles = np.zeros(len(words)), [[] for _ in words]  # type: ignore[var-annotated]
    for gram, where in places.items():
        share = said[gram] / sum(map(len, where))
        for i in (i for window in where for i in window):
            values[i] += share
            titles[i].append(told[gram])
    return [
        (start, stop, float(values[i]), "\n".join(titles[i]))
        for i, (start, stop, _, _) in enumerate(words)
        if titles[i]
    ]


def _places_of_words(text: str, analyzer: Analyzer) -> list[tuple[int, int, str, bool]]:
    """Find where each word of a text begins and ends, and whether it is glued to the one before.

    Those that are not in the text as they were counted are left out.
    """
    found: list[tuple[int, int, str, bool]] = []
    if callable(analyzer.unit) or analyzer.unit == "email":
        return [(*match.span(), match[0], False) for match in GIVEN.finditer(text)]
    searched, at = _as_long(text, analyzer), 0
    for word in analyzer.plain_words(text):
        # Two characters of a script without spaces are a word after the second of them.
        if len(found) > 1 and found[-2][1] == found[-1][0] and word == found[-2][2] + found[-1][2]:
            found[-1] = (*found[-1][:3], True)
            continue
        start = searched.find(word, at)
        if start >= 0:
            at = start + len(word)
            found.append((start, at, word, False))
    return found


def _as_long(text: str, analyzer: Analyzer) -> str:
    """Write a text as its words are counted, each character by itself."""
    changed = map(analyzer.prepare, text)
    return "".join(c if len(new) != 1 else new for c, new in zip(text, changed, strict=True))


def _character_spans(
    text: str, said: Mapping[str, float], told: Mapping[str, str], analyzer: Analyzer
) -> list[Span]:
    """Find stretches of words, each with all that its character n-grams say."""
    searched = _as_long(text, analyzer)
    values = np.zeros(len(text))
    for gram, value in said.items():
        bare = gram.strip()
        at = [found.start() for found in re.finditer(f"(?={re.escape(bare)})", searched)]
        for start in at if bare else ():
            values[start : start + len(bare)] += value / (len(at) * len(bare))
    return [
        (*found.span(), float(_sum(values[slice(*found.span())])), "")
        for found in GIVEN.finditer(text)
        if values[slice(*found.span())].any()
    ]


def _sum(values: FloatArray) -> float:
    with np.errstate(invalid="ignore"):
        return float(np.nan_to_num(values.sum(), posinf=np.inf, neginf=-np.inf))


def _told(name: str, value: float, part: FactorPart, k: int, classes: tuple[object, ...]) -> str:
    """Write what a word does to the odds of a class, and its counts."""
    with np.errstate(over="ignore"):
        factor = f"{float(np.exp(value)):.3g}"
    text = f"{name}: × {factor} for {classes[k]}"
    if part.support is None:
        return text
    counts = (f"{label} {part.support.shown(j)}" for j, label in enumerate(classes[:8]))
    return f"{text} ({', '.join(counts)})"
