"""Tables in memory: what each column is, and its values as the kernels read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from priory.base.lazy import importer

if TYPE_CHECKING:
    from priory.data.schema import Block, Kind, Schema

__all__ = ["Block", "Kind", "Schema"]

__getattr__ = importer(globals(), {"Block": "schema", "Kind": "schema", "Schema": "schema"})
