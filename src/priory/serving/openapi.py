"""The OpenAPI description of a server, with the columns and classes of its own model."""

from __future__ import annotations

from typing import Any

from priory.base.formatting import dated
from priory.base.version import __version__
from priory.serving.bodies import ARROW, JSON, LINES

__all__ = ["ERRORS", "answers_with", "asks_for", "document", "example_row"]

ERRORS: dict[int | str, dict[str, Any]] = {
    status: {
        "description": told,
        "content": {JSON: {"schema": {"$ref": "#/components/schemas/Error"}}},
    }
    for status, told in {
        400: "The body is not what it must be; the error names the field.",
        401: "A token is needed.",
        403: "The token is not for this.",
        404: "There is no such model.",
        406: "No kind of answer is accepted.",
        408: "The body took too long to arrive.",
        409: "The rows are not among those learned, or what is asked for is not switched on.",
        413: "The body, or the number of rows, is too large.",
        415: "The body is of another kind.",
        429: "Too many requests are worked on.",
        503: "It took too long, or the model's file cannot be used.",
    }.items()
}

RATE = {"type": "number", "minimum": 0, "maximum": 1}
LABEL = {"type": ["string", "integer", "number", "boolean"]}
NAME = {"type": "string"}
VALUE = {"type": ["string", "number", "boolean", "null"]}


def asks_for(schema: str, *kinds: str) -> dict[str, Any]:
    """Describe the body of a request: JSON by a schema, and others as they are."""
    content: dict[str, Any] = {JSON: {"schema": {"$ref": f"#/components/schemas/{schema}"}}}
    content |= {kind: {"schema": {"type": "string", "format": "binary"}} for kind in kinds}
    return {"requestBody": {"required": True, "content": content}}


def answers_with(schema: str, *kinds: str) -> dict[int | str, dict[str, Any]]:
    """Describe what is answered: JSON by a schema, and the errors."""
    content: dict[str, Any] = {JSON: {"schema": {"$ref": f"#/components/schemas/{schema}"}}}
    content |= {kind: {"schema": {"type": "string", "format": "binary"}} for kind in kinds}
    return {200: {"description": "The answer.", "content": content}, **ERRORS}


def example_row(columns: list[dict[str, Any]]) -> dict[str, Any]:
    """Make a row of typical values, which is no row of the data.

    >>> example_row([{"name": "x", "used": True, "typical": 2.0, "kind": "numbers"}])
    {'x': 2.0}
    """
    return {c["name"]: _typical(c) for c in columns if c["used"]}


def _typical(column: dict[str, Any]) -> Any:
    """Give a typical value as a row has it: a form counts dates and ordered categories."""
    kind, typical = column["kind"], column["typical"]
    if kind == "text":
        return "some words"
    if typical is None or kind == "none":
        return None
    if "names" in column:
        return column["names"][typical]
    return dated(typical) if kind == "date" else typical


def document(
    base: dict[str, Any], described: dict[str, Any], names: list[str], has_tokens: bool
) -> dict[str, Any]:
    """Complete the description that FastAPI draws from the routes, by the model's own schema."""
    columns, classes = described["columns"], described["classes"]
    row = example_row(columns)
    label = classes[0] if classes else "class"
    properties = {c["name"]: _property(c) for c in columns if c["used"]}
    rows = {"type": "array", "items": {"$ref": "#/components/schemas/Row"}}
    told = {"model": NAME, "version": NAME}
    by_class = {"type": "object", "additionalProperties": {"type": ["number", "null"]}}
    change = {
        "rows": {**rows, "minItems": 1},
        "labels": {"type": "array", "items": LABEL, "minItems": 1},
        "new_classes": {"type": ["boolean", "null"]},
        "stream": {"type": ["string", "null"], "minLength": 1, "maxLength": 100},
        "number": {"type": ["integer", "null"], "minimum": 0},
    }
    schemas = {
        "Row": {
            "type": "object",
            "description": "A missing key and null are gaps; keys not known are ignored.",
            "properties": properties,
            "additionalProperties": VALUE,
            "examples": [row],
        },
        "Question": _object({"rows": rows}, ["rows"], {"rows": [row]}),
        "ExplainQuestion": _object(
            {
                "rows": rows,
                "intervals": {"type": ["boolean", "null"]},
                "what_if": {"type": ["boolean", "null"]},
            },
            ["rows"],
            {"rows": [row], "intervals": True},
        ),
        "Change": _object(change, ["rows", "labels"], {"rows": [row], "labels": [label]}),
        "Changed": _object(
            {
                "learn": {"type": "integer"},
                "forget": {"type": "integer"},
                "rows": {"type": "integer"},
                **told,
            },
            ["rows"],
        ),
        "Predictions": _object(
            {
                "predictions": {
                    "type": "array",
                    "items": _object(
                        {
                            "prediction": {**LABEL, "examples": [label]},
                            "probability": RATE,
                            "probabilities": {"type": "object", "additionalProperties": RATE},
                        },
                        ["prediction", "probability", "probabilities"],
                    ),
                },
                **told,
            },
            ["predictions"],
        ),
        "Explanations": _object(
            {
                "explanations": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {"posterior": by_class, "log_joint": by_class},
                        "required": ["prediction", "factors", "posterior"],
                    },
                },
                **told,
            },
            ["explanations"],
        ),
        "Schema": _object(
            {
                "classes": {"type": "array", "items": LABEL},
                "columns": {"type": "array", "items": {"type": "object"}},
                **told,
            },
            ["classes", "columns"],
        ),
        "Drift": _object(
            {
                "columns": {
                    "type": "array",
                    "items": _object(
                        {
                            "column": NAME,
                            **dict.fromkeys(("unseen", "missing", "learned_missing"), RATE),
                            **dict.fromkeys(("distance", "p", "p_corrected"), RATE),
                        },
                        ["column", "unseen", "distance", "p_corrected"],
                    ),
                },
                "prior": {"type": ["object", "null"]},
                **{key: {"type": "integer"} for key in ("rows", "asked", "learned", "worker")},
                "since": {"type": ["number", "null"]},
                "calibrated": {"type": ["boolean", "null"]},
                "left_out": {"type": "array", "items": NAME},
                "model": NAME,
            },
            ["columns", "prior", "rows", "asked"],
        ),
        "Any": {"type": "object"},
        "Inference": {
            "type": "object",
            "properties": {
                "id": {"type": ["string", "null"]},
                "inputs": {
                    "type": "array",
                    "items": _object(
                        {
                            "name": NAME,
                            "datatype": {"enum": ["BYTES", "FP64", "INT64", "BOOL"]},
                            "shape": {"type": "array", "items": {"type": "integer", "minimum": 0}},
                            "data": {"type": "array", "items": VALUE},
                        },
                        ["name", "datatype", "shape", "data"],
                    ),
                },
            },
            "required": ["inputs"],
        },
        "Error": _object(
            {
                "error": _object(
                    {"message": NAME, "field": {"type": ["string", "null"]}, "request": NAME},
                    ["message", "request"],
                )
            },
            ["error"],
        ),
    }
    components: dict[str, Any] = {"schemas": schemas}
    found = {
        **base,
        "info": {"title": f"priory: {', '.join(names)}", "version": __version__},
        "components": components,
    }
    for path in found["paths"].values():
        for operation in path.values():
            operation["responses"].pop("422", None)  # FastAPI's own; errors are told as above
    if has_tokens:
        components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        found["security"] = [{"token": []}]
    return found


def _object(properties: dict[str, Any], required: list[str], example: Any = None) -> dict[str, Any]:
    found = {"type": "object", "properties": properties, "required": required}
    return found if example is None else {**found, "examples": [example]}


def _property(column: dict[str, Any]) -> dict[str, Any]:
    if column["kind"] in ("numbers", "listed"):
        found: dict[str, Any] = {"type": ["number", "null"], "minimum": -1e150, "maximum": 1e150}
    elif column["kind"] in ("text", "date"):
        found = {"type": ["string", "null"]}
    else:
        found = dict(VALUE)
        found["description"] = "Learned: " + ", ".join(
            str(v) for v in column.get("names", column.get("values", ()))[:20]
        )
    if _typical(column) is not None:
        found["examples"] = [_typical(column)]
    return found


BINARY = (LINES, ARROW)
