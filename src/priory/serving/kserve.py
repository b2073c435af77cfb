"""The Open Inference Protocol (KServe v2) as a second door to the same models."""

from __future__ import annotations

from typing import Any

import numpy as np

from priory.serving.bodies import check_count, parsed
from priory.serving.models import Loaded, ServedModel
from priory.serving.refusals import Refusal
from priory.serving.service import probabilities, required

__all__ = ["infer", "metadata"]

INFER = {
    "id": "a string",
    "inputs": "a list",
    "outputs": "a list",
    "parameters": "an object",
}
TYPES: dict[str, tuple[type, ...]] = {
    "BOOL": (bool,),
    "BYTES": (str,),
    **dict.fromkeys(("FP16", "FP32", "FP64"), (int, float)),
    **{f"{u}INT{n}": (int,) for u in ("", "U") for n in (8, 16, 32, 64)},
}
KINDS = {"numbers": "FP64", "listed": "FP64", "text": "BYTES", "date": "BYTES"}


def metadata(model: ServedModel, columns: list[dict[str, Any]]) -> dict[str, Any]:
    """Describe a model as the protocol does; a missing value is null in `data`."""
    loaded = model.current()
    n = len(loaded.classifier.classes)
    inputs = [
        {"name": c["name"], "datatype": _datatype(c), "shape": [-1]} for c in columns if c["used"]
    ]
    return {
        "name": model.name,
        "versions": [loaded.version],
        "platform": "priory",
        "inputs": inputs,
        "outputs": [
            {"name": "prediction", "datatype": "BYTES", "shape": [-1]},
            {"name": "probabilities", "datatype": "FP64", "shape": [-1, n]},
        ],
    }


def _datatype(column: dict[str, Any]) -> str:
    types = {type(value) for value in column.get("values", ())}
    if column["kind"] == "labels" and types == {bool}:
        return "BOOL"
    return (
        "INT64" if types == {int} and "names" not in column else KINDS.get(column["kind"], "BYTES")
    )


def infer(model: ServedModel, body: bytes, most: int) -> dict[str, Any]:
    """Answer a request of the protocol: an input for each column, all of the same length."""
    asked = parsed(body, INFER)
    loaded, rows = model.current(), _rows(required(asked, "inputs"), most)
    p = probabilities(loaded, rows)
    return {
        "model_name": model.name,
        "model_version": loaded.version,
        **({"id": asked["id"]} if asked.get("id") is not None else {}),
        "outputs": _outputs(loaded, p),
    }


def _outputs(loaded: Loaded, p: Any) -> list[dict[str, Any]]:
    names = [str(label) for label in loaded.classifier.classes]
    best = p.argmax(axis=1).tolist() if len(p) else []
    return [
        {
            "name": "prediction",
            "datatype": "BYTES",
            "shape": [len(p)],
            "data": [names[k] for k in best],
        },
        {
            "name": "probabilities",
            "datatype": "FP64",
            "shape": list(p.shape),
            "data": np.asarray(p).ravel().tolist(),
            "parameters": {"classes": names},
        },
    ]


def _rows(inputs: list[Any], most: int) -> list[dict[str, Any]]:
    columns: dict[str, list[Any]] = {}
    for i, given in enumerate(inputs):
        columns |= _column(given, f"inputs[{i}]", columns)
    lengths = {len(values) for values in columns.values()}
    if len(lengths) > 1:
        raise Refusal(400, "inputs must all have data of the same length.", "inputs")
    n = lengths.pop() if lengths else 0
    check_count(n, most, "inputs")
    return [{name: values[i] for name, values in columns.items()} for i in range(n)]


def _column(given: Any, field: str, before: dict[str, Any]) -> dict[str, list[Any]]:
    if not isinstance(given, dict):
        raise Refusal(400, f"{field} must be an object.", field)
    name, kind, shape, data = (given.get(key) for key in ("name", "datatype", "shape", "data"))
    if not isinstance(name, str) or name in before:
        raise Refusal(400, f"{field}.name must be a name that stands once.", f"{field}.name")
    types = TYPES.get(kind) if isinstance(kind, str) else None
    if types is None:
        known = ", ".join(TYPES)
        raise Refusal(400, f"{field}.datatype must be one of {known}.", f"{field}.datatype")
    if not isinstance(data, list):
        raise Refusal(400, f"{field}.data must be a list.", f"{field}.data")
    values = [v[0] if isinstance(v, list) and len(v) == 1 else v for v in data]
    for j, value in enumerate(values):
        fits = value is None or (type(value) in types and abs(_size(value)) < np.inf)
        if not fits:
            told = f"{field}.data[{j}] is not of the datatype {kind}, nor null."
            raise Refusal(400, told, f"{field}.data[{j}]")
    if shape not in ([len(values)], [len(values), 1]):
        told = f"{field}.shape must be [{len(values)}], as its data are."
        raise Refusal(400, told, f"{field}.shape")
    return {name: values}


def _size(value: Any) -> float:
    return value if isinstance(value, float) else 0.0
