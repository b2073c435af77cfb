"""The commands."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from priory.base.errors import InputError, SchemaError, SettingError
from priory.base.version import __version__
from priory.classifier.classifier import Classifier, load
from priory.cli import reports
from priory.cli.failing import BAD_USAGE, INTERRUPTED, say, told
from priory.cli.inputs import from_stdin, parse_pairs, parse_value
from priory.cli.options import (
    AsJson,
    Attach,
    Data,
    Delimiter,
    Encoding,
    Model,
    NaValues,
    Out,
    Where,
    reading,
)
from priory.cli.outputs import Output, dumped
from priory.cli.training import train
from priory.cli.wording import in_options

__all__ = ["app", "run"]

app = typer.Typer(
    name="priory",
    help="Classify tables from the shell: train, predict, explain. Results go to stdout.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Target(StrEnum):
    """Say what a model can be exported to."""

    JSON = "json"
    SQL = "sql"
    ONNX = "onnx"


def run(arguments: Sequence[str]) -> int:
    """Run one command, and return its exit code."""
    try:
        result = app(args=list(arguments), prog_name="priory", standalone_mode=False)
        code = result if isinstance(result, int) else 0
    except typer.Exit as leave:
        code = int(leave.exit_code)
    except typer.Abort:
        code = INTERRUPTED
    except Exception as error:
        # Which package click's errors come from depends on the version of Typer.
        if not (hasattr(error, "exit_code") and hasattr(error, "show")):
            raise
        error.show()
        return int(error.exit_code) or BAD_USAGE
    if code == INTERRUPTED:
        say("interrupted; nothing was written")
    return code


@app.callback(invoke_without_command=True)
def _main(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        print(f"priory {__version__}")
        raise typer.Exit


app.command(epilog="Example: priory train days.csv --target play -o days.priory")(train)


@app.command(epilog="Example: priory predict days.priory new.csv --proba -o answers.csv")
def predict(
    model: Model,
    data: Data,
    output: Out = None,
    proba: Annotated[bool, typer.Option("--proba", help="Give every class's probability.")] = False,
    keep: Annotated[list[str], typer.Option(help="A column of the data to copy.")] = [],
    where: Where = None,
    na_values: NaValues = [],
    encoding: Encoding = "utf-8",
    delimiter: Delimiter = None,
    attach: Attach = [],
    as_json: AsJson = False,
) -> None:
    """Predict the class of every row, and how sure that is.

    The output is CSV, JSON lines or Parquet by the name of the file; on stdout it is CSV, or JSON
    lines with --json and for lines of JSON.
    """
    from priory.sources.scoring import rows_of

    classifier = load(model)
    with from_stdin(data) as source, told(in_options):
        as_lines = as_json or (output is None and str(source).endswith(".jsonl"))
        rows = rows_of(
            classifier,
            source,
            keep=keep,
            **reading(where, na_values, encoding, delimiter, attach),
        )
        with Output(output, as_lines) as out:
            for X, batch in rows:
                p = classifier.predict_proba(X)
                out.add(reports.predictions(classifier, p, proba, batch, keep))


@app.command(epilog="Example: priory evaluate days.priory held-out.csv --json")
def evaluate(
    model: Model,
    data: Data,
    target: Annotated[str | None, typer.Option("--target", "-t", help="If not as learned.")] = None,
    where: Where = None,
    na_values: NaValues = [],
    encoding: Encoding = "utf-8",
    delimiter: Delimiter = None,
    attach: Attach = [],
    as_json: AsJson = False,
) -> None:
    """Compare predictions with the classes of rows that the model has not learned."""
    from priory.cli.judging import judge

    classifier = load(model)
    with from_stdin(data) as source, told(in_options):
        found, without = judge(
            classifier,
            source,
            target,
            **reading(where, na_values, encoding, delimiter, attach),
        )
    if as_json:
        print(dumped({**found.to_dict(), "rows_without_class": without}))
        return
    print(f"{found}\n\nThis is honest only if the model has not learned them.")
    if without:
        say(f"{without:,} rows without a class were left out")


@app.command(epilog="Example: priory explain days.priory --set outlook=Sunny --set wind=Strong")
def explain(
    model: Model,
    data: Annotated[list[str], typer.Argument(help="As for predict.")] = [],
    row: Annotated[int, typer.Option(help="Which row of the data, counting from 1.", min=1)] = 1,
    set_: Annotated[
        list[str], typer.Option("--set", help="COLUMN=VALUE; others are missing.")
    ] = [],
    na_values: NaValues = [],
    encoding: Encoding = "utf-8",
    delimiter: Delimiter = None,
    as_json: AsJson = False,
) -> None:
    """Show the sum behind one prediction, worked out factor by factor."""
    from priory.sources.scoring import rows_of

    classifier = load(model)
    if bool(data) == bool(set_):
        raise SettingError("Give either data with --row, or values with --set COLUMN=VALUE.")
    with told(in_options):
        if set_:
            given = parse_pairs(set_, "--set")
            values = {name: parse_value(classifier, name, text) for name, text in given.items()}
            worked = classifier.explain(values)[0]
        else:
            with from_stdin(data) as source:
                seen = 0
                for X, batch in rows_of(
                    classifier,
                    source,
                    most=row,
                    na_values=na_values,
                    encoding=encoding,
                    delimiter=delimiter,
                ):
                    if seen + batch.n_rows >= row:
                        worked = classifier.explain(reports.one_row(X, row - 1 - seen))[0]
                        break
                    seen += batch.n_rows
                else:
                    raise InputError(f"There is no row {row}: the data have {seen:,}.")
    print(dumped(reports.worked(worked)) if as_json else str(worked))


@app.command(epilog="Example: priory show days.priory")
def show(
    model: Model,
    tables: Annotated[
        bool, typer.Option("--tables", help="Every parameter, with the counts behind it.")
    ] = False,
    fractions: Annotated[
        bool, typer.Option("--fractions", help="With --tables: exact fractions, such as 2/9.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show what a model has learned: its columns, its classes and where they came from."""
    if fractions and not tables:
        raise SettingError("--fractions is for the tables of parameters: give --tables too.")
    with told(in_options):
        classifier = load(model)
        _ = classifier.model if classifier.statistics.n_rows else None
    if tables:
        columns = classifier.table_columns(fractions)
        print(dumped(reports.records(columns)) if as_json else reports.tabulated(columns))
        return
    if as_json:
        print(dumped(reports.summary(classifier)))
    else:
        reports.print_summary(classifier, sys.stdout)


@app.command(epilog="Example: priory update days.priory march.csv")
def update(
    model: Model,
    data: Data,
    output: Out = None,
    where: Where = None,
    na_values: NaValues = [],
    encoding: Encoding = "utf-8",
    delimiter: Delimiter = None,
    attach: Attach = [],
    as_json: AsJson = False,
) -> None:
    """Learn more rows; new classes, categories and values may come at any time."""
    from priory import sources

    opening = reading(where, na_values, encoding, delimiter, attach)
    _change(model, data, output, sources.update, "learned", opening, as_json)


@app.command(epilog="Example: priory forget days.priory withdrawn.csv")
def forget(
    model: Model,
    data: Data,
    output: Out = None,
    where: Where = None,
    na_values: NaValues = [],
    encoding: Encoding = "utf-8",
    delimiter: Delimiter = None,
    attach: Attach = [],
    as_json: AsJson = False,
) -> None:
    """Take rows away that were learned, as if they had never been seen."""
    from priory import sources

    opening = reading(where, na_values, encoding, delimiter, attach)
    _change(model, data, output, sources.forget, "forgotten", opening, as_json)


@app.command(epilog="Example: priory merge january.priory february.priory -o both.priory")
def merge(
    models: Annotated[list[Path], typer.Argument(help="Two or more model files.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file of the sum.")],
    as_json: AsJson = False,
) -> None:
    """Add up what several models have learned; the first one's settings are kept."""
    if len(models) < 2:
        raise SettingError("merge needs two models or more.")
    total = load(models[0])
    with told(in_options):
        for path in models[1:]:
            total.merge(load(path))
        total.save(output, keep_sample=total.has_sample)
    _report(output, total, {"models": [str(path) for path in models]}, as_json)


@app.command(epilog="Example: priory sample days.priory -n 5 --random-state 1")
def sample(
    model: Model,
    n: Annotated[int, typer.Option("-n", help="How many rows.", min=0)] = 10,
    class_: Annotated[str | None, typer.Option("--class", help="Of one class alone.")] = None,
    random_state: Annotated[
        int | None, typer.Option(help="The same number gives the same rows.")
    ] = None,
    output: Out = None,
    as_json: AsJson = False,
) -> None:
    """Draw new rows from the model."""
    classifier = load(model)
    with told(in_options):
        y = None if class_ is None else _known_class(classifier, class_)
        columns, labels = classifier.sample(n, None if y is None else [y] * n, random_state)
    target = classifier.provenance.target or "class"
    with Output(output, as_json) as out:
        out.add(reports.drawn(columns, labels, target, classifier))


@app.command(epilog="Example: priory export days.priory --to sql --table days > days.sql")
def export(
    model: Model,
    to: Annotated[Target, typer.Option(help="What to write.")],
    output: Out = None,
    table: Annotated[str, typer.Option(help="For SQL: the table to be classified.")] = "data",
    dialect: Annotated[str, typer.Option(help="For SQL: duckdb or postgres.")] = "duckdb",
) -> None:
    """Write the model for other programs: JSON to read, SQL or ONNX to run."""
    from priory.export import to_json

    classifier = load(model)
    if to is Target.JSON:
        text = json.dumps(to_json(classifier), indent=1, ensure_ascii=False) + "\n"
    elif to is Target.SQL:
        from priory.export.sql import to_sql

        text = to_sql(classifier, table, dialect) + "\n"
    else:
        from priory.export.onnx import to_onnx

        if output is None:
            raise SettingError("ONNX is no text: name a file with -o.")
        output.write_bytes(to_onnx(classifier))
        return
    if output is None:
        print(text, end="")
    else:
        output.write_text(text, encoding="utf-8")


def _change(
    model: Path,
    data: Sequence[str],
    output: Path | None,
    change: Any,
    verb: str,
    opening: dict[str, Any],
    as_json: bool,
) -> None:
    classifier = load(model)
    path = output if output is not None else model
    with from_stdin(data) as source, told(in_options):
        rows = change(classifier, source, **opening)
        classifier.save(path, keep_sample=classifier.has_sample)
    _report(path, classifier, {verb: rows}, as_json)


def _report(path: Path, classifier: Classifier, more: dict[str, Any], as_json: bool) -> None:
    rows = classifier.statistics.n_rows
    if as_json:
        print(dumped({"model": str(path), "rows": rows, **more}))
        return
    for verb, count in more.items():
        if isinstance(count, int):
            say(f"{count:,} rows {verb}")
    say(f"saved to {path}: {rows:,} rows")


def _known_class(classifier: Classifier, text: str) -> Any:
    for label in classifier.classes:
        if str(label) == text:
            return label
    raise SchemaError(
        f"Class {text!r} is not known. Classes: {', '.join(map(repr, classifier.classes[:20]))}."
    )
