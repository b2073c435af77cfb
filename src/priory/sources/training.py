"""Train from any source."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import fields, replace
from typing import Any

import numpy as np

from priory.base.errors import (
    ForgetError,
    InputError,
    PrioryWarning,
    SettingError,
    listing,
    warn,
)
from priory.base.parallel import at_most
from priory.classifier.classifier import Classifier
from priory.classifier.provenance import Figures, Provenance
from priory.data.arrow import release
from priory.data.schema import Kind, Schema
from priory.databases.printing import statements, table_of
from priory.evaluation.validation import trained
from priory.sources.base import Batch, Form, Source, check_columns
from priory.sources.counting import (
    OtherClasses,
    Task,
    choose_analyzers,
    class_form,
    count,
    sample_schema,
)
from priory.sources.learned_forms import forms_for
from priory.sources.opening import open_source
from priory.sources.planning import count_inside, plan
from priory.statistics.sampling import Sample
from priory.statistics.statistics import Statistics
from priory.text.analyzer import Analyzer
from priory.tuning.kinds import declared_kinds
from priory.tuning.settings import Settings
from priory.tuning.structure import choose_structure

__all__ = ["figures_of", "print_sql", "train"]

MANY_CLASSES = 1000


def train(
    source: Any,
    target: str | None = None,
    *,
    drop: str | Sequence[str] = (),
    where: str | None = None,
    weight: str | None = None,
    na_values: str | Sequence[str] = (),
    settings: Settings | None = None,
    max_classes: int = MANY_CLASSES,
    encoding: str = "utf-8",
    delimiter: str | None = None,
    decimal: str = ".",
    thousands: str | None = None,
    on_error: str = "fail",
    table: str | None = None,
    query: str | None = None,
    attach: Mapping[str, str] | None = None,
    in_database: bool | None = None,
    progress: bool | None = None,
    **options: Any,
) -> Classifier:
    """Train a classifier from a source of any size, in one pass and little memory.

    Parameters
    ----------
    source : path, pattern, list of paths, folder, SQL, DuckDB relation, table or Arrow stream
        Files are CSV, TSV, Parquet, JSON (lines or an array), Arrow, SQLite, DuckDB, or Excel
        (`priory[excel]`), plain or packed by gzip, bzip2, zstd, xz or zip. A string that begins as
        a query does (SELECT, WITH, FROM) is one; it may read files, and databases that are
        attached. Tables are whatever `Classifier.update` takes. A folder holds a folder of texts
        for each class, as for `read_folder`. "postgresql://host/base" is a server
        (`priory[databases]`), "sqlite:///file" and "duckdb:///file" are files.
    target : str
        The column that holds the classes. Rows without a class are skipped, with a warning. Only
        a folder of texts needs none.
    drop : str or list of str
        Columns to leave out.
    where : str
        A condition in SQL; other rows are not learned.
    weight : str
        A column of weights.
    na_values : str or list of str
        What stands for a missing value in any column, besides an empty one. The usual words, such
        as "?" and "NA" (`priory.data.gaps.GAP_WORDS`), do so anyway in columns that otherwise hold
        numbers, dates or truths, and in the target; "none" turns them off.
    settings : Settings
        How parameters are estimated; `Settings.auto()` if not given.
    options
        Changes of the settings by name, such as `smoothing=0`; they mean what they do in
        `NaiveBayes`.
    max_classes : int
        More distinct values are taken for a mistake: a number, or a unique identifier.
    encoding, delimiter : str
        How CSV files are written; the delimiter is found if it is not given.
    decimal, thousands : str
        How text files write numbers: "," as the decimal mark, ",", ".", " " or "'" between
        thousands.
    on_error : "fail" or "skip"
        Whether a row that cannot be read is an error, with its line, or left out with a warning.
    table : str
        The table of a database, or the sheet of a workbook, where there are several.
    query : str
        A query of a database, in its own SQL, in place of a table; it may only read.
    attach : mapping of names to databases
        Databases that a query may read.
    in_database : bool
        Whether a database counts its rows itself, so that only sums and a sample leave it; None
        chooses (`priory.sources.planning.plan`).
    progress : bool
        Whether to show a bar on stderr after a second; None does where it is a terminal.

    Whatever is "auto" is chosen by folds that are left out, as `NaiveBayes` does, on `sample_size`
    rows that are kept while the source flows by. With a `structure` it is read once more, to count
    the columns that were chosen on them.

    What a column of a text file is follows from its first 20,480 rows. If a later value does not
    fit, such a column is read once more as labels, and a warning says so.

    >>> from priory import Settings
    >>> classifier = train("examples/play_tennis.csv", "play", settings=Settings.textbook())
    >>> day = {"outlook": "Sunny", "temperature": "Cool", "humidity": "High", "wind": "Strong"}
    >>> classifier.predict(day).tolist()
    ['No']
    """
    settings = (settings if settings is not None else Settings()).changed(**options)
    if isinstance(max_classes, bool) or not isinstance(max_classes, int) or max_classes < 2:
        raise SettingError(f"max_classes must be an integer of at least 2, not {max_classes!r}.")
    opening: dict[str, Any] = {"where": where, "na_values": na_values, "attach": attach}
    opening |= {"encoding": encoding, "delimiter": delimiter, "decimal": decimal}
    opening |= {"thousands": thousands, "on_error": on_error, "table": table}
    opening |= {"query": query}
    with at_most(settings.n_threads), closing(open_source(source, **opening)) as opened:
        if settings.together and not opened.is_repeatable:
            raise SettingError(
                "A stream can be read once, but a structure is chosen on a sample of it "
                "before it is counted. Write it to a file, or learn it piece by piece: "
                "Classifier.update chooses on the first piece."
            )
        dropped = (drop,) if isinstance(drop, str) else tuple(drop)
        task = _task(opened, target, dropped, weight, settings)
        task = replace(task, most_classes=max_classes, progress=progress)
        target, settings = task.target, task.settings
        opened.road = plan(opened, settings, in_database)
        if opened.road.inside:
            statistics, sample, received = count_inside(task)
            opened.road = replace(opened.road, received=received)
        else:
            statistics, sample = _streamed(task)
        release()
        _check_classes(statistics, target)
        if sample is not None:
            statistics = _count_together(statistics, task, sample)
        classifier = Classifier(settings)
        classifier.update_statistics(statistics, sample)
        _ = classifier.model  # settings that do not fit the data fail here, not at predict
        provenance = Provenance(target, weight, dropped).with_source(opened.name, statistics.n_rows)
        metrics = None if sample is None else figures_of(classifier, sample)
        classifier.provenance = replace(provenance, figures=metrics)
        return classifier


def _task(
    opened: Source,
    target: str | None,
    dropped: Sequence[str],
    weight: str | None,
    settings: Settings,
) -> Task:
    """Give the columns of a source their roles."""
    target = target if target is not None else opened.target
    if target is None:
        raise SettingError(
            f"target must name the column of the classes. Columns: {listing(opened.columns)}."
        )
    check_columns([target], opened.columns, "The target column")
    check_columns(dropped, opened.columns, "The column to drop")
    check_columns([] if weight is None else [weight], opened.columns, "The weight column")
    features = tuple(c for c in opened.columns if c not in (target, weight, *dropped))
    if not features:
        raise InputError(f"{opened.name} has no column beside {target!r} to learn from.")
    if own := {c: how for c, how in opened.analyzers().items() if c in features}:
        settings = settings.changed(text={**own, **settings.text})
    forms = _declared_forms(opened, features, settings)
    return Task(
        *(opened, target, features, weight, settings, forms),
        class_form=class_form(target, forms),
        sample_size=int(settings.sample_size),
    )


def print_sql(
    source: Any,
    target: str,
    *,
    dialect: str | None = None,
    drop: Sequence[str] = (),
    weight: str | None = None,
    settings: Settings | None = None,
    **opening: Any,
) -> str:
    """Write the queries that count a table, for DuckDB, PostgreSQL or a dialect of sqlglot.

    What the columns are follows from the first rows of the source, which may be a small file with
    the columns of a table elsewhere; its name is that of the file.

    >>> print(print_sql("examples/play_tennis.csv", "play", drop=["wind"]).splitlines()[0])
    SELECT y, count(*) AS n FROM (SELECT "play" AS y FROM "play_tennis") AS r GROUP BY y;
    """
    with closing(open_source(source, **opening)) as opened:
        task = _task(opened, target, drop, weight, settings or Settings())
        name = opening.get("table") or table_of(opened.name)
        own = dialect or opened.dialect or "duckdb"
        found = statements(sample_schema(task), name, task.target, weight, own)
    return "\n".join(f"{query};" for query in found)


def _streamed(task: Task) -> tuple[Statistics, Sample | None]:
    """Count the rows of a source batch by batch."""
    schema = sample_schema(task)
    _tell_unread(task.source, schema)
    try:
        return count(task, choose_analyzers(task, schema))
    except OtherClasses:
        task = replace(task, class_form=Form.TEXT)
        return count(task, choose_analyzers(task, schema))


def _declared_forms(
    source: Source, features: Sequence[str], settings: Settings
) -> Mapping[str, Form]:
    """Find the forms of a source, where settings say what a column is those that it needs."""
    forms = dict(source.forms())
    if not source.is_text:
        return forms
    numbers = (Kind.NUMBERS, Kind.MOMENTS, Kind.COUNTS, Kind.SCATTER)
    for columns, kind in declared_kinds(settings, Batch({}, 0).table(features)).items():
        for column in columns:
            if kind in numbers and forms.get(column) is Form.TEXT:
                forms[column] = Form.NUMBER
            elif kind is Kind.WORDS or isinstance(kind, Analyzer):
                forms[column] = Form.TEXT
    return forms


def _tell_unread(source: Source, schema: Schema) -> None:
    """Warn of columns that are labels only because a few of their values do not fit."""
    undeclared = {c for block in schema if block.why != "declared" for c in block.columns}
    for odd in source.unread():
        if odd.column in undeclared:
            warn(f"{odd} What the columns hold: priory inspect.", PrioryWarning)


_named = inspect.signature(train).parameters
train.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
    [p for p in _named.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
    + [
        inspect.Parameter(f.name, inspect.Parameter.KEYWORD_ONLY, default=f.default)
        for f in fields(Settings)
    ],
    return_annotation=Classifier,
)
"""What `help` shows: the options by their names."""


def _count_together(statistics: Statistics, task: Task, sample: Sample) -> Statistics:
    """Choose on a sample which columns are counted together, and count them."""
    rows, scale = (sample.frame, sample.y, sample.weight), sample.scale(statistics)
    blocks = choose_structure(statistics, task.settings, *rows, scale)
    if not blocks:
        return statistics
    used = {column for block in blocks for column in block.columns}
    task = replace(
        task,
        features=tuple(column for column in statistics.schema.columns if column in used),
        forms=forms_for(statistics, task.source),
        known=statistics.classes,
        most_classes=None,
        sample_size=0,
        again=True,
    )
    found, _ = count(task, Schema(task.features, blocks))
    if found.classes != statistics.classes or not np.array_equal(found.rows, statistics.rows):
        raise InputError(f"{task.source.name} changed while it was read.")
    return statistics.beside(found)


def figures_of(classifier: Classifier, sample: Sample) -> Figures | None:
    """Compute metrics of rows left out on a sample; None if rows cannot be subtracted."""
    try:
        found = trained(classifier, sample)
    except ForgetError:  # a limited vocabulary has lost some of their words
        return None
    numbers = map(float, (found.accuracy, found.log_loss, found.calibration_error))
    return Figures(found.how, found.n_rows, *numbers)


def _check_classes(statistics: Statistics, target: str) -> None:
    classes = statistics.classes
    if len(classes) < 2:
        raise InputError(
            f"Column {target!r} holds one class alone, {classes[0]!r}, in all "
            f"{statistics.n_rows:,} rows: there is nothing to classify."
        )
    broken = [label for label in classes if isinstance(label, float)]
    if broken:
        raise InputError(
            f"Column {target!r} holds {broken[0]!r}, which looks like a number to be predicted; "
            "classes are strings or integers. Cut it into ranges first."
        )
