"""What of a page is not seen: elements that a style hides, text in the colour of its background."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

__all__ = ["Looks", "looks_of"]

Looks = tuple[str, int, int, int]
"""How an element is hidden, what is behind it, the colour of its letters, and that of a body's."""

_Colour = tuple[int, int, int]

_DECLARATION = re.compile(r"([a-z-]++)\s*+:\s*+([^;]*+)")
_LENGTH = re.compile(r"(\d*\.?\d+|\d+)\s*(px|pt|em|rem|%|)")
_HEX = re.compile(r"#?([0-9a-f]{6}|[0-9a-f]{3})\b")
_RGB = re.compile(r"rgba?\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})")

_NAMED = {
    "white": "ffffff", "black": "000000", "red": "ff0000", "green": "008000", "blue": "0000ff",
    "yellow": "ffff00", "gray": "808080", "grey": "808080", "silver": "c0c0c0", "snow": "fffafa",
    "ivory": "fffff0", "whitesmoke": "f5f5f5", "ghostwhite": "f8f8ff", "navy": "000080",
}  # fmt: skip

_LEAST = {"px": 2.0, "pt": 2.0, "": 2.0, "em": 0.15, "rem": 0.15, "%": 15.0}
"""Letters smaller than this cannot be read."""

_LONGEST_STYLE, _LONGEST_COLOUR = 2000, 100

_BITS = 10
_UNKNOWN, _NOT_SET = -1, -2


def looks_of(attributes: Mapping[str, str]) -> Looks | None:
    """Tell what attributes do to the sight of an element; None for nothing.

    That is how it is hidden ("" if it is not), the colour behind it, that of its letters, and that
    if it is the body of a page. Colours are numbers of 30 bits; −1 is one that is not known, as of
    a picture, −2 that none is set.

    >>> looks_of({"style": "display:none"}), looks_of({"bgcolor": "#000001"}), looks_of({})
    (('display', -2, -2, -2), ('', 1, -2, -2), None)
    """
    style = _style(attributes.get("style", "")[:_LONGEST_STYLE])
    how = "attribute" if "hidden" in attributes else _hidden_by(style)
    behind = attributes.get("bgcolor") or style.get("background-color") or style.get("background")
    background = _number(behind)
    if "background" in attributes or "background-image" in style:
        background = _UNKNOWN  # a picture may have any colour
    letters, of_body = (
        _number(style.get("color") or attributes.get(name)) for name in ("color", "text")
    )
    found = (how, background, letters, of_body)
    return None if found == ("", _NOT_SET, _NOT_SET, _NOT_SET) else found


def _number(text: str | None) -> int:
    if not text:
        return _NOT_SET
    found = _colour(text[:_LONGEST_COLOUR])
    if found is None:
        return _UNKNOWN
    red, green, blue = found
    return (red << _BITS | green) << _BITS | blue


@lru_cache(4096)
def _style(text: str) -> Mapping[str, str]:
    return dict(_DECLARATION.findall(text.lower())) if text else {}


def _hidden_by(style: Mapping[str, str]) -> str:
    if not style:
        return ""
    if style.get("display", "").strip().startswith("none"):
        return "display"
    if style.get("visibility", "").strip().startswith(("hidden", "collapse")):
        return "visibility"
    for name in ("font-size", "opacity", "max-height"):
        found = _LENGTH.match(style.get(name, ""))
        if found is None:
            continue
        size = float(found[1])
        if name == "font-size" and size < _LEAST[found[2]]:
            return "size"
        if name == "opacity" and size < 0.05:
            return "opacity"
        if name == "max-height" and size == 0 and "hidden" in style.get("overflow", ""):
            return "size"
    return ""


@lru_cache(1000)
def _colour(text: str) -> _Colour | None:
    """Read a colour; None where it is none, or not known.

    >>> _colour("#FFF"), _colour("white url(a.png)"), _colour("rgb(1, 2, 3)")
    ((255, 255, 255), None, (1, 2, 3))
    """
    text = text.strip().lower()
    if "url" in text or "gradient" in text:
        return None
    text = _NAMED.get(text, text)
    found = _RGB.match(text)
    if found:
        return int(found[1]), int(found[2]), int(found[3])
    found = _HEX.match(text)
    if found is None:
        return None
    digits = found[1] if len(found[1]) == 6 else "".join(2 * digit for digit in found[1])
    return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:], 16)
