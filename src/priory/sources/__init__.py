"""Where data comes from: files and folders, read in pieces that fit in memory."""

from __future__ import annotations

from priory.sources.folders import iter_folder, read_folder
from priory.sources.mbox import iter_mbox, read_mbox

__all__ = ["iter_folder", "iter_mbox", "read_folder", "read_mbox"]
