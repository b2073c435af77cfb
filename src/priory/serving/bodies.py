"""Bodies of requests and answers: JSON, JSON lines and Arrow streams."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isfinite
from typing import Any

import numpy as np

from priory.base.typing import FloatArray
from priory.classifier.json_rows import answers, tidy_row
from priory.serving.refusals import Refusal

__all__ = [
    "ARROW",
    "JSON",
    "LINES",
    "answered",
    "check_count",
    "checked_rows",
    "dumped",
    "kind_of",
    "parsed",
    "read_lines",
    "wanted_kind",
]

JSON, LINES, ARROW = (
    "application/json",
    "application/x-ndjson",
    "application/vnd.apache.arrow.stream",
)
SAME = {"application/jsonl": LINES, "application/x-jsonlines": LINES, "text/json": JSON}
PLAIN = frozenset({str, int, float, bool, type(None)})


def kind_of(content_type: str) -> str:
    """Tell which of the three a Content-Type means; anything else is refused.

    >>> kind_of("application/json; charset=utf-8")
    'application/json'
    """
    name = content_type.partition(";")[0].strip().lower()
    name = SAME.get(name, name)
    if name in (JSON, LINES, ARROW):
        return name
    raise Refusal(
        415, f"Content-Type must be {JSON}, {LINES} or {ARROW}, not {name!r:.60}.", "Content-Type"
    )


def wanted_kind(accept: str, given: str) -> str:
    """Choose what to answer with: what is accepted first, else what was given.

    >>> wanted_kind("*/*", LINES), wanted_kind("application/json", ARROW)
    ('application/x-ndjson', 'application/json')
    """
    for part in accept.split(","):
        name = part.partition(";")[0].strip().lower()
        name = SAME.get(name, name)
        if name in (JSON, LINES, ARROW):
            return name
    if accept and "*/*" not in accept and "application/*" not in accept:
        raise Refusal(406, f"Accept must name {JSON}, {LINES}, {ARROW} or */*.", "Accept")
    return given


def parsed(body: bytes, known: Mapping[str, str]) -> dict[str, Any]:
    """Parse a body of JSON: an object with known keys, whose types are told.

    >>> parsed(b'{"rows": [{"x": 1}]}', {"rows": "a list"})
    {'rows': [{'x': 1}]}
    """
    found = _loads(body, "The body")
    if type(found) is not dict:
        told = f'The body must be an object such as {{"rows": []}}, not {_kind(found)}.'
        raise Refusal(400, told, "body")
    for key in found:
        if key not in known:
            keys = ", ".join(known)
            raise Refusal(400, f"The body has a key {key!r:.60}. Keys: {keys}.", key[:60] or "body")
    for key, value in found.items():
        wanted = known[key]
        fits = value is None or isinstance(value, TYPES[wanted])
        if not fits or (isinstance(value, bool) and wanted != "true or false"):
            raise Refusal(400, f"{key} must be {wanted}, not {_kind(value)}.", key)
    return found


TYPES: dict[str, type] = {
    "a list": list,
    "an object": dict,
    "true or false": bool,
    "a string": str,
    "a whole number": int,
}


def checked_rows(rows: Any, most: int, field: str = "rows") -> list[dict[str, Any]]:
    """Check that rows are objects of plain values, and tidy them.

    >>> checked_rows([{"x": [1]}], 10)
    Traceback (most recent call last):
    priory.serving.refusals.Refusal: rows[0].x must be a string, a number, true, false or null, not
    a list.
    """
    if not isinstance(rows, list):
        raise Refusal(400, f"{field} must be a list of objects, not {_kind(rows)}.", field)
    check_count(len(rows), most, field)
    for i, row in enumerate(rows):
        if type(row) is not dict:
            what = f'{field}[{i}] must be an object such as {{"x": 1}}, not {_kind(row)}.'
            raise Refusal(400, what, f"{field}[{i}]")
        if not PLAIN.issuperset(map(type, row.values())):
            name = next(key for key, value in row.items() if type(value) not in PLAIN)
            raise _no_value(f"{field}[{i}].{name:.100}", row[name])
        for name, value in row.items():
            if type(value) is float and not isfinite(value):
                raise _no_value(f"{field}[{i}].{name:.100}", value)
        tidy_row(row)
    return rows


def check_count(n: int, most: int, field: str = "rows") -> None:
    """Refuse more rows than the server takes at once."""
    if n > most:
        raise Refusal(413, f"{field} holds {n:,} rows; send {most:,} at most at once.", field)


def _no_value(field: str, value: Any) -> Refusal:
    told = f"{field} must be a string, a number, true, false or null, not {_kind(value)}."
    return Refusal(400, told, field)


def read_lines(body: bytes, most: int) -> list[dict[str, Any]]:
    r"""Read a row from each line of JSON.

    >>> read_lines(b'{"x": 1}\n\n{"x": " a"}', 10)
    [{'x': 1}, {'x': 'a'}]
    """
    lines = [(i, line) for i, line in enumerate(body.split(b"\n"), 1) if line.strip()]
    check_count(len(lines), most)
    rows = []
    for i, line in lines:
        row = _loads(line, f"Line {i}", f"line {i}")
        try:
            rows += checked_rows([row], 1)
        except Refusal as error:
            field = (error.field or "").replace("rows[0]", f"line {i}")
            raise Refusal(400, error.message.replace("rows[0]", f"Line {i}"), field) from None
    return rows


def answered(kind: str, classes: Any, p: FloatArray, told: dict[str, Any]) -> bytes:
    """Write predictions as what was asked for; `told` goes with JSON alone."""
    if kind == ARROW:
        return _arrow(classes, p)
    found = answers(classes, p, True)
    if kind == LINES:
        return b"".join(dumped(answer) + b"\n" for answer in found)
    return dumped({"predictions": list(found), **told})


def _arrow(classes: Any, p: FloatArray) -> bytes:
    import pyarrow as pa

    best = p.argmax(axis=1)
    names = [str(label) for label in classes]
    table = pa.table(
        {
            "prediction": pa.DictionaryArray.from_arrays(best.astype("int32"), names),
            "probability": p[np.arange(len(p)), best],
            **{f"P({name})": p[:, k] for k, name in enumerate(names)},
        }
    )
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return sink.getvalue().to_pybytes()


def dumped(plain: Any) -> bytes:
    """Write JSON; numbers that it does not know are a mistake of ours."""
    return _encode(plain).encode()


def _loads(text: bytes, what: str, field: str | None = None) -> Any:
    try:
        return _decode(text.decode())
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise Refusal(400, f"{what} is not JSON: {reason:.200}.", field or "body") from None


def _no_constant(name: str) -> Any:
    raise ValueError(f"it holds {name}; null is a missing value")


_encode = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode
_decode = json.JSONDecoder(parse_constant=_no_constant).decode  # made once: that takes longest


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", bool: "true or false", str: "a string"}
    if value is None:
        return "null"
    return names.get(type(value), "a number" if _is_finite(value) else "a number beyond all")


def _is_finite(value: Any) -> bool:
    return not isinstance(value, float) or isfinite(value)
