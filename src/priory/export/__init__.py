"""Write a model for other programs: JSON to read, SQL and ONNX to run."""

from __future__ import annotations

from priory.export.plain import to_json

__all__ = ["to_json"]
