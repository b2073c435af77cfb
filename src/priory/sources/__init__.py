"""Sources: files, queries, relations, tables and streams of any size, reduced to statistics."""

from __future__ import annotations

from priory.sources.opening import open_source
from priory.sources.training import forget, train, update

__all__ = ["forget", "open_source", "train", "update"]
