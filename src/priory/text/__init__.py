"""Text before it is counted: analyzers, e-mail, markup, character sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from priory.base.lazy import importer

if TYPE_CHECKING:
    from priory.text.analyzer import Analyzer
    from priory.text.markup import html_text
    from priory.text.messages import email_words

__all__ = ["Analyzer", "email_words", "html_text"]

__getattr__ = importer(
    globals(), {"Analyzer": "analyzer", "email_words": "messages", "html_text": "markup"}
)
