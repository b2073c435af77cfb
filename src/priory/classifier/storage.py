"""The model file: the statistics as one Parquet table, everything else as JSON in its header.

A file holds no code and nothing is believed unread: sizes are checked before anything is
allocated, then a digest of all the bytes, then each part of it. Pages are not compressed (codes
and dictionaries make them small), so no file can unpack to more than it is.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import stat
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
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
from priory.classifier.layout import (
    HEADER,
    LONGEST_HEADER,
    check_layout,
    parquet,
    read_table,
    seal_of,
)
from priory.classifier.plain import from_plain, to_plain, tuning_from_plain, tuning_to_plain
from priory.classifier.provenance import Provenance
from priory.classifier.soundness import (
    DamageError,
    TooMuchMemoryError,
    check_entries,
    check_numbers,
    check_order,
    check_schema,
    check_statistics,
    check_types,
)
from priory.data.arrow import release
from priory.data.schema import Schema
from priory.statistics.sampling import Sample
from priory.statistics.statistics import Statistics
from priory.tuning.choices import not_selected
from priory.tuning.settings import Settings
from priory.tuning.tuned import Tuning

if TYPE_CHECKING:
    import pyarrow as pa


__all__ = ["Seals", "Stored", "read", "write"]

Seals: TypeAlias = dict[str, bytes]
"""The digest of each file as it was last read or written, by its path without links."""

VERSION = 3
"""The format of the file; a reader refuses any other."""

LEAST_MEMORY = 256 * 2**20
MEMORY_PER_BYTE = 100
"""Tables are dense, classes × keys, so they may take more room than the file, but so much only."""

LARGE = 100_000
"""Rows of a table beyond which memory is given back in between."""

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
    content = parquet(table.replace_schema_metadata(None), text)
    n_rows = table.num_rows
    del table  # what is read again is as large
    _tidy(n_rows)
    _check_readable(content, os.fspath(path))
    try:
        with locked(path):
            target = real_target(path)
            _check_unchanged(target, os.fspath(path), seals or {})
            with replacing(target) as made, open(made, "wb") as file:
                file.write(content)
            if seals is not None:
                seals[target] = seal_of(content)
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
        seals[os.path.realpath(path)] = seal_of(content)
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


def _check_unchanged(target: str, name: str, seals: Seals) -> None:
    """Refuse to replace a file that is no longer what was read, or written, last."""
    if target not in seals:
        return
    with contextlib.suppress(FileNotFoundError), open(target, "rb") as file:
        if seal_of(file.read()) != seals[target]:
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


def _tidy(n_rows: int) -> None:
    """Give memory back between the steps of a large table, each of which leaves much behind."""
    if n_rows > LARGE:
        release()


def _read(content: bytes, allowed: int) -> Stored:
    import pyarrow as pa

    text = check_layout(content)
    if len(text) > LONGEST_HEADER:
        raise DamageError(f"its header is longer than {LONGEST_HEADER:,} bytes")
    header = json.loads(text, parse_constant=_no_constant)
    _check_version(header)
    table = read_table(pa.BufferReader(content))
    check_types(table.schema)
    table.validate(full=True)
    _tidy(table.num_rows)
    return _stored(table.combine_chunks(), header, text, allowed)


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
    _tidy(table.num_rows)
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
