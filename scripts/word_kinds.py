"""Write src/priory/kernels/word_kinds.h: what each character is to the words around it.

    python scripts/word_kinds.py

Unicode's properties come from the package `regex`; the header names the versions. A test derives
the table anew and compares.
"""

from __future__ import annotations

from importlib.metadata import version
from itertools import groupby
from pathlib import Path

import regex

HEADER = Path(__file__).parents[1] / "src" / "priory" / "kernels" / "word_kinds.h"
CHARACTERS = "".join(map(chr, range(0x110000)))

# The first that fits, in the order of their numbers; what fits none is 0. Unicode's rules (UAX 29)
# join letters, digits and connectors to words, and leave letters of scripts without spaces apart.
KINDS = {
    # U+202F is a connector for Mongolian; in French it stands before ! and ?, outside of words.
    "WORD": r"[\p{WB=ALetter}\p{WB=Hebrew_Letter}\p{WB=Numeric}[\p{WB=ExtendNumLet}--\u202F]]",
    # Two vowel signs of Thai and Lao are letters to the words, and parts of a character to readers.
    "MARK": r"[\p{WB=Extend}\p{WB=ZWJ}[\p{WB=Other}&&\p{GCB=SpacingMark}]]",
    "FORMAT": r"\p{WB=Format}",
    "ALONE": r"[\p{WB=Katakana}[\p{WB=Other}&&[\p{L}\p{N}]--\p{GCB=SpacingMark}]]",
    "SYMBOL": r"[\p{P}\p{S}]",
}

TEXT = """\
/* What each character is to the words around it, by Unicode {unicode} (regex {regex}).
 * Written by scripts/word_kinds.py: not to be changed by hand. */
#ifndef PRIORY_WORD_KINDS_H
#define PRIORY_WORD_KINDS_H

#include <stdint.h>

#define WORD_UNICODE "{unicode}"
{defines}

/* 8·(first code point) + kind, of each stretch of one kind; the last one ends them. */
static const uint32_t word_kinds[] = {{
{rows}
}};

#endif
"""


def kinds() -> list[int]:
    """List the kind of every code point, as a number."""
    found = [0] * len(CHARACTERS)
    for number, pattern in reversed([*enumerate(KINDS.values(), start=1)]):
        for run in regex.finditer(f"(?:{pattern})+", CHARACTERS, flags=regex.V1):
            found[run.start() : run.end()] = [number] * (run.end() - run.start())
    return found


def unicode_version() -> str:
    """Find the version of Unicode, by a character that was new in each."""
    new = {"17.0": "\U00016ea0", "16.0": "\U000105c0", "15.1": "\u31ef", "15.0": "\u0cf3"}
    return next(v for v, c in new.items() if regex.match(r"\P{Cn}", c))


def header() -> str:
    """Write the header."""
    stretches = [
        8 * next(group)[0] + kind
        for kind, group in groupby(enumerate(kinds()), key=lambda pair: pair[1])
    ]
    numbers = [f"0x{number:X}" for number in (*stretches, 8 * len(CHARACTERS))]
    rows = [", ".join(numbers[i : i + 12]) for i in range(0, len(numbers), 12)]
    defines = [f"#define KIND_{name} {i}" for i, name in enumerate(KINDS, start=1)]
    return TEXT.format(
        unicode=unicode_version(),
        regex=version("regex"),
        defines="\n".join(["#define KIND_OTHER 0", *defines]),
        rows=",\n".join(f"    {row}" for row in rows),
    )


if __name__ == "__main__":
    HEADER.write_text(header(), encoding="utf-8")
