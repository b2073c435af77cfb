"""HTML and SVG that cannot be broken out of: what is not made here is escaped here."""

from __future__ import annotations

from functools import cache
from html import escape
from importlib import resources
from typing import Any

from priory.base.formatting import printable
from priory.base.html import Html

__all__ = ["Html", "asset", "h", "joined", "raw"]

EMPTY = frozenset(["br", "col", "hr", "img", "input", "link", "meta"])
SHAPES = frozenset(["circle", "line", "path", "rect", "use"])


def h(tag: str, *children: Any, **attributes: Any) -> Html:
    """Make an element; children and the values of attributes are escaped unless they are `Html`.

    A trailing underscore of an attribute is left out, another one becomes a hyphen; True gives an
    empty value, None and False none at all. Marks that turn the direction of writing
    are shown, not obeyed.

    >>> h("td", "a < b", class_="n", data_x='"', hidden=True, id=None)
    '<td class="n" data-x="&quot;" hidden="">a &lt; b</td>'
    """
    parts = [tag]
    for name, value in attributes.items():
        if value is None or value is False:
            continue
        name = name.rstrip("_").replace("_", "-")
        parts.append(f'{name}="{"" if value is True else _text(value)}"')
    opened = " ".join(parts)
    if tag in EMPTY:
        return Html(f"<{opened}>")
    inside = joined(*children)
    if tag in SHAPES and not inside:
        return Html(f"<{opened}/>")
    return Html(f"<{opened}>{inside}</{tag}>")


def joined(*children: Any) -> Html:
    """Join pieces; lists are flattened, None is nothing."""
    found = []
    for child in children:
        if child is None:
            continue
        if isinstance(child, Html):
            found.append(str(child))
        elif isinstance(child, list | tuple):
            found.append(str(joined(*child)))
        else:
            found.append(_text(child))
    return Html("".join(found))


def raw(text: str) -> Html:
    """Take markup of our own as it is."""
    return Html(text)


@cache
def asset(name: str) -> str:
    """Read a style sheet or a script that comes with the package."""
    return (resources.files("priory.reporting") / name).read_text("utf-8")


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.7g}"
    return escape(printable(str(value)))
