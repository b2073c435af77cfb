"""Count a source batch by batch, and widen columns that turn out to hold something else.

A column of text is read as numbers as long as every value seen is one. When a later value is not,
the other columns are counted to the end all the same; then the source is read once more for such
columns, as labels. So a file is read twice at most.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
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
from priory.sources.csv import FALSE, TRUE
from priory.sources.prefetch import prefetch
from priory.sources.progress import Progress
from priory.statistics.sampling import Pool, Sample
from priory.statistics.statistics import Statistics
from priory.tuning.kinds import declared_kinds
from priory.tuning.settings import Settings

__all__ = ["Task", "count", "in_known_types", "read_classes", "sample_schema", "typed_classes"]

WIDENED = "numbers at first, then text"


@dataclass(frozen=True)
class Task:
    """What is counted: the columns of a source and their roles, and how they are read."""

    source: Source
    target: str
    features: tuple[str, ...]
    weight: str | None
    settings: Settings
    forms: Mapping[str, Form]
    known: Sequence[Label] = ()
    """Classes of a model, whose types new ones must have."""
    most_classes: int | None = None
    sample_size: int = 0
    progress: bool | None = None
    again: bool = False
    """Whether the rows were counted before, so that warnings are not repeated."""

    def batches(self) -> Iterator[Batch]:
        """Iterate over the rows, reading ahead; classes of text files stay as written."""
        wanted = {name: self.forms[name] for name in self.features}
        typed = self.forms[self.target] is Form.NATURAL
        wanted[self.target] = Form.NATURAL if typed else Form.TEXT
        if self.weight is not None:
            wanted[self.weight] = Form.NATURAL if typed else Form.NUMBER
        with closing(prefetch(self.source.batches(wanted))) as batches:
            yield from batches


def sample_schema(task: Task) -> Schema:
    """Infer the kinds of the columns from the first rows."""
    wanted = {name: task.forms[name] for name in task.features}
    batches = list(task.source.batches(wanted, SAMPLE_ROWS))
    if not any(batch.n_rows for batch in batches):
        raise InputError(f"{task.source.name} has no rows{_where_hint(task.source)}.")
    raw = _joined(batches, task.features).table(task.features)
    schema = infer(raw, declared_kinds(task.settings, raw))
    # Only the whole source can tell whether strings never repeat; until then they are counted.
    blocks = (
        replace(block, kind=Kind.LABELS, why="strings") if block.kind is Kind.IDENTIFIER else block
        for block in schema
    )
    return replace(schema, blocks=tuple(blocks))


def count(task: Task, schema: Schema) -> tuple[Statistics, Sample | None]:
    """Count all rows of a source, and keep a sample of them."""
    with Progress(task.source, task.progress) as bar:
        tally = _Tally(task, schema)
        for batch in task.batches():
            tally.add(batch)
            bar.add(batch.n_rows)
        total, sample = tally.total(), tally.sample
        if tally.misread:
            total, sample = _widened(task, total, sorted(tally.misread), bar)
    if tally.unlabelled and not task.again:
        warn(
            f"{tally.unlabelled:,} rows of {task.source.name} have no {task.target!r} and were "
            "skipped: a row can be learned only with its class.",
            PrioryWarning,
        )
    return total, sample


class _Tally:
    """A running count of the batches of a source."""

    def __init__(self, task: Task, schema: Schema) -> None:
        self._task = task
        self._counter = Counter(
            task.settings, schema, sample_size=task.sample_size, in_batches=True
        )
        self._classes: set[Any] = set()
        self.misread: set[str] = set()
        self.unlabelled = 0

    def add(self, batch: Batch) -> tuple[Labels, Any] | None:
        """Count some rows; the result is their classes and weights, None without a class."""
        task = self._task
        self._check_misread(batch)
        labels = read_classes(batch.columns[task.target], task.target, task.known)
        weight = None if task.weight is None else np.asarray(batch.columns[task.weight], float)
        if labels.missing.any():  # a row of weight zero is not a row
            self.unlabelled += int(labels.missing.sum())
            weight = np.where(labels.missing, 0.0, 1.0 if weight is None else weight)
            labels = Labels(np.maximum(labels.codes, 0), labels.labels)
        self._classes.update(map(label_key, labels.labels))
        if task.most_classes is not None and len(self._classes) > task.most_classes:
            found = [key[-1] for key in self._classes]
            raise InputError(_too_many(task.target, task.most_classes, found))
        if not labels.labels:
            return None
        raw = batch.table(task.features)
        raw.read_columns(raw.names)
        if self.misread:
            self._counter.pool = None  # all rows are read once more
        self._counter.add(raw, labels, weight)
        return labels, read_weights(weight, raw.n_rows)

    def _check_misread(self, batch: Batch) -> None:
        """Note columns that hold something else; declared and learned kinds must hold."""
        for name in batch.misread - self.misread:
            if name == self._task.weight:
                raise InputError(f"The weights in column {name!r} must be numbers.")
            block = next((b for b in self._counter.schema or () if name in b.columns), None)
            if block is not None and (block.why == "declared" or self._task.known):
                raise SchemaError(
                    f"Column {name!r} is read as {block.kind}, but holds something else. If that "
                    "stands for a missing value, name it in na_values."
                )
            self.misread.add(name)

    def total(self) -> Statistics:
        """Add everything up, with the kinds that all the rows together have."""
        source = self._task.source
        if self._counter.is_empty:
            reason = "no row has a class" if self.unlabelled else "there are no rows"
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
        """The sample of the rows, if one was asked for."""
        return self._counter.sample


def _widened(
    task: Task, total: Statistics, late: Sequence[str], bar: Progress
) -> tuple[Statistics, Sample | None]:
    """Count some columns once more, as text, and sample the rows anew."""
    examples = [task.source.example(name, task.forms[name]) for name in late]
    shown = ", ".join(f"{n!r} ({v!r:.40})" for n, v in zip(late, examples, strict=True))
    warn(
        f"Column {shown} holds {task.forms[late[0]]} in the first rows and something else later: "
        "it is read as labels. If that stands for a missing value, name it in na_values.",
        PrioryWarning,
    )
    widened = {name: Block(name, (name,), Kind.LABELS, WIDENED) for name in late}
    task = replace(task, forms={**task.forms, **dict.fromkeys(late, Form.TEXT)}, most_classes=None)
    of_late = replace(
        task,
        features=tuple(late),
        settings=task.settings.changed(
            families="plain", smoothing=1.0, missing="skip", unseen="skip"
        ),
        sample_size=0,
    )
    tally = _Tally(of_late, Schema(tuple(late), tuple(widened.values())))
    whole = _with_blocks(total.schema, widened)
    pool = Pool(task.sample_size) if task.sample_size else None
    for batch in (of_late if pool is None else task).batches():
        counted = tally.add(batch)
        if pool is not None and counted is not None:
            pool.add(read(batch.table(task.features), whole), *counted)
        bar.add(batch.n_rows)
    found = tally.total()
    if not np.array_equal(found.rows, total.rows):
        raise InputError(f"{task.source.name} changed while it was read.")
    schema = _with_blocks(total.schema, {block.name: block for block in found.schema})
    tables = {
        block.name: (found if block.name in widened else total).tables[block.name]
        for block in schema.counted
    }
    both = Statistics(schema, total.classes, total.rows, total.weight, tables)
    return both, None if pool is None else pool.sample


def _with_blocks(schema: Schema, changed: Mapping[str, Block]) -> Schema:
    return replace(schema, blocks=tuple(changed.get(block.name, block) for block in schema))


def read_classes(column: Any, target: str, known: Sequence[Label]) -> Labels:
    """Read the class of each row, in the type of known ones; it may be missing."""
    found = natural(column, target)
    if found.why.startswith(("date", "duration")):
        return read_labels(column, f"Column {target!r}")  # which says why not
    return in_known_types(found.column.as_labels(), known)


def typed_classes(statistics: Statistics) -> Statistics:
    """Convert classes that were read as text to the type that all of them fit.

    Integers, numbers and booleans are recognized as in a CSV file.
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
    """Convert labels that were read as text to the type of known ones."""
    if not known or any(isinstance(label, str) for label in known):
        return labels
    typed = _in_one_type(labels.labels)
    return labels if typed is None else Labels(labels.codes, tuple(typed))


def _in_one_type(labels: Sequence[Label]) -> list[Label] | None:
    if not labels or not all(isinstance(label, str) for label in labels):
        return None
    typed: list[Label]
    if all(label in (*TRUE, *FALSE) for label in labels):
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


def _too_many(target: str, most: int, classes: Sequence[Any]) -> str:
    try:
        [float(label) for label in classes]
        looks = (
            "it looks like a number to be predicted. A classifier needs classes: cut it into "
            "ranges first, such as CASE WHEN x < 10 THEN 'low' ELSE 'high' END in a query"
        )
    except (TypeError, ValueError):
        examples = listing(sorted(classes, key=str), 3)
        looks = f"it looks like a unique identifier of the rows: {examples}"
    return (
        f"Column {target!r} has more than {most:,} different values; {looks}. "
        f"If they are classes nevertheless: max_classes={10 * most}."
    )


def _where_hint(source: Source) -> str:
    return " that meet the condition" if source.where else ""
