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
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from priory.base.errors import (
    InputError,
    ModelFileError,
    PrioryError,
    SettingError,
    UnknownFamilyError,
    listing,
)
from priory.base.labels import label_key
from priory.base.typing import Label
from priory.classifier.footer import Chunk, page_sizes, read_footer
from priory.classifier.plain import from_plain, to_plain, tuning_from_plain, tuning_to_plain
from priory.classifier.provenance import Provenance
from priory.data.arrow import arrow_values
from priory.data.pairing import Pairing
from priory.data.schema import Block, Kind, Schema
from priory.statistics.longtable import COLUMNS, SUMS, coded
from priory.statistics.sampling import Sample
from priory.statistics.statistics import Statistics
from priory.statistics.tables import CellsTable, LabelsTable, NumbersTable, Table
from priory.tuning.choices import not_selected
from priory.tuning.settings import Settings
from priory.tuning.tuned import Tuning

try:  # a prediction must not wait for OpenSSL, which hashlib loads
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

if TYPE_CHECKING:
    import pyarrow as pa

    from priory.statistics.tables import PairsTable, WordsTable

__all__ = ["Stored", "read", "sealed", "write"]

VERSION = 2
"""The format of the file; a reader refuses any other."""

HEADER = b"priory"
SEAL = b"priory:1"
"""Stands with a digest of all other bytes between the pages and the footer, where no one looks."""

TEXTS = COLUMNS[:4]
PHYSICAL = dict.fromkeys(TEXTS, 6) | {"rows": 2} | dict.fromkeys(SUMS, 5)
"""Parquet's numbers for its types: a string of bytes, a whole number, a number; all of 64 bits."""

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
    """Hold everything that a model file does."""

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


def write(path: str | os.PathLike[str], stored: Stored) -> None:
    """Write a model file in one step: there is the old file or the whole new one, never a part.

    The bytes go to a new file beside it, are on the disk, and then take the name.
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
    target = os.path.realpath(path)
    try:
        with _beside(target) as file:
            file.write(content)
    except OSError as error:
        raise ModelFileError(
            f"{os.fspath(path)} could not be written: {error.strerror or error}. What was there "
            "before is as it was."
        ) from error


def _left_out(stored: Stored) -> list[dict[str, Any]]:
    """Return the columns that were not selected and why, for whoever looks into the file.

    A reader of priory need not be told: it follows from the sums and the settings.
    """
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


def read(path: str | os.PathLike[str], max_memory: int | None = None) -> Stored:
    """Return what a model file holds, or raise `ModelFileError` with the reason.

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
    size = len(content)
    allowed = max(LEAST_MEMORY, MEMORY_PER_BYTE * size) if max_memory is None else int(max_memory)
    try:
        return _read(content, allowed)
    except ModelFileError as error:
        raise ModelFileError(f"{name} {error}") from None
    except _DamageError as error:
        raise ModelFileError(f"{name} is damaged: {error}.") from None
    except (PrioryError, RecursionError, *_MISTAKES) as error:
        reason = str(error).rstrip(".") or type(error).__name__
        raise ModelFileError(f"{name} is damaged: {reason:.300}.") from None


_MISTAKES = (TypeError, ValueError, KeyError, IndexError, AttributeError, OverflowError, OSError)
"""What wrong values may lead to; Arrow's own errors are among these."""


class _DamageError(Exception):
    """Say what is wrong inside of a file."""


# Writing


def _parquet(table: pa.Table, header: bytes) -> bytes:
    """Return the bytes of a model file."""
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
    """Return a Parquet file with a digest of its bytes just before the footer.

    Readers of Parquet find pages by their offsets and the footer from the end: they never see it.
    """
    end = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    return content[:end] + SEAL + _digest(content) + content[end:]


def _digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=16).digest()


@contextlib.contextmanager
def _beside(target: str) -> Iterator[Any]:
    """Open a new file that takes the target's name once everything is on the disk."""
    import tempfile  # a prediction does without

    folder, name = os.path.split(target)
    handle, made = tempfile.mkstemp(prefix=f".{name}.", suffix=".part", dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(made, _mode(target))
        os.replace(made, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(made)
        raise
    if os.name == "posix":  # the name is on the disk once its folder is
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def _mode(target: str) -> int:
    """Return the rights of the file that is replaced, or those of any new file."""
    with contextlib.suppress(OSError):
        return stat.S_IMODE(os.stat(target).st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


# Reading


def _read(content: bytes, allowed: int) -> Stored:
    import pyarrow as pa

    text = _check_layout(content)
    if len(text) > LONGEST_HEADER:
        raise _DamageError(f"its header is longer than {LONGEST_HEADER:,} bytes")
    header = json.loads(text, parse_constant=_no_constant)
    _check_version(header)
    table = _read_table(pa.BufferReader(content))
    _check_types(table.schema)
    table.validate(full=True)
    return _stored(table.combine_chunks(), header, text, allowed)


def _read_table(file: Any) -> pa.Table:
    """Return the table of a Parquet file, strings as codes."""
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
    """Return the header, and refuse what is not whole or would unpack to far more than it is."""
    size = len(content)
    end = size - 8 - int.from_bytes(content[-8:-4], "little")
    start = end - len(SEAL) - 16
    if start < 4 or content[start : start + len(SEAL)] != SEAL:
        if content[:4] == b"PAR1" and 4 <= end < size and b"priory" not in content[end:]:
            raise ModelFileError("is a Parquet file, but no model file of priory.")
        raise _DamageError("it was changed after it was written")
    if content[end - 16 : end] != _digest(content[:start] + content[end:]):
        raise _DamageError("it was changed after it was written")
    footer = read_footer(content[end:-8])
    names = [name for name, _ in footer.columns]
    if names != [*COLUMNS, *SUMS]:
        raise _DamageError(f"its columns are {listing(names, 20)}")
    if footer.rows > max(FEW_ROWS, ROWS_PER_BYTE * size):
        raise _DamageError(f"it promises {footer.rows:,} rows in {size:,} bytes")
    if len(footer.groups) > 1:
        raise _DamageError(f"it has {len(footer.groups)} groups of rows instead of one")
    for chunk in (chunk for group in footer.groups for chunk in group):
        _check_chunk(chunk, content[:start], footer.rows)
    return footer.metadata.get(HEADER, b"null")


def _check_chunk(chunk: Chunk, content: bytes, rows: int) -> None:
    """Refuse a column of another type or packing, or with pages that promise more than is there."""
    name = f"column {chunk.name!r:.40}"
    if chunk.physical != PHYSICAL[chunk.name]:
        raise _DamageError(f"{name} is of Parquet's type {chunk.physical}")
    if chunk.codec != 0:
        raise _DamageError(f"{name} is compressed, which priory never does")
    if chunk.values != rows:
        raise _DamageError(f"{name} has {chunk.values:,} values instead of {rows:,}")
    at, end = chunk.start, chunk.start + chunk.size
    if not rows:
        return
    if not 4 <= at < end <= len(content):
        raise _DamageError(f"{name} is beyond the end")
    while at < end:
        length, (unpacked, packed, n) = page_sizes(content[at : min(at + LONGEST_PAGE_HEADER, end)])
        at += length + packed
        if unpacked != packed or at > end:
            raise _DamageError(f"{name} has a page of a wrong size")
        if n > max(rows, packed):
            raise _DamageError(f"{name} has a page of {n:,} values")


def _check_version(header: Any) -> None:
    if not isinstance(header, dict) or not isinstance(header.get("model"), dict):
        raise _DamageError("its header is no description of a model")
    version = header["model"].get("format")
    if type(version) is not int or version < 1:
        raise _DamageError(f"the version of its format is {version!r:.40}")
    if version != VERSION:
        by = str(header["model"].get("priory"))[:20]
        hint = "Upgrade priory." if version > VERSION else "Train the model again."
        raise ModelFileError(
            f"has version {version} of the format, from priory {by}; this priory reads version "
            f"{VERSION}. {hint}"
        )


def _check_types(schema: Any) -> None:
    import pyarrow as pa

    text = pa.dictionary(pa.int32(), pa.string())
    for name, found in zip(schema.names, schema.types, strict=True):
        wanted = text if name in TEXTS else pa.int64() if name == "rows" else pa.float64()
        if found != wanted:
            raise _DamageError(f"column {name!r} has the type {found}")


def _stored(table: pa.Table, header: dict[str, Any], text: bytes, allowed: int) -> Stored:
    _check_schema(header)
    _check_numbers(table)
    _check_entries(table, header, allowed)
    statistics = Statistics.from_arrow(table.replace_schema_metadata({HEADER: text}))
    _check_statistics(statistics)
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


def _check_schema(header: Mapping[str, Any]) -> None:
    schema, tables, classes = header["schema"], header["tables"], header["classes"]
    columns = schema["columns"]
    if not isinstance(columns, list) or not all(isinstance(name, str) for name in columns):
        raise _DamageError("its columns have no names")
    if not isinstance(classes, list) or not all(isinstance(token, str) for token in classes):
        raise _DamageError("its classes are no list of JSON values")
    known, taken, names = set(columns), set[str](), set[str]()
    if len(known) < len(columns):
        raise _DamageError("two columns have one name")
    for block in schema["blocks"]:
        of_block = block["columns"]
        if not (isinstance(block["name"], str) and isinstance(block["why"], str)):
            raise _DamageError("a block has no name")
        if not isinstance(of_block, list) or not of_block or not known.issuperset(of_block):
            raise _DamageError(f"block {block['name']!r:.60} is of columns that are not there")
        together = "pairing" in block  # of columns that have blocks of their own as well
        if block["name"] in names or not (together or taken.isdisjoint(of_block)):
            raise _DamageError(f"block {block['name']!r:.60} stands twice")
        if len(of_block) > 1 and not Kind(block["kind"]).is_of_several:
            raise _DamageError(f"block {block['name']!r:.60} has several columns")
        if together:
            _check_pairing(block)
        elif block["kind"] == Kind.PAIRS:
            raise _DamageError(f"block {block['name']!r:.60} does not say which pairs it counts")
        else:
            taken.update(of_block)
        names.add(block["name"])
        if Kind(block["kind"]).is_counted and not isinstance(tables.get(block["name"]), dict):
            raise _DamageError(f"block {block['name']!r:.60} has no table")


def _check_pairing(block: Mapping[str, Any]) -> None:
    pairing, name = Pairing.from_dict(block["pairing"]), f"block {block['name']!r:.60}"
    if not len(pairing.edges) == len(block["columns"]) == len(set(block["columns"])):
        raise _DamageError(f"{name} has bins of other columns")
    if block["kind"] != (Kind.JOINT if pairing.use == "joint" else Kind.PAIRS):
        raise _DamageError(f"{name} is counted as {block['kind']!r:.40}")


def _check_numbers(table: pa.Table) -> None:
    for name in ("rows", *SUMS):
        if table[name].null_count:
            raise _DamageError(f"column {name!r} has gaps")
    rows = arrow_values(table["rows"], np.int64)
    if len(rows) and (rows.min() < 0 or rows.max() > 2**53):
        raise _DamageError("a number of rows is negative or beyond belief")
    for name in SUMS:
        if not np.isfinite(arrow_values(table[name], np.float64)).all():
            raise _DamageError(f"column {name!r} holds a number that is not finite")
    if (arrow_values(table["weight"], np.float64) < 0).any():
        raise _DamageError("a weight is negative")


def _check_entries(table: pa.Table, header: Mapping[str, Any], allowed: int) -> None:
    """Refuse sums that stand twice or belong to nothing, and tables too large for the memory."""
    codes = {}
    for name in TEXTS:
        found, names = coded(table[name])
        codes[name] = found.astype(np.int64) + 1
        if name != "block" and len(found) and found.min() < 0:
            raise _DamageError(f"column {name!r} has gaps")
        if name == "block":
            strange = set(names) - {block["name"] for block in header["schema"]["blocks"]}
            if strange:
                raise _DamageError(
                    f"there are sums of a block {listing(strange, 1)} it does not know"
                )
    order = np.lexsort([codes[name] for name in ("class", "key", "part", "block")])
    changes = {name: np.diff(found[order]) != 0 for name, found in codes.items()}
    new_key = changes["block"] | changes["part"] | changes["key"]
    if not (new_key | changes["class"]).all():
        raise _DamageError("a sum stands twice")
    # Words keep a sum only for the classes they occur in; the other tables are dense.
    blocks = header["schema"]["blocks"]
    of_words = {block["name"] for block in blocks if block["kind"] == Kind.WORDS}
    _, names = coded(table["block"])
    sparse = np.array([False, *(block in of_words for block in names)])[codes["block"][order]]
    keys = int((new_key & ~sparse[1:]).sum()) + 1
    # Rows, weights and the temporaries of reading: five numbers for each class and key.
    n_classes, needed = len(header["classes"]), 40 * len(header["classes"]) * keys
    needed += 200 * int(sparse.sum())
    for block in header["schema"]["blocks"]:
        d = len(block["columns"]) if Kind(block["kind"]).is_of_several else 1
        needed += 80 * n_classes * (d * d if block["kind"] == Kind.SCATTER else d)
    if needed > allowed:
        raise ModelFileError(
            f"would take about {needed / 2**20:,.0f} MB of memory, more than the "
            f"{allowed / 2**20:,.0f} allowed. If you trust it: load(path, max_memory={needed})."
        )


def _check_statistics(statistics: Statistics) -> None:
    _in_order(statistics.classes, "classes")
    for block in statistics.schema.counted:
        _check_table(statistics.tables[block.name], block)


def _check_table(table: Table, block: Block) -> None:
    name = block.name
    if isinstance(table, LabelsTable):
        _in_order(table.labels, f"values of column {name!r:.60}")
        wanted = {len(block.columns) if block.kind is Kind.JOINT else 0}
        if {len(v) if isinstance(v, tuple) else 0 for v in table.labels} - wanted:
            raise _DamageError(f"a value of {name!r:.60} is not of its columns")
    there: Any = table
    if block.kind is Kind.WORDS:
        _check_words(there, name)
    if block.kind is Kind.PAIRS:
        for column, labels in zip(block.columns, there.labels, strict=True):
            _in_order(labels, f"values of column {column!r:.60} in {name!r:.60}")
    if block.pairing is not None:
        _check_bins(there, block.pairing, name)
    cells = table.cells if isinstance(table, NumbersTable) else table
    if isinstance(cells, CellsTable):
        if not 0 <= cells.level <= 62 or not (cells.keys[:-1] < cells.keys[1:]).all():
            raise _DamageError(f"the cells of column {name!r:.60} overlap")
        most = 2 ** (63 - cells.level)
        if len(cells.keys) and not -most <= cells.keys[0] <= cells.keys[-1] < most:
            raise _DamageError(f"a cell of column {name!r:.60} is beyond all numbers")


def _check_bins(table: PairsTable | LabelsTable, pairing: Pairing, name: str) -> None:
    for j, ends in enumerate(pairing.edges):
        if ends is not None:
            bins = range(len(ends) - 1)
            values = _parts(table, j) if isinstance(table, LabelsTable) else table.labels[j]
            if any(type(v) is not int or v not in bins for v in values):
                raise _DamageError(f"a bin of {name!r:.60} is none of those it has")


def _parts(table: LabelsTable, j: int) -> list[Any]:
    return [combination[j] for combination in table.labels]


def _check_words(table: WordsTable, name: str) -> None:
    if table.dropped.shape != (table.n_classes,) or not (table.dropped >= 0).all():
        raise _DamageError(f"the words dropped of column {name!r:.60} are no numbers of words")
    if not np.isfinite(table.dropped).all():
        raise _DamageError(f"the words dropped of column {name!r:.60} are beyond belief")
    if (table.pairs.count < 0).any() or (table.pairs.log_tf < 0).any():
        raise _DamageError(f"a word of column {name!r:.60} stands less often than never")


def _in_order(labels: tuple[Any, ...], what: str) -> None:
    for label in labels:
        for part in label if isinstance(label, tuple) else (label,):
            if not isinstance(part, bool | int | float | str):
                raise _DamageError(f"the {what} hold {part!r:.40}, which is no label")
    keys = list(map(label_key, labels))
    if any(a >= b for a, b in pairwise(keys)):
        raise _DamageError(f"the {what} are not in order")


def _labels(plain: Any, what: str) -> tuple[Label, ...]:
    if not isinstance(plain, list):
        raise _DamageError(f"the {what} are no list")
    labels = tuple(plain)
    _in_order(labels, what)
    return labels


def _settings(plain: Any) -> Settings:
    if not isinstance(plain, dict):
        raise _DamageError("its settings are no settings")
    known = {f.name for f in fields(Settings)} - set(NOT_KEPT)
    strange = sorted(set(plain) - known)
    if strange:
        raise ModelFileError(
            f"has a setting {listing(strange)} that this priory does not know. Upgrade priory."
        )
    try:
        return Settings(**{name: from_plain(value) for name, value in plain.items()})
    except UnknownFamilyError as error:
        raise _unregistered(error) from None
    except (SettingError, InputError, *_MISTAKES) as error:
        raise _DamageError(f"its settings cannot be honoured: {str(error).rstrip('.')}") from None


def _tuning(plain: Any, schema: Schema) -> Tuning | None:
    if plain is None:
        return None
    try:
        return tuning_from_plain(plain, schema)
    except UnknownFamilyError as error:
        raise _unregistered(error) from None
    except (SettingError, InputError, *_MISTAKES) as error:
        reason = str(error).rstrip(".") or type(error).__name__
        raise _DamageError(f"its tuning cannot be honoured: {reason}") from None


def _unregistered(error: UnknownFamilyError) -> ModelFileError:
    return ModelFileError(
        f"names a family that is not registered. {error} A file holds no code: define the family "
        "and give it to priory.families.register before loading."
    )


def _moved(plain: Any) -> float:
    if plain is None:
        return math.inf
    if isinstance(plain, bool) or not isinstance(plain, int | float) or not plain >= 0:
        raise _DamageError(f"the rows since it was tuned are {plain!r:.40}")
    return float(plain)


def _plain_sample(sample: Sample | None) -> Any:
    from priory.classifier.sample_storage import sample_to_plain  # few files hold one

    return None if sample is None else sample_to_plain(sample)


def _sample(plain: Any, statistics: Statistics) -> Sample | None:
    if plain is None:
        return None
    from priory.classifier.sample_storage import sample_from_plain

    try:
        return sample_from_plain(plain, statistics.schema, statistics.classes)
    except (SettingError, InputError, zlib.error, *_MISTAKES) as error:
        reason = str(error).rstrip(".") or type(error).__name__
        raise _DamageError(f"its sample cannot be read: {reason:.200}") from None


def _no_constant(name: str) -> Any:
    raise _DamageError(f"its header holds {name}, which is no JSON")
