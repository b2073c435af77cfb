"""Text to numbers, dates and booleans, column by column, and what a column of text holds.

Arrow converts whole columns. Only where it refuses one are its values looked at: gap words are
missing, and what then does not fit is told, with its row.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from priory.data.arrow import arrow_nulls
from priory.data.numerals import parse_date
from priory.sources.base import Form, Misread, Reading, Unread

__all__ = [
    "FALSE",
    "TRUE",
    "are_codes",
    "arrow_types",
    "as_strings",
    "cast",
    "find_forms",
    "spellings",
    "strings_of",
    "without_gaps",
]

TRUE, FALSE = ("true", "True", "TRUE"), ("false", "False", "FALSE")
PATTERNS = {
    Form.INTEGER: r"^-?\d{1,18}$",
    Form.NUMBER: r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$|^[+-]?(?i:inf|infinity)$",
    Form.BOOLEAN: r"^(?i:true|false)$",
}
GROUPED = re.compile(r"[+-]?[\d.,' \u00a0\u202f]*\d([eE][+-]?\d+)?", re.ASCII)
"""What may be a number in some notation."""
THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?", re.ASCII)
WHOLE = re.compile(r"\d+", re.ASCII)
MOSTLY = 0.5
"""A column is told of if more of its values than this fit a form."""
FEW = 5
"""So many different values that do not fit may be meant as gaps."""


def cast(texts: Any, form: Form, reading: Reading) -> tuple[Any, Misread | None]:
    """Convert a column of strings to a form; what does not fit is missing, and told.

    >>> import pyarrow as pa
    >>> cast(pa.array([" 7", "NA", "", "seven"]), Form.NUMBER, Reading())[1]
    Misread(rows=[3], values=['seven'])
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = without_gaps(_one_array(texts), reading)
    if form in (Form.TEXT, Form.NATURAL):
        return texts, None
    texts = pc.utf8_trim_whitespace(texts)
    plain = _plain_numbers(texts, reading) if form in (Form.INTEGER, Form.NUMBER) else texts
    try:
        return _converted(plain, form), None
    except pa.ArrowInvalid:
        pass
    if form is Form.DATE:
        found = _parsed_dates(texts)
    else:
        fits = pc.match_substring_regex(plain, PATTERNS[form])
        found = _converted(pc.if_else(fits, plain, None), form)
    odd = np.flatnonzero(arrow_nulls(found) & ~arrow_nulls(texts))
    words, values = reading.gap_words, texts.take(odd).to_pylist()
    if form is Form.INTEGER and any(text.lower() not in words for text in values):
        return cast(texts, Form.NUMBER, reading)  # fractions among integers are no fault
    both = zip(odd.tolist(), values, strict=True)
    left = [(row, text) for row, text in both if text.lower() not in words]
    rows, values = zip(*left, strict=True) if left else ((), ())
    return found, Misread(list(rows), list(values)) if left else None


def arrow_types() -> dict[Form, Any]:
    """List the type of Arrow for each form."""
    import pyarrow as pa

    return {
        Form.INTEGER: pa.int64(),
        Form.NUMBER: pa.float64(),
        Form.BOOLEAN: pa.bool_(),
        Form.DATE: pa.timestamp("us"),
        Form.TEXT: pa.string(),
    }


def without_gaps(texts: Any, reading: Reading) -> Any:
    """Make empty strings, and those that the user says are gaps, missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not reading.na_values:
        return _without_empty(texts)
    gaps = pa.array(["", *reading.na_values])
    is_gap = pc.is_in(pc.utf8_trim_whitespace(texts), value_set=gaps)
    return pc.if_else(is_gap, None, texts) if pc.any(is_gap).as_py() else texts


def _without_empty(texts: Any) -> Any:
    """Make empty strings missing, which takes a bit for each string, and no copy of them."""
    import pyarrow as pa

    if isinstance(texts, pa.ChunkedArray):
        return pa.chunked_array([_without_empty(chunk) for chunk in texts.chunks], texts.type)
    if not len(texts):
        return texts
    _, ends, characters = texts.buffers()
    own = np.frombuffer(ends, dtype=np.int32)[texts.offset : texts.offset + len(texts) + 1]
    is_empty = own[1:] == own[:-1]
    if not is_empty.any():
        return texts
    there = np.packbits(~(is_empty | arrow_nulls(texts)), bitorder="little")
    buffers = [pa.py_buffer(there), pa.py_buffer(own), characters]
    return pa.Array.from_buffers(texts.type, len(texts), buffers)


def strings_of(column: Any) -> Any | None:
    """Give a column of a typed table as an array of strings, if it holds strings; else None."""
    import pyarrow as pa

    if type(column).__module__.partition(".")[0] == "pandas":
        column = column.tolist() if str(column.dtype) in ("object", "str", "string") else None
    elif isinstance(column, np.ndarray):
        column = column.tolist() if column.dtype.kind in "OUT" else None
    elif not isinstance(column, list | tuple | pa.Array | pa.ChunkedArray):
        column = pa.chunked_array(column) if hasattr(column, "__arrow_c_stream__") else None
    if isinstance(column, list | tuple):
        if not any(isinstance(value, str) for value in column):
            return None
        return as_strings(column)
    if column is None:
        return None
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    is_string = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return column.cast(pa.string()) if is_string or kind == pa.string_view() else None


def as_strings(values: Sequence[Any]) -> Any:
    """Write values of any type as an array of strings.

    >>> as_strings([1, 2.5, True, "x", None]).to_pylist()
    ['1', '2.5', 'true', 'x', None]
    """
    import pyarrow as pa

    return pa.array([_text(value) for value in values], pa.string())


def find_forms(
    columns: Mapping[str, Any], reading: Reading, strings: Sequence[str] = ()
) -> tuple[dict[str, Form], list[Unread]]:
    """Find what each column of strings holds, and which hold something else in a few rows.

    Columns of `strings` came as strings among typed values: they are dates or text.
    """
    forms: dict[str, Form] = {}
    unread: list[Unread] = []
    for name, texts in columns.items():
        forms[name], odd = _form(name, _one_array(texts), reading, name in strings)
        unread += [] if odd is None else [odd]
    return forms, unread


def spellings(words: frozenset[str]) -> list[str]:
    """Spell words in the usual cases, for what does not ignore case.

    >>> spellings(frozenset(["nan"]))
    ['NAN', 'NaN', 'Nan', 'nan']
    """
    extra = ["NaN", "NaT", "-NaN", "N/a"]
    spelled = {how for word in words for how in (word, word.upper(), word.capitalize())}
    return sorted(spelled | {word for word in extra if word.lower() in words})


def _form(name: str, texts: Any, reading: Reading, is_string: bool) -> tuple[Form, Unread | None]:
    """Find the first form that every value fits, and else the one that most do."""
    import pyarrow as pa
    import pyarrow.compute as pc

    best: tuple[int, Form, Misread] | None = None
    distinct = pc.unique(pc.utf8_trim_whitespace(without_gaps(texts, reading))).drop_null()
    if not len(distinct):
        return Form.NUMBER, None
    # Whether a form fits is seen on the distinct values alone, of which there may be far fewer.
    for form in (Form.DATE,) if is_string else (Form.INTEGER, Form.NUMBER, Form.BOOLEAN, Form.DATE):
        found, odd = cast(distinct, form, reading)
        if form is Form.INTEGER and not pa.types.is_integer(found.type):
            continue
        n = len(found) - found.null_count
        if odd is None and (n or len(distinct) == 1):
            is_code = form is Form.INTEGER and are_codes(distinct.to_pylist(), reading)
            return (Form.TEXT if is_code else form), None
        if odd is not None and n and (best is None or n > best[0]):
            best = n, form, odd
    if is_string:
        return Form.TEXT, None
    return Form.TEXT, _unread(name, texts, Form.NUMBER if best is None else best[1], reading)


def are_codes(values: Sequence[str], reading: Reading | None = None) -> bool:
    """Whether digits are codes such as ZIP codes: of one length, and some begin with 0.

    >>> are_codes(["01067", "10115"]), are_codes(["1", "01", "10"]), are_codes(["0", "1"])
    (True, False, False)
    """
    words = frozenset() if reading is None else reading.gap_words
    digits = [value for value in values if value.lower() not in words]
    return (
        len({len(value) for value in digits}) == 1
        and len(digits[0]) > 1
        and any(value.startswith("0") for value in digits)
        and all(WHOLE.fullmatch(value) for value in digits)
    )


def _unread(name: str, texts: Any, form: Form, reading: Reading) -> Unread | None:
    """Tell of a column most of whose values fit a form."""
    found, odd = cast(texts, form, reading)
    if odd is None:  # nothing but gap words
        return None
    fit = len(found) - found.null_count
    others = Counter(odd.values)
    commas = _commas(others, texts, reading)
    if commas is None and fit <= MOSTLY * (fit + len(odd.values)):
        return None
    share = fit / (fit + len(odd.values))
    quoted = ", ".join(f"{value!r}" for value, _ in others.most_common(FEW))
    if commas is not None:
        mend = f"To read all of them as numbers: {commas}."
    elif len(others) <= FEW:
        mend = f"If they stand for missing values: na_values=[{quoted}]."
    else:
        mend = f"If it holds labels all the same: families={{{name!r}: 'categorical'}}."
    return Unread(name, form, share, tuple(others.most_common(3)), mend)


def _commas(others: Iterable[str], texts: Any, reading: Reading) -> str | None:
    """Find how numbers must be written for every value to be one."""
    if not all(GROUPED.fullmatch(value) for value in others):
        return None
    ways = [(",", None), (".", ","), (",", "."), (".", "'"), (".", " ")]
    if all(THOUSANDS.fullmatch(value) for value in others):  # 2,160 is rarely 2.16
        ways.insert(0, ways.pop(1))
    for decimal, thousands in ways:
        if (decimal, thousands) != (reading.decimal, reading.thousands):
            other = replace(reading, decimal=decimal, thousands=thousands)
            if cast(texts, Form.NUMBER, other)[1] is None:
                also = "" if thousands is None else f"thousands={thousands!r}"
                first = "" if decimal == reading.decimal else f"decimal={decimal!r}"
                return ", ".join(filter(None, [first, also]))
    return None


def _plain_numbers(texts: Any, reading: Reading) -> Any:
    """Write numbers with a decimal point and without separators of thousands."""
    import pyarrow.compute as pc

    if reading.thousands is not None:
        blanks = "\u00a0\u202f" if reading.thousands == " " else ""
        mark = f"[{re.escape(reading.thousands)}{blanks}]"
        fraction = rf"({re.escape(reading.decimal)}\d*)?"
        whole = rf"^[+-]?[1-9]\d{{0,2}}({mark}\d{{3}})+{fraction}$"  # 0,337 has no thousands
        is_grouped = pc.match_substring_regex(texts, whole)
        texts = pc.if_else(is_grouped, pc.replace_substring_regex(texts, mark, ""), texts)
    if reading.decimal == ",":  # and a point is none: 1.5 is no number
        texts = pc.replace_substring(texts, ".", "?")
        texts = pc.replace_substring(texts, ",", ".")
    return texts


def _converted(texts: Any, form: Form) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    if form is Form.BOOLEAN:
        lower = pc.utf8_lower(texts)
        known = pc.is_in(lower, value_set=pa.array(["true", "false", None]))
        if not pc.all(known, min_count=0).as_py():  # an empty batch is as good as any
            raise pa.ArrowInvalid("not a boolean")
        return pc.equal(lower, "true")
    return texts.cast(arrow_types()[form])


def _parsed_dates(texts: Any) -> Any:
    """Parse dates that Arrow does not know: with a zone, without leading zeros, or none at all."""
    import pyarrow as pa

    coded = texts.dictionary_encode()
    moments = [parse_date(text) for text in coded.dictionary.to_pylist()]
    plain = [None if moment is None else moment.replace(tzinfo=None) for moment in moments]
    return pa.array(plain, pa.timestamp("us")).take(coded.indices)


def _text(value: Any) -> str | None:
    """Write any value as text; a missing one is None."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if value != value:
        return None
    if isinstance(value, dict | list):
        import json

        return json.dumps(value, ensure_ascii=False)
    return value.isoformat(" ") if hasattr(value, "hour") else str(value)


def _one_array(texts: Any) -> Any:
    import pyarrow as pa

    if isinstance(texts, pa.ChunkedArray):
        return texts.combine_chunks() if texts.num_chunks != 1 else texts.chunk(0)
    return texts
