"""Text before it is counted: analyzers, e-mail, markup, character sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from priory.base.lazy import importer

if TYPE_CHECKING:
    from priory.text.analyzer import Analyzer, register_analyzer
    from priory.text.markup import html_text
    from priory.text.messages import email_words

__all__ = ["Analyzer", "email_words", "html_text", "register_analyzer"]

__getattr__ = importer(
    globals(),
    {
        "Analyzer": "analyzer",
        "email_words": "messages",
        "html_text": "markup",
        "register_analyzer": "analyzer",
    },
)
