"""Count a source batch by batch, and widen columns that turn out to hold something else.

A column of text is read as numbers as long as every value seen is one. When a later value is not,
the other columns are counted to the end all the same; then the source is read once more for such
columns, as labels. So a file is read twice at most, and never given up after an hour.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np

from priory.base.errors import InputError, PrioryWarning, SchemaError, listing, warn
from priory.base.labels import label_key
from priory.base.typing import Label
from priory.classifier.counter import Counter, without_columns
from priory.data.columns import Labels
from priory.data.natural import natural
from priory.data.reading import infer, read, read_labels, read_weights
from priory.data.schema import Block, Kind, Schema
from priory.sources.base import SAMPLE_ROWS, Batch, Form, Source
from priory.sources.prefetch import prefetch
from priory.sources.progress import Progress
from priory.statistics.sampling import Pool, Sample
from priory.statistics.statistics import Statistics
from priory.tuning.kinds import declared_kinds
from priory.tuning.settings import Settings

__all__ = ["Roles", "count_source", "in_known_types", "sample_schema", "typed_classes"]

WIDENED = "numbers at first, then text"


class Roles:
    """Say which columns are the class, the weight and the features."""

    def __init__(self, target: str, features: Sequence[str], weight: str | None = None) -> None:
        self.target, self.features, self.weight = target, tuple(features), weight

    def forms(self, forms: Mapping[str, Form]) -> dict[str, Form]:
        """Return how to read what is needed: a text's class as it is written, a weight's number."""
        wanted = {name: forms[name] for name in self.features}
        natural = forms[self.target] is Form.NATURAL
        wanted[self.target] = Form.NATURAL if natural else Form.TEXT
        if self.weight is not None:
            wanted[self.weight] = Form.NATURAL if natural else Form.NUMBER
        return wanted


def sample_schema(source: Source, roles: Roles, settings: Settings) -> Schema:
    """Return what the first rows say of the columns."""
    forms = source.forms()
    wanted = {name: forms[name] for name in roles.features}
    batches = list(source.batches(wanted, SAMPLE_ROWS))
    rows = sum(batch.n_rows for batch in batches)
    if not rows:
        raise InputError(f"{source.name} has no rows{_where_hint(source)}.")
    raw = _joined(batches, roles.features).table(roles.features)
    schema = infer(raw, declared_kinds(settings, raw))
    # Only the whole source can tell whether strings never repeat; until then they are counted.
    return _with_kinds(schema, Kind.IDENTIFIER, Kind.LABELS, "strings")


def count_source(
    source: Source,
    roles: Roles,
    schema: Schema,
    settings: Settings,
    forms: Mapping[str, Form],
    known: Sequence[Label] = (),
    most_classes: int | None = None,
    progress: bool | None = None,
    sample_size: int = 0,
    again: bool = False,
) -> tuple[Statistics, Sample | None]:
    """Count all rows of a source, and keep a sample of so many.

    `known` classes say what type classes have. What was said of rows is not said `again`.
    """
    with Progress(source, progress) as bar:
        tally = _Tally(schema, settings, roles, known, most_classes, sample_size)
        for batch in _ahead(source, roles.forms(forms)):
            tally.add(batch)
            bar.add(batch.n_rows)
        total, sample = tally.total(source), tally.sample
        if late := sorted(tally.misread):
            found = (source, roles, settings, forms, late, total, known, bar, sample_size)
            total, sample = _widened(*found)
    if tally.without_class and not again:
        warn(
            f"{tally.without_class:,} rows of {source.name} have no {roles.target!r} and were left "
            "out: a row can be learned only with its class.",
            PrioryWarning,
        )
    return total, sample


class _Tally:
    """Count the batches of a source: find their classes and weights, and what was misread."""

    def __init__(
        self,
        schema: Schema,
        settings: Settings,
        roles: Roles,
        known: Sequence[Label],
        most_classes: int | None,
        sample_size: int = 0,
    ) -> None:
        self._counter = Counter(settings, schema, sample_size=sample_size, in_batches=True)
        self._roles, self._known, self._most_classes = roles, known, most_classes
        self._classes: set[Any] = set()
        self.misread: set[str] = set()
        self.without_class = 0

    def add(self, batch: Batch) -> tuple[Labels, Any] | None:
        """Count some rows, and return their classes and weights; None where no row has a class."""
        roles = self._roles
        self._check_misread(batch)
        labels = _classes(batch.columns[roles.target], roles.target)
        weight = None if roles.weight is None else np.asarray(batch.columns[roles.weight], float)
        if labels.missing.any():  # a row of weight zero is not a row
            self.without_class += int(labels.missing.sum())
            weight = np.where(labels.missing, 0.0, 1.0 if weight is None else weight)
            labels = Labels(np.maximum(labels.codes, 0), labels.labels)
        labels = in_known_types(labels, self._known)
        self._note_classes(labels)
        if not labels.labels:
            return None
        raw = batch.table(roles.features)
        raw.read_columns(raw.names)
        if self.misread:
            self._counter.pool = None  # all rows are read once more
        self._counter.add(raw, labels, weight)
        return labels, read_weights(weight, raw.n_rows)

    def _check_misread(self, batch: Batch) -> None:
        """Note columns that hold something else; what was declared must be as declared."""
        for name in batch.misread - self.misread:
            if name == self._roles.weight:
                raise InputError(f"The weights in column {name!r} must be numbers.")
            block = next((b for b in self._counter.schema or () if name in b.columns), None)
            if block is not None and (block.why == "declared" or self._known):
                raise SchemaError(
                    f"Column {name!r} is read as {block.kind}, but holds something else. Is it a "
                    "gap? Then name it in na_values."
                )
            self.misread.add(name)

    def _note_classes(self, labels: Labels) -> None:
        self._classes.update(map(label_key, labels.labels))
        if self._most_classes is not None and len(self._classes) > self._most_classes:
            raise InputError(
                _too_many(self._roles.target, self._most_classes, [k[-1] for k in self._classes])
            )

    def total(self, source: Source) -> Statistics:
        """Return the sum of everything, with the kinds that all the rows together have."""
        if self._counter.is_empty:
            reason = "no row has a class" if self.without_class else "there are no rows"
            raise InputError(f"{source.name}: {reason} to learn{_where_hint(source)}.")
        total = self._counter.total()
        never = [
            block.name
            for block in total.schema.counted
            if block.kind is Kind.LABELS and _never_repeats(block, total.tables[block.name])
        ]
        return without_columns(total, never)

    @property
    def sample(self) -> Sample | None:
        """The sample of the rows, where one was asked for."""
        return self._counter.sample


def _widened(
    source: Source,
    roles: Roles,
    settings: Settings,
    forms: Mapping[str, Form],
    late: Sequence[str],
    total: Statistics,
    known: Sequence[Label],
    bar: Progress,
    sample_size: int,
) -> tuple[Statistics, Sample | None]:
    """Count some columns once more, as text.

    A sample was taken of rows that were misread, so it is taken anew.
    """
    examples = [source.example(name, forms[name]) for name in late]
    shown = ", ".join(f"{n!r} ({v!r:.40})" for n, v in zip(late, examples, strict=True))
    warn(
        f"Column {shown} holds {forms[late[0]]} in the first rows and something else later: it is "
        "read as labels. If that stands for a gap, name it in na_values.",
        PrioryWarning,
    )
    blocks = tuple(Block(name, (name,), Kind.LABELS, WIDENED) for name in late)
    of_late = Roles(roles.target, late, roles.weight)
    plain = settings.changed(families="plain", smoothing=1.0, missing="skip", unseen="skip")
    again = _Tally(Schema(tuple(late), blocks), plain, of_late, known, None)
    texts = {**forms, **dict.fromkeys(late, Form.TEXT)}
    named = {block.name: block for block in blocks}
    whole = replace(total.schema, blocks=tuple(named.get(b.name, b) for b in total.schema))
    pool = Pool(sample_size) if sample_size else None
    for batch in _ahead(source, (of_late if pool is None else roles).forms(texts)):
        counted = again.add(batch)
        if pool is not None and counted is not None:
            frame = read(batch.table(roles.features), whole)
            pool.add(frame, *counted)
        bar.add(batch.n_rows)
    found = again.total(source)
    if not np.array_equal(found.rows, total.rows):
        raise InputError(f"{source.name} changed while it was read.")
    new = {block.name: block for block in found.schema}
    schema = replace(total.schema, blocks=tuple(new.get(b.name, b) for b in total.schema))
    tables = {
        block.name: (found if block.name in new else total).tables[block.name]
        for block in schema.counted
    }
    both = Statistics(schema, total.classes, total.rows, total.weight, tables)
    return both, None if pool is None else pool.sample


def typed_classes(statistics: Statistics) -> Statistics:
    """Return the statistics with classes that were read as text in the type that all of them have.

    Whole numbers, numbers and truths are told from text as a reader of CSV files does.
    """
    labels = _in_one_type(statistics.classes)
    if labels is None:
        return statistics
    order = np.array(sorted(range(len(labels)), key=lambda k: label_key(labels[k])), dtype=np.intp)
    tables = {name: table.only_classes(order) for name, table in statistics.tables.items()}
    return Statistics(
        statistics.schema,
        tuple(labels[k] for k in order.tolist()),
        statistics.rows[order],
        statistics.weight[order],
        tables,
    )


def in_known_types(labels: Labels, known: Sequence[Label]) -> Labels:
    """Return labels that were read as text in the type that known ones have."""
    if not known or any(isinstance(label, str) for label in known):
        return labels
    typed = _in_one_type(labels.labels)
    return labels if typed is None else Labels(labels.codes, tuple(typed))


def _in_one_type(labels: Sequence[Label]) -> list[Label] | None:
    if not labels or not all(isinstance(label, str) for label in labels):
        return None
    typed: list[Label]
    if all(label in ("true", "True", "TRUE", "false", "False", "FALSE") for label in labels):
        typed = [str(label).lower() == "true" for label in labels]
    else:
        try:
            numbers = [float(label) for label in labels]
        except ValueError:
            return None
        if not np.isfinite(numbers).all():
            return None
        typed = [int(x) if x == int(x) else x for x in numbers]
    return typed if len({label_key(label) for label in typed}) == len(labels) else None


def _classes(column: Any, target: str) -> Labels:
    """Return the class of each row; unlike at learning, there may be gaps."""
    found = natural(column, target)
    if found.why.startswith(("date", "duration")):
        return read_labels(column, f"Column {target!r}")  # which says why not
    return found.column.as_labels()


def _ahead(source: Source, forms: Mapping[str, Form]) -> Iterator[Batch]:
    with closing(prefetch(source.batches(forms))) as batches:
        yield from batches


def _joined(batches: Sequence[Batch], names: Sequence[str]) -> Batch:
    if len(batches) == 1:
        return batches[0]
    import pyarrow as pa

    columns = {}
    for name in names:
        parts = [batch.columns[name] for batch in batches]
        chunks = [c for p in parts for c in (p.chunks if isinstance(p, pa.ChunkedArray) else [p])]
        columns[name] = pa.chunked_array(chunks)
    return Batch(columns, sum(batch.n_rows for batch in batches))


def _never_repeats(block: Block, table: Any) -> bool:
    n = int(table.rows.sum())
    return block.why == "strings" and n >= 1000 and len(table.labels) == n


def _with_kinds(schema: Schema, old: Kind, new: Kind, why: str) -> Schema:
    blocks = tuple(replace(b, kind=new, why=why) if b.kind is old else b for b in schema)
    return replace(schema, blocks=blocks)


def _too_many(target: str, most: int, classes: Sequence[Any]) -> str:
    try:
        [float(label) for label in classes]
    except (TypeError, ValueError):
        looks = (
            f"it names its rows rather than classes them: {listing(sorted(classes, key=str), 3)}"
        )
    else:
        looks = (
            "it looks like a number to be predicted. A classifier needs classes: cut it into "
            "ranges first, such as CASE WHEN x < 10 THEN 'low' ELSE 'high' END in a query"
        )
    return (
        f"Column {target!r} has more than {most:,} different values; {looks}. "
        f"If they are classes all the same: max_classes={10 * most}."
    )


def _where_hint(source: Source) -> str:
    return " that meet the condition" if getattr(source, "_where", None) else ""
