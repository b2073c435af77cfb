"""Sources: files, folders, queries, relations, tables and streams of any size, read in pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from priory.base.lazy import importer

if TYPE_CHECKING:
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

_HOME = {
    "forget": "updating",
    "inspect": "inspection",
    "iter_folder": "folders",
    "iter_mbox": "mbox",
    "open_source": "opening",
    "read_folder": "folders",
    "read_mbox": "mbox",
    "train": "training",
    "train_like": "updating",
    "update": "updating",
}

__getattr__ = importer(globals(), _HOME)  # an mbox is read without what a query needs
