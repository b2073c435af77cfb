"""Sources: files, folders, queries, relations, tables and streams of any size, read in pieces."""

from __future__ import annotations

from priory.sources.folders import iter_folder, read_folder
from priory.sources.inspection import inspect
from priory.sources.mbox import iter_mbox, read_mbox
from priory.sources.opening import open_source
from priory.sources.training import train
from priory.sources.updating import forget, train_like, update

__all__ = [
    "forget",
    "inspect",
    "iter_folder",
    "iter_mbox",
    "open_source",
    "read_folder",
    "read_mbox",
    "train",
    "train_like",
    "update",
]
