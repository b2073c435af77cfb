from collections.abc import Callable
from re import Pattern

FLAGS: dict[str, int]

Looks = tuple[str, int, int, int]

def read_page(
    html: str,
    tags: dict[str, int],
    closes: dict[str, Pattern[str]],
    attributes: Callable[[str], tuple[Looks | None, list[str], list[str]]],
    unescape: Callable[[str], str],
) -> tuple[list[str], list[str], list[str]]: ...
def read_attributes(tag: str, names: frozenset[str]) -> list[tuple[str, str]]: ...
