"""What the library says of its arguments, in the words of the shell's options."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from priory.base.errors import PrioryError

__all__ = ["in_options", "speaking_of_options"]

NAMES = (
    "attach|class_prior|delimiter|encoding|families|max_classes|max_parents|missing|na_values|pairs|select|"
    "smoothing|structure|target|text|unseen|weights"
)
"""The arguments of `priory.train` that are options of `priory train`."""

PHRASES = {"keep_sample=True": "--keep-sample", "recalibrate(X, y)": "priory train on all rows"}

BY_COLUMN = re.compile(rf"""\b({NAMES})=\{{'([^']+)': '([^']+)'\}}""")
VALUE = re.compile(rf"""\b({NAMES})=(?:'([\w-]+)'|(\w+))""")
BARE = re.compile(rf"\b(\w+_\w+)\b|(?:^|(?<=; ))({NAMES})(?= (?:must|names|of column)\b)")


def in_options(text: str) -> str:
    """Return a message with arguments of Python spelled as options of the shell.

    >>> in_options("weights must be one of these. Declare it: families={'zip': 'categorical'}.")
    '--weights must be one of these. Declare it: --families zip=categorical.'
    >>> in_options("structure='tan' has its pairs; pairs=None. Then name it in na_values.")
    '--structure tan has its pairs; --pairs none. Then name it in --na-values.'
    """
    for python, shell in PHRASES.items():
        text = text.replace(python, shell)
    text = BY_COLUMN.sub(lambda m: f"{_option(m[1])} {m[2]}={m[3]}", text)
    text = VALUE.sub(lambda m: f"{_option(m[1])} {m[2] or m[3].replace('None', 'none')}", text)
    return BARE.sub(_bare, text)


@contextmanager
def speaking_of_options() -> Iterator[None]:
    """Let what fails inside speak of options."""
    try:
        yield
    except PrioryError as error:
        raise type(error)(in_options(str(error))) from None


def _bare(found: re.Match[str]) -> str:
    name = found[1] or found[2]
    return _option(name) if name in NAMES.split("|") else found[0]


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")
