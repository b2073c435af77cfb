"""The model file: the statistics as one Parquet table, everything else as JSON in its header.

A file holds no code and nothing is believed unread: sizes are checked before anything is
allocated, then a digest of all the bytes, then each part of it. Pages are not compressed (codes
and dictionaries make them small), so no file can unpack to more than it is.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import stat
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from priory.base.errors import (
    InputError,
    ModelFileError,
    PrioryError,
    PrioryWarning,
    SettingError,
    UnknownFamilyError,
    listing,
    warn,
)
from priory.base.replacing import locked, real_target, replacing
from priory.base.typing import Label
from priory.classifier.footer import Chunk, page_sizes, read_footer
from priory.classifier.plain import from_plain, to_plain, tuning_from_plain, tuning_to_plain
from priory.classifier.provenance import Provenance
from priory.classifier.soundness import (
    TEXTS,
    DamageError,
    TooMuchMemoryError,
    check_entries,
    check_numbers,
    check_order,
    check_schema,
    check_statistics,
    check_types,
)
from priory.data.schema import Schema
from priory.statistics.longtable import COLUMNS, SUMS
from priory.statistics.sampling import Sample
from priory.statistics.statistics import Statistics
from priory.tuning.choices import not_selected
from priory.tuning.settings import Settings
from priory.tuning.tuned import Tuning

try:  # a prediction must not wait for OpenSSL, which hashlib loads
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

if TYPE_CHECKING:
    import pyarrow as pa


__all__ = ["Seals", "Stored", "read", "sealed", "write"]

Seals: TypeAlias = dict[str, bytes]
"""The digest of each file as it was last read or written, by its path without links."""

VERSION = 3
"""The format of the file; a reader refuses any other."""

HEADER = b"priory"
SEAL = b"priory:1"
"""Stands with a digest of all other bytes between the pages and the footer, where no one looks."""

PHYSICAL = dict.fromkeys(TEXTS, 6) | {"rows": 2} | dict.fromkeys(SUMS, 5)
"""Parquet's numbers for its types: bytes, an integer, a number; all of 64 bits."""

FEW_ROWS = 250_000
ROWS_PER_BYTE = 2
"""Rows differ in class or key, which takes some bits; more rows than this are a trick."""

LEAST_MEMORY = 256 * 2**20
MEMORY_PER_BYTE = 100
"""Tables are dense, classes × keys, so they may take more room than the file, but so much only."""

LONGEST_PAGE_HEADER = 4096
LONGEST_HEADER = 64 * 2**20
NOT_KEPT = ("n_threads",)
"""Settings of a machine rather than of a model."""


@dataclass(frozen=True)
class Stored:
    """Everything that a model file holds."""

    statistics: Statistics
    settings: Settings
    declared: tuple[Label, ...] = ()
    provenance: Provenance = field(default_factory=Provenance)
    version: str = ""
    created: str = ""
    tuning: Tuning | None = None
    sample: Sample | None = None
    moved: float = 0.0
    """How many rows came since what is tuned was chosen; infinite where rows went."""


def write(path: str | os.PathLike[str], stored: Stored, seals: Seals | None = None) -> None:
    """Write a model file in one step: there is the old file or the whole new one, never a part.

    Nothing is written that could not be read again, nor over a file that another has changed since
    it was read, as `seals` says.
    """
    table = stored.statistics.to_arrow()
    header = json.loads(table.schema.metadata[HEADER])
    header["model"] = {
        "format": VERSION,
        "priory": stored.version,
        "created": stored.created or datetime.now(UTC).isoformat(timespec="seconds"),
        "settings": {
            f.name: to_plain(getattr(stored.settings, f.name))
            for f in fields(Settings)
            if f.name not in NOT_KEPT
        },
        "tuning": None if stored.tuning is None else tuning_to_plain(stored.tuning),
        "moved": stored.moved if math.isfinite(stored.moved) else None,
        "sample": _plain_sample(stored.sample),
        "left_out": _left_out(stored),
        "declared": to_plain(stored.declared)["list"],
        "provenance": stored.provenance.to_dict(),
    }
    text = json.dumps(header).encode()
    if stored.sample is not None and len(text) > LONGEST_HEADER:
        raise ModelFileError(
            f"{os.fspath(path)} was not written: the sample of the rows takes more than "
            f"{LONGEST_HEADER >> 20} MB. Save it without keep_sample, or train with a smaller "
            "sample_size."
        )
    content = _parquet(table.replace_schema_metadata(None), text)
    _check_readable(content, os.fspath(path))
    try:
        with locked(path):
            target = real_target(path)
            _check_unchanged(target, os.fspath(path), seals or {})
            with replacing(target) as made, open(made, "wb") as file:
                file.write(content)
            if seals is not None:
                seals[target] = _seal(content)
    except OSError as error:
        raise ModelFileError(
            f"{os.fspath(path)} could not be written: {error.strerror or error}. What was there "
            "before is as it was."
        ) from error


def _left_out(stored: Stored) -> list[dict[str, Any]]:
    """List the columns that were not selected and why, for whoever looks into the file."""
    with contextlib.suppress(PrioryError):  # settings that do not fit are said when asked
        tuning, statistics = stored.tuning, stored.statistics
        weighed = statistics if tuning is None else tuning.weighed(statistics)
        found = not_selected(stored.settings, weighed)
        return [
            {"block": name, "saves": float(worth.saves), "costs": float(worth.costs)}
            for name, worth in found.items()
            if math.isfinite(worth.saves)  # JSON knows no other numbers
        ]
    return []


def read(
    path: str | os.PathLike[str], max_memory: int | None = None, seals: Seals | None = None
) -> Stored:
    """Read what a model file holds, or raise `ModelFileError` with the reason.

    `max_memory` is how many bytes the tables may take; None allows 100 times the file, and
    256 MB in any case.
    """
    name = os.fspath(path)
    try:
        if not stat.S_ISREG(os.stat(name).st_mode):
            raise ModelFileError(f"{name} is no model file of priory: it is no file at all.")
        with open(name, "rb") as file:
            if file.read(4) != b"PAR1":
                raise ModelFileError(
                    f"{name} is no model file of priory: it does not begin as a Parquet file does."
                )
            file.seek(0)
            content = file.read()
    except OSError as error:
        raise ModelFileError(f"{name} could not be read: {error.strerror or error}.") from None
    if content[-4:] != b"PAR1" or len(content) < 12:
        raise ModelFileError(f"{name} was cut short: its end is missing.")
    try:
        stored = _checked(content, name, max_memory)
    except TooMuchMemoryError as error:
        raise ModelFileError(f"{name} {error}") from None
    if seals is not None:
        seals[os.path.realpath(path)] = _seal(content)
    return stored


def _checked(content: bytes, name: str, max_memory: int | None) -> Stored:
    size = len(content)
    allowed = max(LEAST_MEMORY, MEMORY_PER_BYTE * size) if max_memory is None else int(max_memory)
    try:
        return _read(content, allowed)
    except TooMuchMemoryError:
        raise
    except ModelFileError as error:
        raise ModelFileError(f"{name} {error}") from None
    except DamageError as error:
        raise ModelFileError(f"{name} is damaged: {error}.") from None
    except (PrioryError, RecursionError, *_MISTAKES) as error:
        reason = str(error).rstrip(".") or type(error).__name__
        raise ModelFileError(f"{name} is damaged: {reason:.300}.") from None


_MISTAKES = (TypeError, ValueError, KeyError, IndexError, AttributeError, OverflowError, OSError)
"""What wrong values may lead to; Arrow's own errors are among these."""


# Writing


def _parquet(table: pa.Table, header: bytes) -> bytes:
    import pyarrow.parquet as pq

    content = io.BytesIO()
    with pq.ParquetWriter(
        content,
        table.schema,
        compression="NONE",
        store_schema=False,
        write_statistics=False,
        dictionary_pagesize_limit=2**30,  # strings stay codes, however many there are
    ) as writer:
        writer.write_table(table, row_group_size=max(table.num_rows, 1))
        writer.add_key_value_metadata({HEADER: header})
    return sealed(content.getvalue())


def sealed(content: bytes) -> bytes:
    """Add a digest of its bytes to a Parquet file, just before the footer.

    Readers of Parquet find pages by their offsets and the footer from the end: they never see it.
    """
    end = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    return content[:end] + SEAL + _digest(content) + content[end:]


def _digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=16).digest()


def _seal(content: bytes) -> bytes:
    """Find the digest that a file carries."""
    end = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    return content[max(end - 16, 0) : max(end, 0)]


def _check_unchanged(target: str, name: str, seals: Seals) -> None:
    """Refuse to replace a file that is no longer what was read, or written, last."""
    with contextlib.suppress(FileNotFoundError):
        if target in seals and _seal(Path(target).read_bytes()) != seals[target]:
            raise ModelFileError(
                f"{name} was not written: another changed it since it was loaded, and what that "
                "one learned would be lost. Load it again and learn the rows again, or save under "
                "another name and merge."
            )


def _check_readable(content: bytes, name: str) -> None:
    """Refuse what could not be read again, and say so where it takes much memory."""
    try:
        try:
            _checked(content, name, None)
        except TooMuchMemoryError as error:
            warn(f"{name} {error}", PrioryWarning)
            _checked(content, name, sys.maxsize)
    except ModelFileError as error:
        raise ModelFileError(
            f"{name} was not written, for it could not be loaded again: {error} What was there "
            "before is as it was."
        ) from None


# Reading


def _read(content: bytes, allowed: int) -> Stored:
    import pyarrow as pa

    text = _check_layout(content)
    if len(text) > LONGEST_HEADER:
        raise DamageError(f"its header is longer than {LONGEST_HEADER:,} bytes")
    header = json.loads(text, parse_constant=_no_constant)
    _check_version(header)
    table = _read_table(pa.BufferReader(content))
    check_types(table.schema)
    table.validate(full=True)
    return _stored(table.combine_chunks(), header, text, allowed)


def _read_table(file: Any) -> pa.Table:
    limits = {"thrift_string_size_limit": LONGEST_HEADER, "pre_buffer": False}
    try:
        # What stands behind pyarrow.parquet, which would load file systems and TLS as well.
        from pyarrow._parquet import ParquetReader

        reader = ParquetReader()
        reader.open(file, read_dictionary=list(TEXTS), **limits)
        return reader.read_all(use_threads=False)
    except (ImportError, AttributeError, TypeError):
        import pyarrow.parquet as pq

        return pq.ParquetFile(file, read_dictionary=list(TEXTS), **limits).read(use_threads=False)


def _check_layout(content: bytes) -> bytes:
    """Find the header; refuse what is not whole or would unpack to far more than it is."""
    size = len(content)
    end = size - 8 - int.from_bytes(content[-8:-4], "little")
    start = end - len(SEAL) - 16
    if start < 4 or content[start : start + len(SEAL)] != SEAL:
        if content[:4] == b"PAR1" and 4 <= end < size and b"priory" not in content[end:]:
            raise ModelFileError("is a Parquet file, but no model file of priory.")
        raise DamageError("it was changed after it was written")
    if content[end - 16 : end] != _digest(content[:start] + content[end:]):
        raise DamageError("it was changed after it was written")
    footer = read_footer(content[end:-8])
    names = [name for name, _ in footer.columns]
    if names != [*COLUMNS, *SUMS]:
        raise DamageError(f"its columns are {listing(names, 20)}")
    if footer.rows > max(FEW_ROWS, ROWS_PER_BYTE * size):
        raise DamageError(f"it promises {footer.rows:,} rows in {size:,} bytes")
    if len(footer.groups) > 1:
        raise DamageError(f"it has {len(footer.groups)} groups of rows instead of one")
    for chunk in (chunk for group in footer.groups for chunk in group):
        _check_chunk(chunk, content[:start], footer.rows)
    return footer.metadata.get(HEADER, b"null")


def _check_chunk(chunk: Chunk, content: bytes, rows: int) -> None:
    """Refuse a column of another type or packing, or with pages that promise more than is there."""
    name = f"column {chunk.name!r:.40}"
    if chunk.physical != PHYSICAL[chunk.name]:
        raise DamageError(f"{name} is of Parquet's type {chunk.physical}")
    if chunk.codec != 0:
        raise DamageError(f"{name} is compressed, which priory never does")
    if chunk.values != rows:
        raise DamageError(f"{name} has {chunk.values:,} values instead of {rows:,}")
    at, end = chunk.start, chunk.start + chunk.size
    if not rows:
        return
    if not 4 <= at < end <= len(content):
        raise DamageError(f"{name} is beyond the end")
    while at < end:
        length, (unpacked, packed, n) = page_sizes(content[at : min(at + LONGEST_PAGE_HEADER, end)])
        at += length + packed
        if unpacked != packed or at > end:
            raise DamageError(f"{name} has a page of a wrong size")
        if n > max(rows, packed):
            raise DamageError(f"{name} has a page of {n:,} values")


def _check_version(header: Any) -> None:
    if not isinstance(header, dict) or not isinstance(header.get("model"), dict):
        raise DamageError("its header is no description of a model")
    version = header["model"].get("format")
    if type(version) is not int or version < 1:
        raise DamageError(f"the version of its format is {version!r:.40}")
    if version != VERSION:
        by = str(header["model"].get("priory"))[:20]
        hint = "Upgrade priory." if version > VERSION else "Train the model again."
        raise ModelFileError(
            f"has version {version} of the format, from priory {by}; this priory reads version "
            f"{VERSION}. {hint}"
        )


def _stored(table: pa.Table, header: dict[str, Any], text: bytes, allowed: int) -> Stored:
    check_schema(header)
    check_numbers(table)
    check_entries(table, header, allowed)
    statistics = Statistics.from_arrow(table.replace_schema_metadata({HEADER: text}))
    check_statistics(statistics)
    model = header["model"]
    return Stored(
        statistics,
        _settings(model["settings"]),
        _labels(model["declared"], "declared classes"),
        Provenance.from_dict(model["provenance"]),
        str(model.get("priory", "")),
        str(model.get("created", "")),
        _tuning(model.get("tuning"), statistics.schema),
        _sample(model.get("sample"), statistics),
        _moved(model.get("moved", 0)),
    )


def _labels(plain: Any, what: str) -> tuple[Label, ...]:
    if not isinstance(plain, list):
        raise DamageError(f"the {what} are no list")
    labels = tuple(plain)
    check_order(labels, what)
    return labels


def _settings(plain: Any) -> Settings:
    if not isinstance(plain, dict):
        raise DamageError("its settings are no settings")
    known = {f.name for f in fields(Settings)} - set(NOT_KEPT)
    strange = sorted(set(plain) - known)
    if strange:
        raise ModelFileError(
            f"has a setting {listing(strange)} that this priory does not know. Upgrade priory."
        )
    with _refusing("its settings cannot be honoured"):
        return Settings(**{name: from_plain(value) for name, value in plain.items()})


def _tuning(plain: Any, schema: Schema) -> Tuning | None:
    with _refusing("its tuning cannot be honoured"):
        return None if plain is None else tuning_from_plain(plain, schema)


@contextlib.contextmanager
def _refusing(what: str) -> Iterator[None]:
    """Say of which part of the file a mistake is."""
    try:
        yield
    except UnknownFamilyError as error:
        raise ModelFileError(
            f"names a family that is not registered. {error} A file holds no code: define the "
            "family and give it to priory.families.register before loading."
        ) from None
    except (SettingError, InputError, zlib.error, *_MISTAKES) as error:
        reason = str(error).rstrip(".") or type(error).__name__
        raise DamageError(f"{what}: {reason:.300}") from None


def _moved(plain: Any) -> float:
    if plain is None:
        return math.inf
    if isinstance(plain, bool) or not isinstance(plain, int | float) or not plain >= 0:
        raise DamageError(f"the rows since it was tuned are {plain!r:.40}")
    return float(plain)


def _plain_sample(sample: Sample | None) -> Any:
    from priory.classifier.sample_storage import sample_to_plain  # few files hold one

    return None if sample is None else sample_to_plain(sample)


def _sample(plain: Any, statistics: Statistics) -> Sample | None:
    if plain is None:
        return None
    from priory.classifier.sample_storage import sample_from_plain

    with _refusing("its sample cannot be read"):
        return sample_from_plain(plain, statistics.schema, statistics.classes)


def _no_constant(name: str) -> Any:
    raise DamageError(f"its header holds {name}, which is no JSON")
