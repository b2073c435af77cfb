"""The command that trains: its options are the settings, by the same names."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from priory import sources
from priory.base.errors import SettingError
from priory.base.parallel import at_most
from priory.base.replacing import locked
from priory.classifier.classifier import load
from priory.cli import reports
from priory.cli.cluster import on_cluster
from priory.cli.failing import say, tell, told
from priory.cli.inputs import (
    from_stdin,
    parse_by_column,
    parse_class_prior,
    parse_families,
    parse_m_estimate,
    parse_smoothing,
    parse_texts,
    parse_weights,
)
from priory.cli.options import AsJson, Data, Opening, Out, opens_source
from priory.cli.outputs import check_output, dumped
from priory.cli.wording import in_options
from priory.sources.addresses import file_of, is_address
from priory.sources.opening import SQL
from priory.sources.training import print_sql as written_sql
from priory.tuning.settings import Settings

__all__ = ["train"]


class Select(StrEnum):
    """How columns are selected."""

    MDL = "mdl"


@opens_source
def train(
    data: Data,
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="The column of the classes.")
    ] = None,
    output: Out = None,
    families: Annotated[
        list[str],
        typer.Option(help="A family for all, COLUMN=FAMILY, or COLUMNS=FAMILY with commas."),
    ] = [],
    drop: Annotated[list[str], typer.Option(help="A column to leave out.")] = [],
    text: Annotated[
        list[str],
        typer.Option(help="A column of text; COLUMN=html, email, sklearn or char splits it so."),
    ] = [],
    weight: Annotated[str | None, typer.Option(help="A column of weights.")] = None,
    smoothing: Annotated[
        list[str], typer.Option(help="auto or Laplace's number, for all or COLUMN=NUMBER.")
    ] = [],
    m_estimate: Annotated[
        str | None,
        typer.Option(help="Smooth by M imagined rows, spread evenly; M,marginal as the column is."),
    ] = None,
    class_prior: Annotated[
        str | None, typer.Option(help="uniform, words, or CLASS=P,CLASS=P; else shares of rows.")
    ] = None,
    missing: Annotated[
        list[str], typer.Option(help="auto, skip, category or error, for all or COLUMN=….")
    ] = [],
    unseen: Annotated[
        list[str], typer.Option(help="skip, smooth or error, for all or COLUMN=….")
    ] = [],
    weights: Annotated[
        str | None,
        typer.Option(help="What is learned of factors: auto, columns, temperature or none."),
    ] = None,
    structure: Annotated[
        str | None,
        typer.Option(help="How columns depend: naive, tan, aode, joint or hill-climb."),
    ] = None,
    max_parents: Annotated[
        int | None,
        typer.Option(help="How many others a column depends on at most, by hill-climb.", min=1),
    ] = None,
    pairs: Annotated[
        str | None, typer.Option(help="auto corrects pairs of columns; none is strictly naive.")
    ] = None,
    textbook: Annotated[
        bool,
        typer.Option("--textbook", help="The lecture's classifier: nothing but what is asked for."),
    ] = False,
    select: Annotated[
        Select | None, typer.Option(help="Leave out columns that do not pay in bits.")
    ] = None,
    sample_size: Annotated[
        int | None, typer.Option(help="How many rows at most are tuned on.", min=0)
    ] = None,
    min_count: Annotated[
        int, typer.Option(help="Leave values of fewer rows out of the file.", min=0)
    ] = 0,
    keep_sample: Annotated[
        bool,
        typer.Option("--keep-sample", help="Keep a sample of rows in the file, to tune on later."),
    ] = False,
    max_classes: Annotated[int, typer.Option(help="More classes are a mistake.", min=2)] = 1000,
    n_threads: Annotated[int | None, typer.Option(help="How many threads to use.", min=1)] = None,
    blank_like: Annotated[
        Path | None,
        typer.Option(help="Count as this model does, and keep nothing of what it has learned."),
    ] = None,
    in_database: Annotated[
        bool | None,
        typer.Option(help="Let a database count: only sums and a sample of rows leave it."),
    ] = None,
    print_sql: Annotated[
        bool,
        typer.Option("--print-sql", help="Print the queries that would count a table, and stop."),
    ] = False,
    dialect: Annotated[
        str | None,
        typer.Option(help="For --print-sql: duckdb, postgres, bigquery, snowflake, …"),
    ] = None,
    spark: Annotated[
        str | None,
        typer.Option(help="Count on this cluster, such as spark://host:7077 or sc://host."),
    ] = None,
    *,
    opening: Opening,
    as_json: AsJson = False,
) -> None:
    """Learn a table of any size, say what was learned, and save the model.

    DATA is CSV, TSV, Parquet, JSON, Arrow, SQLite, DuckDB or Excel, plain or packed by gzip, bzip2,
    zstd, xz or zip; a pattern; a SQL query over files; a database, such as postgresql://host/base
    with --query or --table; or a folder with a folder of texts for each class, which needs no
    --target. With --spark it is Parquet files or a table of the cluster. The model goes to the file
    named by -o, else beside you under the name of the data.
    """
    given = locals()
    needed = spark is not None or (blank_like is None and not Path(data[0]).is_dir())
    if target is None and needed:
        raise SettingError("Name the column of the classes: --target COLUMN.")
    if keep_sample and min_count > 1:
        raise SettingError(
            "--keep-sample keeps rows as they are, and --min-count leaves out what could tell of a "
            "single person; give one of them."
        )
    if smoothing and m_estimate is not None:
        raise SettingError("--smoothing and --m-estimate both smooth; give one of them.")
    changes = {
        name: PARSERS[name](given[name]) if name in PARSERS else given[name]
        for name in (field.name for field in fields(Settings))
        if given.get(name) not in NOTHING
    }
    if m_estimate is not None:
        changes["smoothing"] = parse_m_estimate(m_estimate)
    if spark is not None and in_database is not None:
        raise SettingError("--spark and --in-database both say where rows are counted; give one.")
    if dialect is not None and not print_sql:
        raise SettingError("--dialect is that of --print-sql; give both.")
    if print_sql:
        if target is None:
            raise SettingError("--print-sql needs the column of the classes: --target COLUMN.")
        columns: dict[str, Any] = {"drop": drop, "weight": weight}
        columns["settings"] = Settings(**changes)
        with from_stdin(data) as source, told(in_options):
            tell(written_sql(source, target, dialect=dialect, **columns, **opening))
        return
    path = output if output is not None else Path(_stem(data) + ".priory")
    check_output(path, data, list(opening["attach"].values()))
    if blank_like is not None:
        _refuse_settings([*changes, *(name for name in OTHERS if given[name])])
    learn, chosen = (sources.train, from_stdin) if spark is None else on_cluster(spark)
    with chosen(data) as source, told(in_options) as heard:
        opened = None
        if spark is None:
            with at_most(n_threads):
                opened = sources.open_source(source, **opening)
        if blank_like is not None:
            classifier = sources.train_like(load(blank_like), opened, target=target, weight=weight)
        else:
            where = {"in_database": in_database} if spark is None else opening
            classifier = learn(
                source if opened is None else opened,
                target,
                drop=drop,
                weight=weight,
                settings=(Settings.textbook if textbook else Settings.auto)(**changes),
                max_classes=max_classes,
                **where,
            )
    with told(in_options), locked(path, say):
        classifier.save(path, min_count, keep_sample)
    if opened is not None and opened.road is not None and opened.road.is_told:
        say(in_options(str(opened.road)))
    if as_json:
        tell(dumped({"model": str(path), **reports.summary(classifier), "warnings": heard}))
        return
    reports.print_summary(classifier, sys.stdout)
    say(f"saved to {path} ({path.stat().st_size:,} bytes)")


NOTHING: tuple[Any, ...] = (None, [])
PARSERS: Mapping[str, Callable[[Any], Any]] = {
    "families": parse_families,
    "smoothing": parse_smoothing,
    "class_prior": parse_class_prior,
    "missing": lambda given: parse_by_column(given, "--missing"),
    "unseen": lambda given: parse_by_column(given, "--unseen"),
    "text": parse_texts,
    "weights": parse_weights,
    "select": str,
}
"""How the text of an option becomes a setting; other settings are used as they are."""


OTHERS = ("drop", "textbook", "in_database", "m_estimate", "spark")
"""Options that are settled by the model of --blank-like, beside the settings."""


def _refuse_settings(names: Sequence[str]) -> None:
    if names:
        option = "--" + names[0].replace("_", "-")
        raise SettingError(
            f"--blank-like counts as that model does, with its settings, so that files can be "
            f"merged: leave out {option}."
        )


def _stem(data: Sequence[str]) -> str:
    if data[0] == "-" or SQL.match(data[0]):
        return "model"
    if is_address(data[0]):  # which may hold a password
        file = file_of(data[0])
        return "model" if file is None else _stem([file])
    name = Path(data[0]).name.replace("*", "").replace("?", "")
    return name.partition(".")[0] or "model"
