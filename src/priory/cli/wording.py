"""Messages about arguments of Python, rewritten as options of the shell."""

from __future__ import annotations

import ast
import inspect
import re
import shlex
from functools import cache

__all__ = ["in_options", "number_of_rows"]

OF_DECISIONS = ("costs", "unsure", "unsure_cost", "threshold", "positive", "reasons")
"""Options of predict and export that have the names of arguments."""

OBJECTS = re.compile(r"a prior, smoothing=\{[^}]*\(\)\}, ")
"""Advice that the shell cannot follow: it has no prior with parameters of its own."""

LISTED = re.compile(r"""\b(na_values)=\[((?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|, )*)\]""")
"""A list of strings as Python writes it, whatever they hold."""


def number_of_rows(n: int) -> str:
    """Write a number of rows.

    >>> number_of_rows(1), number_of_rows(1200)
    ('1 row', '1,200 rows')
    """
    return "1 row" if n == 1 else f"{n:,} rows"


def in_options(text: str) -> str:
    """Spell the arguments of Python in a message as options of the shell.

    >>> in_options("weights must be one of these. Declare it: families={'zip': 'categorical'}.")
    '--weights must be one of these. Declare it: --families zip=categorical.'
    >>> in_options("If they are gaps: na_values=['n. a.', 'x']. Else decimal=','.")
    "If they are gaps: --na-values 'n. a.' --na-values x. Else --decimal ','."
    >>> in_options("structure='tan' has its pairs; pairs=None. Then name it in na_values.")
    '--structure tan has its pairs; --pairs none. Then name it in --na-values.'
    >>> in_options("threshold must be between 0 and 1, not 3.0.")
    '--threshold must be between 0 and 1, not 3.0.'
    """
    by_column, value, bare = _patterns()
    text = text.replace("recalibrate(X, y)", "priory train on all rows")
    text = OBJECTS.sub("", text)
    text = LISTED.sub(_repeated, text)
    text = by_column.sub(lambda m: f"{_option(m[1])} {m[2]}={m[3]}", text)
    text = value.sub(lambda m: f"{_option(m[1])}{_value(m[2] or m[3] or m[4] or '')}", text)
    return bare.sub(lambda m: _option(m[0]), text)


def _repeated(found: re.Match[str]) -> str:
    values = ast.literal_eval(f"[{found[2]}]")
    return " ".join(f"{_option(found[1])} {shlex.quote(value)}" for value in values)


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Compile patterns of arguments with values by column, with one value, and alone."""
    from priory.cli.serving import serve  # which import this module
    from priory.cli.training import train

    both = {**inspect.signature(train).parameters, **inspect.signature(serve).parameters}
    options = [name for name in both if name not in ("data", "models")]
    options += [name for name in OF_DECISIONS if name not in options]
    names, of_words = "|".join(options), "|".join(name for name in options if "_" in name)
    return (
        re.compile(rf"""\b({names})=\{{'([^']+)': '([^']+)'\}}"""),
        re.compile(rf"""\b({names})=(?:'([^']*)'|"([^"]*)"|(\w+))"""),
        re.compile(
            rf"\b(?:{of_words})\b|(?:^|(?<=; ))(?:{names})(?= (?:must|names|is|of column)\b)"
        ),
    )


def _value(text: str) -> str:
    """Spell a value; an option that is True has none, and a mark stands in quotes."""
    if not any(map(str.isalnum, text)):
        return f' "{text}"' if "'" in text else f" '{text}'"
    return "" if text == "True" else " none" if text == "None" else f" {shlex.quote(text)}"


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")
