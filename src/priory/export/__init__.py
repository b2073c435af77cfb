"""Models for other programs: JSON to read, SQL and ONNX to run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from priory.base.lazy import importer

if TYPE_CHECKING:
    from priory.export.onnx import to_onnx
    from priory.export.plain import to_json
    from priory.export.sql import to_sql

__all__ = ["to_json", "to_onnx", "to_sql"]

__getattr__ = importer(globals(), {"to_json": "plain", "to_onnx": "onnx", "to_sql": "sql"})
