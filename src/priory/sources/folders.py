"""Folders of texts, with one subfolder for each class."""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Iterator, Mapping
from functools import cache
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from priory.base.errors import InputError, PrioryWarning, SettingError, check_number, listing, warn
from priory.sources.base import Batch, Form, Source
from priory.sources.files import Location, message_text, read_bytes, unreadable
from priory.sources.mbox import mbox_messages
from priory.text.analyzer import Analyzer
from priory.text.charsets import decode
from priory.text.markup import html_text

if TYPE_CHECKING:
    from mimetypes import MimeTypes

__all__ = ["FolderSource", "has_classes", "iter_folder", "read_folder"]

TEXT, CLASS = "text", "class"

LOOKED_AT = 2**24
"""So many bytes are read, at most, before all of them are."""
_HTML = frozenset([".html", ".htm", ".xhtml"])
_CHARSET = re.compile(rb"<meta[^>]{1,200}?charset\s*+=\s*+[\"']?([\w.:-]{1,40})", re.IGNORECASE)
_HEADER = re.compile(rb"(?:From |[!-9;-~]{1,60}+:)")
_MAIL_HEADER = re.compile(
    rb"^(?:received|return-path|from|to|subject|date|message-id|mime-version):",
    re.IGNORECASE | re.MULTILINE,
)
_BYTE_ORDER_MARKS = [
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark begins like it
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
]


def read_folder(path: Location, encoding: str | None = None) -> tuple[list[str], list[str]]:
    """Read the texts of a folder, and the class of each: the name of its subfolder.

    ::

        mail/ham/0001.eml   mail/ham/2024/note.txt   mail/spam/0001   mail/spam.mbox

    Classes are sorted, and so are the files of a class. A class is a subfolder, with files at any
    depth, or a file with the suffix .mbox. Hidden files are skipped. Also skipped, with a warning,
    are files that are empty or no text (by a suffix such as .png, or because they hold zero bytes)
    and links that lead out of the folder.

    - Text (.txt and others) is decoded by its byte order mark, else as UTF-8 or Windows-1252. With
      `encoding` it is decoded by that alone, and it is an error if it does not fit.
    - HTML (.html) is decoded by its declared charset, and reduced to its visible text.
    - Messages (.eml, .mbox, or no suffix and headers) are kept raw, since their parts may differ in
      charset: decoded as UTF-8 if that fits, else as Latin-1, a character for each byte. Nothing is
      lost, and `email_words` reads either.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     for name, text in [("ham", "see you at noon"), ("spam", "free money")]:
    ...         Path(folder, name).mkdir()
    ...         _ = Path(folder, name, "1.txt").write_text(text)
    ...     read_folder(folder)
    (['see you at noon', 'free money'], ['ham', 'spam'])
    """
    texts: list[str] = []
    labels: list[str] = []
    for some_texts, some_labels in _batches(path, inf, encoding):
        texts += some_texts
        labels += some_labels
    return texts, labels


def iter_folder(
    path: Location, batch_bytes: int = 2**26, encoding: str | None = None
) -> Iterator[tuple[list[str], list[str]]]:
    """Iterate over the texts and classes of `read_folder` in batches of bounded size.

    A batch holds files of at most `batch_bytes` bytes in total, or a single larger text. The folder
    is listed, and its layout checked, before the first batch.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     for name in ["ham", "spam"]:
    ...         Path(folder, name).mkdir()
    ...         _ = Path(folder, name, "1.txt").write_text("free money")
    ...     for texts, labels in iter_folder(folder, batch_bytes=15):
    ...         print(texts, labels)
    ['free money'] ['ham']
    ['free money'] ['spam']
    """
    check_number("batch_bytes", batch_bytes, above=0)
    return _batches(path, batch_bytes, encoding)


def has_classes(path: Location) -> bool:
    """Tell whether a path is a folder with subfolders, or mbox files, for classes."""
    folder = Path(path)
    return folder.is_dir() and any(
        not entry.name.startswith(".") and (entry.is_dir() or entry.suffix.lower() == ".mbox")
        for entry in folder.iterdir()
    )


class FolderSource(Source):
    """A folder of texts with a subfolder for each class, read in batches."""

    target = CLASS

    def __init__(self, path: Location) -> None:
        super().__init__()
        self.name = str(path)
        self.columns = (TEXT, CLASS)
        self._path = path

    def analyzers(self) -> dict[str, Analyzer]:
        """Choose the analyzer: that of e-mail, if most of the first texts are messages."""
        first = next(iter_folder(self._path, batch_bytes=2**20))[0]
        messages = sum(_is_message(text.encode("utf-8", "replace")) for text in first)
        return {TEXT: Analyzer("email" if 2 * messages > len(first) else "word")}

    def batches(self, forms: Mapping[str, Form], most: int | None = None) -> Iterator[Batch]:
        """Iterate over the texts and their classes."""
        import pyarrow as pa

        lists = iter_folder(self._path) if most is None else self._first(most)
        for texts, labels in lists:
            columns = {TEXT: texts, CLASS: labels}
            arrays = {name: pa.array(columns[name], pa.large_string()) for name in forms}
            yield Batch(arrays, len(texts))

    def _first(self, most: int) -> Iterator[tuple[list[str], list[str]]]:
        """Give the first texts of every class, which stand in folders of their own."""
        classes = _list_classes(Path(self._path))
        share = max(most // len(classes), 1)
        for label, files in classes.items():
            texts, labels = next(_fill({label: files}, LOOKED_AT / len(classes), None, tells=False))
            yield texts[:share], labels[:share]


def _batches(
    path: Location, batch_bytes: float, encoding: str | None
) -> Iterator[tuple[list[str], list[str]]]:
    if encoding is not None:
        _check_encoding(encoding)
    return _fill(_list_classes(Path(path)), batch_bytes, encoding)


def _fill(
    classes: dict[str, list[Path]], batch_bytes: float, encoding: str | None, tells: bool = True
) -> Iterator[tuple[list[str], list[str]]]:
    texts: list[str] = []
    labels: list[str] = []
    size = 0
    skipped: list[str] = []
    for label, files in classes.items():
        found = False
        for file in files:
            for n_bytes, text in _read(file, encoding, skipped):
                if texts and size + n_bytes > batch_bytes:
                    yield texts, labels
                    texts, labels, size = [], [], 0
                texts.append(text)
                labels.append(label)
                size += n_bytes
                found = True
        if not found:
            raise InputError(
                f"The class {label!r} has no text: {str(files[0])!r} is empty, or is no text."
            )
    if tells:
        _tell_skipped("Skipped files that are empty or binary", skipped)
    yield texts, labels


def _check_encoding(encoding: str) -> None:
    try:
        "".encode(encoding)
    except (LookupError, TypeError, ValueError):
        raise SettingError(
            f"encoding must be the name of a text encoding such as 'utf-8', not {encoding!r}."
        ) from None


def _list_classes(root: Path) -> dict[str, list[Path]]:
    """List the files of each class, sorted; refuse a folder without classes."""
    if not root.exists():
        raise InputError(f"No such folder: {str(root)!r}.")
    if not root.is_dir():
        hint = " Use read_mbox for an mbox file." if root.suffix == ".mbox" else ""
        raise InputError(
            f"path must be a folder with a folder for each class, not the file {str(root)!r}.{hint}"
        )
    classes: dict[str, list[Path]] = {}
    skipped: list[str] = []
    outside: list[str] = []
    top = os.path.realpath(root)
    try:
        entries = sorted(root.iterdir(), key=lambda entry: entry.name)
    except OSError as error:
        raise unreadable(root, error) from error
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if _leads_out(entry, top):
            outside.append(entry.name)
        elif entry.is_dir():
            files = _list_files(entry, skipped, outside, top)
            classes.setdefault(entry.name, []).extend(files)
        elif entry.suffix.lower() == ".mbox" and entry.is_file():
            classes.setdefault(entry.stem, []).append(entry)
    if not classes:
        found = listing(entry.name for entry in entries) or "nothing"
        raise InputError(
            f"The folder {str(root)!r} must hold a folder, or a file ending in .mbox, for each "
            f"class, such as ham/ and spam/. It holds: {found}."
        )
    empty = sorted(label for label, files in classes.items() if not files)
    if empty:
        raise InputError(
            f"Every class must have a text, but in {str(root)!r} these have none: "
            f"{listing(empty)}. Skipped files: {listing(skipped + outside) or 'none'}."
        )
    _tell_skipped("Skipped files that are not text", skipped)
    _tell_skipped("Skipped links that lead out of the folder", outside)
    if len(classes) == 1:
        warn(
            f"The folder {str(root)!r} has only one class, {next(iter(classes))!r}; "
            "a classifier needs at least two.",
            PrioryWarning,
        )
    return dict(sorted(classes.items()))


def _tell_skipped(what: str, skipped: list[str]) -> None:
    if skipped:
        warn(f"{what}: {listing(skipped)}.", PrioryWarning)


def _leads_out(path: Path, top: str) -> bool:
    """Tell whether a path is a link to somewhere outside of the folder that is read."""
    if not path.is_symlink():
        return False
    return not Path(os.path.realpath(path)).is_relative_to(top)


def _list_files(folder: Path, skipped: list[str], outside: list[str], top: str) -> list[Path]:
    def refuse(error: OSError) -> None:
        raise unreadable(Path(error.filename), error) from error

    files = []
    for parent, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            file = Path(parent, name)
            if name.startswith(".") or not file.is_file():  # reading a pipe might never end
                continue
            if _leads_out(file, top):
                outside.append(str(file.relative_to(folder.parent)))
            elif _is_text(name):
                files.append(file)
            else:
                skipped.append(str(file.relative_to(folder.parent)))
    return sorted(files, key=lambda file: file.relative_to(folder).parts)


def _is_text(name: str) -> bool:
    """Tell whether a file may be a text, by its suffix.

    >>> [_is_text(name) for name in ["a.txt", "a.eml", "0001.ea7e79d3", "a", "a.png", "a.txt.gz"]]
    [True, True, True, True, False, False]
    """
    kind, packed = _kinds().guess_type(name)
    if packed is not None:
        return False
    return kind is None or kind.startswith(("text/", "message/")) or name.endswith(".xhtml")


@cache
def _kinds() -> MimeTypes:
    """Load the standard library's table of suffixes: that of the system may differ."""
    from mimetypes import MimeTypes

    return MimeTypes()


def _read(file: Path, encoding: str | None, skipped: list[str]) -> Iterator[tuple[int, str]]:
    """Iterate over the texts of a file, with the size of each in bytes; skip what is no text."""
    suffix = file.suffix.lower()
    if suffix == ".mbox":
        for message in mbox_messages(file):
            yield len(message), message_text(message)
        return
    data = read_bytes(file)
    if not data or (encoding is None and _is_binary(data)):
        skipped.append(f"{file.parent.name}/{file.name}")
        return
    if suffix in _HTML:
        text = html_text(_text(file, data, encoding, _CHARSET.search(data[:2048])))
    elif suffix == ".eml" or (suffix != ".txt" and _is_message(data)):
        text = message_text(data)
    else:
        text = _text(file, data, encoding)
    yield len(data), text


def _is_binary(data: bytes) -> bool:
    """Tell whether bytes are no text: they hold zeros, and no mark says that these belong there."""
    return b"\0" in data[:65536] and not data.startswith(tuple(m for m, _ in _BYTE_ORDER_MARKS))


def _is_message(data: bytes) -> bool:
    """Tell whether a text begins with the headers of an e-mail."""
    head = data[:65536].lstrip(b"\r\n").replace(b"\r\n", b"\n").partition(b"\n\n")[0]
    return _HEADER.match(head) is not None and _MAIL_HEADER.search(head) is not None


def _text(
    file: Path, data: bytes, encoding: str | None, declared: re.Match[bytes] | None = None
) -> str:
    if encoding is not None:
        try:
            return data.decode(encoding)
        except UnicodeError as error:
            raise InputError(
                f"The file {str(file)!r} cannot be read as {encoding!r}: {error}. "
                "Without encoding= each file is decoded by what fits it."
            ) from error
    for mark, name in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(name, "replace")
    return decode(data, declared[1].decode("ascii", "replace") if declared else None)
