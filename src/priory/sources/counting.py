"""Count a source batch by batch, and widen columns that turn out to hold something else.

A column of text is read as numbers as long as every value seen is one. When a later value is not,
the other columns are counted to the end all the same; then the source is read once more for such
columns, as labels. So a file is read twice at most. Classes have the type of those in the first
rows; where a later one has another, all are counted anew, as strings.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from priory.base.errors import InputError, PrioryWarning, listing, warn
from priory.base.labels import label_key
from priory.base.typing import Label
from priory.classifier.counter import Counter, without_columns, without_identifiers
from priory.data.arrow import release
from priory.data.columns import Labels
from priory.data.gaps import tidied
from priory.data.natural import natural
from priory.data.numerals import NUMERAL
from priory.data.reading import infer, read, read_labels, read_weights
from priory.data.schema import Block, Kind, Schema
from priory.sources.base import SAMPLE_ROWS, Batch, Form, Reading, Source
from priory.sources.fitting import fitted, not_fitting, without_rows
from priory.sources.prefetch import prefetch
from priory.sources.progress import Progress
from priory.statistics.sampling import Pool, Sample, joined
from priory.statistics.statistics import Statistics
from priory.tuning.kinds import declared_kinds
from priory.tuning.settings import Settings

__all__ = [
    "Counted",
    "OtherClasses",
    "Tally",
    "Task",
    "check_class_count",
    "choose_analyzers",
    "class_form",
    "count",
    "in_known_types",
    "read_classes",
    "sample_schema",
    "tell_unlabelled",
    "without_unique",
]

WIDENED = "numbers at first, then text"
SAMPLE_VALUES = 2_500_000
"""As many values are looked at, at most, to infer the kinds of columns."""


class OtherClasses(Exception):  # noqa: N818
    """Raised if a class does not have the type of those in the first rows."""


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
    learned: Mapping[str, Form] = field(default_factory=dict)
    """The forms of columns that a model has learned, which strings are converted to."""
    class_form: Form = Form.TEXT
    """What the classes of a text file are, by those in the first rows."""
    most_classes: int | None = None
    sample_size: int = 0
    progress: bool | None = None
    again: bool = False
    """Whether the rows were counted before, so that warnings are not repeated."""

    def batches(self, most: int | None = None) -> Iterator[Batch]:
        """Iterate over the rows, reading ahead; classes of text files stay as written."""
        wanted = {name: self.forms[name] for name in self.features if name in self.forms}
        typed = self.forms[self.target] is Form.NATURAL
        wanted[self.target] = Form.NATURAL if typed else Form.TEXT
        if self.weight is not None:
            wanted[self.weight] = Form.NATURAL if typed else Form.NUMBER
        with closing(prefetch(self.source.batches(wanted, most))) as batches:
            for batch in batches:
                yield fitted(batch, self.learned, self.source.reading)


def sample_schema(task: Task) -> Schema:
    """Infer the kinds of the columns from the first rows."""
    wanted = {name: task.forms[name] for name in task.features}
    batches, values = [], 0
    for batch in task.source.batches(wanted, SAMPLE_ROWS):
        batches.append(batch)
        values += batch.n_rows * len(wanted)
        if values >= SAMPLE_VALUES:
            break
    if not any(batch.n_rows for batch in batches):
        raise InputError(f"{task.source.name} has no rows{_where_hint(task.source)}.")
    raw = _joined(batches, task.features).table(task.features)
    schema = infer(raw, declared_kinds(task.settings, raw))
    del raw, batches, batch
    release()
    # Only the whole source can tell whether strings never repeat; until then they are counted.
    blocks = (
        replace(block, kind=Kind.LABELS, why="strings") if block.kind is Kind.IDENTIFIER else block
        for block in schema
    )
    return replace(schema, blocks=tuple(blocks))


def choose_analyzers(task: Task, schema: Schema) -> Schema:
    """Choose how texts are split into words by the first rows, where that is left open."""
    if "auto" not in task.settings.text.values():
        return schema
    from priory.tuning.analyzers import with_analyzers  # few tables are texts

    batch = _joined(list(task.batches(SAMPLE_ROWS)), (*task.features, task.target))
    given = (batch.columns[task.target], task.target, task.source.reading)
    labels = read_classes(*given, task.known, task.class_form)
    some = np.flatnonzero(~labels.missing)
    frame = read(batch.table(task.features), schema).take(some)
    return with_analyzers(task.settings, schema, frame, labels.take(some))[0]


@dataclass(frozen=True)
class Counted:
    """What was counted of some rows; parts of them that were counted apart add up.

    There are no sums where there were no rows with a class.
    """

    total: Statistics | None
    sample: Sample | None
    unlabelled: int = 0
    left_out: tuple[str, ...] = ()
    """Why rows were left out, row by row."""

    def __add__(self, other: Counted) -> Counted:
        totals = [one.total for one in (self, other) if one.total is not None]
        samples = [one.sample for one in (self, other) if one.sample is not None]
        return Counted(
            without_identifiers(totals[0] + totals[1]) if len(totals) > 1 else (*totals, None)[0],
            joined(samples) if samples else None,
            self.unlabelled + other.unlabelled,
            self.left_out + other.left_out,
        )


def count(task: Task, schema: Schema) -> tuple[Statistics, Sample | None]:
    """Count all rows of a source, here or where they are, and keep a sample of them."""
    counted = task.source.count_there(task, schema)
    if counted is not None:
        total, sample = _whole(task, counted), counted.sample
        for reason in counted.left_out:
            task.source.skipped.add(reason)
    else:
        with Progress(task.source, task.progress) as bar:
            tally = Tally(task, schema)
            for batch in task.batches():
                tally.add(batch)
                bar.add(batch.n_rows)
            counted = tally.counted()
            total, sample = _whole(task, counted), counted.sample
            if tally.misread:
                total, sample = _widened(task, total, tally.misread, bar)
            total = _told_integers(total, tally.fractions)
    if not task.again:
        task.source.skipped.tell(task.source.name)
        tell_unlabelled(task, counted.unlabelled)
    return total, sample


def tell_unlabelled(task: Task, rows: int) -> None:
    """Warn of rows that have no class."""
    if rows:
        warn(
            f"{rows:,} rows of {task.source.name} have no {task.target!r} and were "
            "skipped: a row can be learned only with its class.",
            PrioryWarning,
        )


class Tally:
    """A running count of the batches of a source."""

    def __init__(self, task: Task, schema: Schema) -> None:
        self._task = task
        self._counter = Counter(
            task.settings, schema, sample_size=task.sample_size, in_batches=True
        )
        self._classes: set[Any] = set()
        words = (block.columns for block in schema if block.kind is Kind.WORDS)
        self._texts = {name for columns in words for name in columns}  # which are no labels
        self.misread: dict[str, str] = {}
        """The columns that hold something else, with an example."""
        self.fractions: set[str] = set()
        """The columns of integers that hold fractions after all."""
        self.unlabelled = 0

    def add(self, batch: Batch) -> tuple[Labels, Any] | None:
        """Count some rows; the result is their classes and weights, None without a class."""
        task = self._task
        batch = self._checked(batch)
        reading = task.source.reading
        given = (batch.columns[task.target], task.target, reading)
        labels = read_classes(*given, task.known, task.class_form)
        weight = None if task.weight is None else np.asarray(batch.columns[task.weight], float)
        if labels.missing.any():  # a row of weight zero is not a row
            self.unlabelled += int(labels.missing.sum())
            weight = np.where(labels.missing, 0.0, 1.0 if weight is None else weight)
            labels = Labels(np.maximum(labels.codes, 0), labels.labels)
        weight = read_weights(weight, batch.n_rows, f"weight={task.weight!r}", batch.place)
        self._classes.update(map(label_key, labels.labels))
        check_class_count(task, [key[-1] for key in self._classes])
        if not labels.labels:
            return None
        raw = batch.table(task.features)
        raw.read_columns([name for name in raw.names if name not in self._texts])
        if self.misread:
            self._counter.pool = None  # all rows are read once more
        self._counter.add(raw, labels, weight)
        return labels, weight

    def _checked(self, batch: Batch) -> Batch:
        """Note columns that hold something else; declared and learned kinds must hold.

        There rows that do not fit are left out, or refused.
        """
        task, firm = self._task, dict[int, str]()
        for name in task.features:
            whole = task.forms.get(name) is Form.INTEGER
            if whole and str(getattr(batch.columns.get(name), "type", "")) == "double":
                self.fractions.add(name)
        for name, odd in batch.misread.items():
            if name == task.weight:
                told = f"the weights in column {name!r} must be numbers, not {odd.values[0]!r:.60}"
                firm.setdefault(odd.rows[0], told)
                continue
            block = next((b for b in self._counter.schema or () if name in b.columns), None)
            if block is None or (block.why != "declared" and not task.known):
                self.misread.setdefault(name, odd.values[0])
                continue
            for row, value in zip(*odd, strict=True):
                form = task.learned.get(name, task.forms[name])
                told = not_fitting(name, form, value)
                if block.why == "declared":
                    told += f"; or learn it as categories: families={{{name!r}: 'categorical'}}"
                firm.setdefault(row, told)
        if not firm:
            return batch
        return without_rows(batch, firm, task.source)

    def counted(self) -> Counted:
        """Add up what came so far."""
        total = None if self._counter.is_empty else self._counter.total()
        return Counted(total, self._counter.sample, self.unlabelled)


def _whole(task: Task, counted: Counted) -> Statistics:
    """Give the columns the kinds that all the rows together have."""
    source, total = task.source, counted.total
    if total is None:
        reason = "no row has a class" if counted.unlabelled else "there are no rows"
        raise InputError(f"{source.name}: {reason} to learn{_where_hint(source)}.")
    return without_unique(total)


def without_unique(total: Statistics) -> Statistics:
    """Leave out columns of strings that turned out never to repeat."""
    never = [
        block.name
        for block in total.schema.counted
        if block.kind is Kind.LABELS and _never_repeats(block, total.tables[block.name])
    ]
    return without_columns(total, never)


def _widened(
    task: Task, total: Statistics, misread: Mapping[str, str], bar: Progress
) -> tuple[Statistics, Sample | None]:
    """Count some columns once more, as text, and sample the rows anew."""
    late = sorted(misread)
    shown = ", ".join(f"{name!r} ({misread[name]!r:.40})" for name in late)
    form = Form.NUMBER if task.forms[late[0]] is Form.INTEGER else task.forms[late[0]]
    warn(
        f"Column {shown} holds {form} in the first rows and something else later: "
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
    tally = Tally(of_late, Schema(tuple(late), tuple(widened.values())))
    whole = _with_blocks(total.schema, widened)
    pool = Pool(task.sample_size) if task.sample_size else None
    for batch in (of_late if pool is None else task).batches():
        counted = tally.add(batch)
        if pool is not None and counted is not None:
            pool.add(read(batch.table(task.features), whole), *counted)
        bar.add(batch.n_rows)
    found = _whole(of_late, tally.counted())
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


def read_classes(
    column: Any,
    target: str,
    reading: Reading,
    known: Sequence[Label] = (),
    form: Form = Form.TEXT,
) -> Labels:
    """Read the class of each row, in a form, or the type of known ones; it may be missing."""
    found = natural(column, target)
    if found.why.startswith(("date", "duration")):
        return read_labels(column, f"Column {target!r}")  # which says why not
    labels = found.column.as_labels()
    if not all(isinstance(label, str) for label in labels.labels):
        return labels
    is_named = any(isinstance(label, str) for label in known) if known else form is Form.TEXT
    labels = tidied(labels, reading.class_gaps if is_named else reading.gap_words)
    if known:
        return in_known_types(labels, known)
    if form is Form.TEXT:
        return labels
    typed = _in_one_type(labels, form is Form.BOOLEAN)
    if typed is None:
        raise OtherClasses
    return typed


def class_form(target: str, forms: Mapping[str, Form]) -> Form:
    """Find what the classes in the first rows of a text file are."""
    form = forms[target]
    return form if form in (Form.INTEGER, Form.NUMBER, Form.BOOLEAN) else Form.TEXT


def in_known_types(labels: Labels, known: Sequence[Label]) -> Labels:
    """Convert labels that were read as text to the type of known ones."""
    if not known or any(isinstance(label, str) for label in known):
        return labels
    typed = _in_one_type(labels, all(isinstance(label, bool) for label in known))
    return labels if typed is None else typed


def _in_one_type(labels: Labels, booleans: bool) -> Labels | None:
    """Convert strings to booleans or numbers, those of the same value to one; else None."""
    texts = [label for label in labels.labels if isinstance(label, str)]
    if len(texts) < len(labels.labels):
        return None
    typed: list[Label]
    if booleans:
        if not all(text.lower() in ("true", "false") for text in texts):
            return None
        typed = [text.lower() == "true" for text in texts]
    else:
        if not all(NUMERAL.fullmatch(text) for text in texts):
            return None
        numbers = [float(text) for text in texts]
        if not np.isfinite(numbers).all():
            return None
        typed = [int(x) if x == int(x) else x for x in numbers]
    kept = tuple(dict.fromkeys(typed))
    codes = np.array([*map(kept.index, typed), -1], dtype=np.int32)
    return Labels(codes[labels.codes], kept)


def _told_integers(total: Statistics, fractions: Collection[str]) -> Statistics:
    """Correct what is said of columns of integers in which fractions came later."""
    changed = {
        block.name: replace(block, why="float")
        for block in total.schema
        if block.name in fractions and block.why == "integer"
    }
    if not changed:
        return total
    schema = _with_blocks(total.schema, changed)
    return Statistics(schema, total.classes, total.rows, total.weight, total.tables)


def _joined(batches: Sequence[Batch], names: Sequence[str]) -> Batch:
    if len(batches) == 1:
        return batches[0]
    import pyarrow as pa

    columns = {}
    for name in names:
        parts = [batch.columns[name] for batch in batches]
        chunks = [c for p in parts for c in (p.chunks if isinstance(p, pa.ChunkedArray) else [p])]
        if len({chunk.type for chunk in chunks}) > 1:  # fractions came among integers
            chunks = [chunk.cast(pa.float64()) for chunk in chunks]
        columns[name] = pa.chunked_array(chunks)
    return Batch(columns, sum(batch.n_rows for batch in batches))


def _never_repeats(block: Block, table: Any) -> bool:
    n = int(table.rows.sum())
    return block.why == "strings" and n >= 1000 and len(table.labels) == n


def check_class_count(task: Task, classes: Sequence[Any]) -> None:
    """Refuse more classes than are likely."""
    if task.most_classes is not None and len(classes) > task.most_classes:
        raise InputError(_too_many(task.target, task.most_classes, classes))


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
