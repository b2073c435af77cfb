"""What of a page is not seen: elements that a style hides, text in the colour of its background."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

__all__ = ["Sight"]

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

_NEAR = 36
"""Colours whose red, green and blue differ by less in total look the same."""

_CLOSED_BY_ITSELF = frozenset(["p", "li", "td", "th", "tr", "dd", "dt", "option"])
_VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"]
)
_MOST_OPEN = 200
_LONGEST_STYLE, _LONGEST_COLOUR = 2000, 100

_Colour = tuple[int, int, int]
WHITE: _Colour = (255, 255, 255)


class Sight:
    """Follow the tags of a page, and tell whether text can be seen where they have led.

    >>> sight = Sight()
    >>> sight.open("div", {"style": "display:none"})
    >>> sight.hides(), sight.close("div"), sight.hides(), sight.found
    (True, None, False, {'display': None})
    """

    def __init__(self) -> None:
        self.found: dict[str, None] = {}  # how text was hidden, in order
        self._hider: str | None = None
        self._depth = 0
        self._how = ""
        # Elements that set colours: name, how many of this name are open, background, colour.
        self._colours: list[tuple[str, _Colour | None, _Colour | None]] = []
        self._same: list[int] = []
        self.is_at_work = False
        """Whether tags without attributes matter."""

    def hides(self) -> bool:
        """Tell whether text is hidden here, and note how."""
        if self._hider is not None:
            self.found[self._how] = None
            return True
        if self._colours:
            _, background, colour = self._colours[-1]
            if colour is not None and background is not None and _near(colour, background):
                self.found["colour"] = None
                return True
        return False

    def open(self, name: str, attributes: Mapping[str, str]) -> None:
        """Pass the start of an element."""
        if name in _VOID:
            return
        if self._hider is not None:
            if name != self._hider:
                return
            if name not in _CLOSED_BY_ITSELF:
                self._depth += 1
                return
            self._hider = None  # the next one of its kind ends it
            self.is_at_work = bool(self._colours)
        if attributes:
            style = _style(attributes.get("style", "")[:_LONGEST_STYLE])
            how = "attribute" if "hidden" in attributes else _hidden_by(style)
            if how:
                self._hider, self._depth, self._how, self.is_at_work = name, 1, how, True
                return
            if self._sets_colours(name, attributes, style):
                return
        if self._colours and self._colours[-1][0] == name:
            self._same[-1] += 1

    def close(self, name: str) -> None:
        """Pass the end of an element."""
        if self._hider is not None:
            if name == self._hider:
                self._depth -= 1
                if self._depth <= 0:
                    self._hider, self.is_at_work = None, bool(self._colours)
            return
        if self._colours and self._colours[-1][0] == name:
            self._same[-1] -= 1
            if self._same[-1] <= 0:
                self._colours.pop()
                self._same.pop()
                self.is_at_work = bool(self._colours)

    def _sets_colours(
        self, name: str, attributes: Mapping[str, str], style: Mapping[str, str]
    ) -> bool:
        behind = (
            attributes.get("bgcolor") or style.get("background-color") or style.get("background")
        )
        front = style.get("color") or attributes.get("text" if name == "body" else "color")
        picture = "background" in attributes or "background-image" in style
        if not (behind or front or picture) or len(self._colours) >= _MOST_OPEN:
            return False
        _, background, colour = self._colours[-1] if self._colours else ("", WHITE, None)
        if picture or behind:  # behind text may be a picture of any colour
            background = _colour(behind[:_LONGEST_COLOUR]) if behind and not picture else None
        colour = _colour(front[:_LONGEST_COLOUR]) if front else colour
        self._colours.append((name, background, colour))
        self.is_at_work = True
        self._same.append(1)
        return True


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


def _near(a: _Colour, b: _Colour) -> bool:
    return abs(a[0] - b[0]) + abs(a[1] - b[1]) + abs(a[2] - b[2]) < _NEAR
