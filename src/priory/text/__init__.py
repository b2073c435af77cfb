"""Text before it is counted: words, mail, markup, character sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from priory.base.lazy import importer

if TYPE_CHECKING:
    from priory.text.analyzer import Analyzer

__all__ = ["Analyzer"]

__getattr__ = importer(globals(), {"Analyzer": "analyzer"})
