"""A mail filter: learn what is spam, classify messages, correct mistakes, serve."""

from __future__ import annotations

from typing import TYPE_CHECKING

from priory.base.lazy import importer

if TYPE_CHECKING:
    from priory.mail.filtering import MailFilter
    from priory.mail.judging import Judge, Verdict
    from priory.mail.mailboxes import read_mail

__all__ = ["Judge", "MailFilter", "Verdict", "read_mail"]

_HOME = {
    "Judge": "judging",
    "MailFilter": "filtering",
    "Verdict": "judging",
    "read_mail": "mailboxes",
}

__getattr__ = importer(globals(), _HOME)
