"""Where the filter of a person is kept."""

from __future__ import annotations

import os

__all__ = ["COLUMN", "HAM", "SPAM", "default_model", "index_of"]

COLUMN = "message"
HAM, SPAM = "ham", "spam"


def default_model() -> str:
    """Name the model file: `$XDG_DATA_HOME/priory/mail.priory`, or that in `~/.local/share`.

    >>> os.path.basename(default_model())
    'mail.priory'
    """
    home = os.environ.get("XDG_DATA_HOME") or os.path.join("~", ".local", "share")
    return os.path.join(os.path.expanduser(home), "priory", "mail.priory")


def index_of(model: str) -> str:
    """Name the index beside a model file, from which single messages are judged.

    >>> index_of("/home/ann/mail.priory")
    '/home/ann/.mail.priory.index'
    """
    folder, name = os.path.split(os.path.realpath(model))
    return os.path.join(folder, f".{name}.index")
