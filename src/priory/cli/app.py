"""The commands."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from priory import sources
from priory.base.errors import SchemaError, SettingError, listing
from priory.base.replacing import locked
from priory.base.version import __version__
from priory.classifier.classifier import Classifier, load
from priory.cli import reports
from priory.cli.explaining import explain, label_errors, what_if
from priory.cli.exporting import export
from priory.cli.failing import BAD_USAGE, INTERRUPTED, say, tell, told
from priory.cli.inputs import from_stdin
from priory.cli.options import (
    AsJson,
    Costs,
    Data,
    Model,
    NoNewClasses,
    Opening,
    Out,
    Positive,
    Prior,
    Threshold,
    Unsure,
    UnsureCost,
    opens_source,
)
from priory.cli.outputs import Output, check_output, dumped
from priory.cli.reporting import report
from priory.cli.serving import serve
from priory.cli.training import train
from priory.cli.wording import in_options, number_of_rows
from priory.sources.judging import judge
from priory.sources.news import News, news, refuse_new_classes
from priory.sources.scoring import rows_of

__all__ = ["app", "run"]

app = typer.Typer(
    name="priory",
    help="Classify tables from the shell: train, predict, explain. Results go to stdout.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def run(arguments: Sequence[str]) -> int:
    """Run one command; the result is its exit code."""
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
        tell(f"priory {__version__}")
        raise typer.Exit


app.command(epilog="Example: priory train days.csv --target play -o days.priory")(train)


@app.command(epilog="Example: priory inspect days.csv --target play")
@opens_source
def inspect(
    data: Data,
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="The column of the classes.")
    ] = None,
    *,
    opening: Opening,
    as_json: AsJson = False,
) -> None:
    """Show what the columns hold and how they would be read, without training.

    For each column its kind and why, gaps, distinct values, and why it would be left out; then
    values that do not parse as most of their column do, with the option that would mend it.
    """
    with from_stdin(data) as source, told(in_options):
        found = sources.inspect(source, target, **{**opening, "on_error": "skip"})
    mended = replace(
        found, unread=tuple(replace(odd, mend=in_options(odd.mend)) for odd in found.unread)
    )
    tell(dumped(mended.to_dict()) if as_json else str(mended))


@app.command(epilog="Example: priory predict days.priory new.csv --proba -o answers.csv")
@opens_source
def predict(
    model: Model,
    data: Data,
    output: Out = None,
    proba: Annotated[
        bool, typer.Option("--proba", help="Add the probability of every class.")
    ] = False,
    keep: Annotated[list[str], typer.Option(help="A column of the data to copy.")] = [],
    costs: Costs = None,
    unsure: Unsure = None,
    unsure_cost: UnsureCost = None,
    prior: Prior = None,
    threshold: Threshold = None,
    positive: Positive = None,
    interval: Annotated[
        bool, typer.Option("--interval", help="Add the 90 % interval of the probability.")
    ] = False,
    set_: Annotated[
        float | None,
        typer.Option("--set", help="Add the classes that cover so large a share, such as .9."),
    ] = None,
    novelty: Annotated[
        bool, typer.Option("--novelty", help="Add how unusual the row is, as a p-value.")
    ] = False,
    *,
    opening: Opening,
    as_json: AsJson = False,
) -> None:
    """Predict the class of every row, and its probability; or decide by costs.

    The output is CSV, JSON lines or Parquet by the name of the file; on stdout it is CSV, or JSON
    lines with --json and for lines of JSON. --set and --novelty, and --interval of tuned models,
    need a model that was trained with --keep-sample.
    """
    check_output(output, data, [model, *opening["attach"].values()])
    classifier = load(model)
    asked = (costs, unsure, unsure_cost, prior, threshold, positive)
    more = None
    if any(option is not None for option in (*asked, set_)) or interval or novelty:
        from priory.cli.deciding import Deciding

        with told(in_options):
            more = Deciding(classifier, *asked, 0.9 if interval else None, set_, novelty)
    with from_stdin(data) as source, told(in_options):
        is_json = getattr(source, "is_json", str(source).endswith((".jsonl", ".ndjson")))
        as_lines = as_json or (output is None and is_json)
        with Output(output, as_lines) as out:
            for X, batch in rows_of(classifier, source, keep=keep, **opening):
                if more is not None:
                    out.add(more.predictions(X, proba, batch, keep))
                    continue
                p = classifier.predict_proba(X)
                out.add(reports.predictions(classifier, p, proba, batch, keep))


@app.command(epilog="Example: priory evaluate days.priory held-out.csv --json")
@opens_source
def evaluate(
    model: Model,
    data: Data,
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="If not that of the training data.")
    ] = None,
    *,
    opening: Opening,
    as_json: AsJson = False,
) -> None:
    """Compare predictions with the true labels of rows that the model was not trained on."""
    classifier = load(model)
    with from_stdin(data) as source, told(in_options):
        found, unlabelled = judge(classifier, source, target, **opening)
    if as_json:
        tell(dumped({**found.to_dict(), "rows_without_class": unlabelled}))
        return
    tell(f"{found}\n\nThis is honest only if the model was not trained on these rows.")
    if unlabelled:
        say(f"skipped: {number_of_rows(unlabelled)} without a class")


app.command(epilog="Example: priory report days.priory days.csv -o days.html")(report)
app.command(epilog="Example: priory serve days.priory --port 8000")(serve)


@app.command(epilog="Example: priory drift days.priory december.csv --json")
@opens_source
def drift(model: Model, data: Data, *, opening: Opening, as_json: AsJson = False) -> None:
    """Compare new rows with those learned: values never seen, distances, the class prior."""
    from priory.cli.deciding import drift_of

    classifier = load(model)
    with from_stdin(data) as source, told(in_options):
        found = drift_of(classifier, source, **opening)
    tell(dumped(found.to_dict()) if as_json else str(found))


app.command(
    epilog="Example: priory explain days.priory --set outlook=Sunny --set wind=Strong",
)(explain)
app.command(
    epilog="Example: priory what-if days.priory --set outlook=Sunny --fixed wind",
)(what_if)
app.command(
    epilog="Example: priory label-errors days.priory days.csv -n 10",
)(label_errors)


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
        tell(dumped(reports.records(columns)) if as_json else reports.tabulated(columns))
        return
    if as_json:
        tell(dumped(reports.summary(classifier)))
    else:
        reports.print_summary(classifier, sys.stdout)


@app.command(epilog="Example: priory update days.priory march.csv")
@opens_source
def update(
    model: Model,
    data: Data,
    output: Out = None,
    no_new_classes: NoNewClasses = False,
    *,
    opening: Opening,
    as_json: AsJson = False,
) -> None:
    """Learn more rows; new classes, categories and values may come at any time, and are told."""
    change = partial(sources.update, new_classes=not no_new_classes)
    _change(change, "learned", model, data, output, opening, as_json)


@app.command(epilog="Example: priory forget days.priory withdrawn.csv")
@opens_source
def forget(
    model: Model,
    data: Data,
    output: Out = None,
    certificate: Annotated[
        Path | None, typer.Option(help="Write a certificate here, which verify checks.")
    ] = None,
    *,
    opening: Opening,
    as_json: AsJson = False,
) -> None:
    """Take rows away that were learned, as if they had never been seen."""
    if certificate is None:
        _change(sources.forget, "forgotten", model, data, output, opening, as_json)
        return
    from priory.cli.certifying import forget_certified, write_certificate

    check_output(certificate, data, [model, *([output] if output else [])])
    papers: list[Any] = []
    change = partial(forget_certified, papers=papers)
    _change(change, "forgotten", model, data, output, opening, as_json)
    write_certificate(certificate, papers[0])  # once the model is saved that it is of


@app.command(epilog="Example: priory verify paper.json days.priory --before old.priory gone.csv")
@opens_source
def verify(
    certificate: Annotated[Path, typer.Argument(help="A certificate that forget wrote.")],
    model: Model,
    data: Annotated[list[str], typer.Argument(help="The rows that were forgotten.")] = [],
    before: Annotated[
        Path | None, typer.Option(help="The model as it was before, where it is kept.")
    ] = None,
    *,
    opening: Opening,
    as_json: AsJson = False,
) -> None:
    """Check a certificate of forgetting; with the rows and the model before, the subtraction too.

    The exit code is 1 where a claim does not hold.
    """
    from priory.cli.certifying import check_certificate

    with from_stdin(data) as source, told(in_options):
        after, old = load(model), None if before is None else load(before)
        given = source if data else None
        paper, found = check_certificate(certificate, after, old, given, **opening)
    if as_json:
        tell(dumped({"rows": paper.rows, "tuning": paper.tuning, "claims": found}))
    else:
        tell("\n".join(f"{'yes' if holds else 'NO '}  {claim}" for claim, holds in found.items()))
        tell(f"{paper.rows:,} rows were forgotten; tuning: {paper.tuning}")
    if not all(found.values()):
        raise typer.Exit(1)


@app.command(epilog="Example: priory merge january.priory february.priory -o both.priory")
def merge(
    models: Annotated[list[Path], typer.Argument(help="Two or more model files.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file of the sum.")],
    no_new_classes: NoNewClasses = False,
    as_json: AsJson = False,
) -> None:
    """Add up what several models have learned; the first one's settings are kept."""
    if len(models) < 2:
        raise SettingError("merge needs two models or more.")
    with told(in_options), locked(output, say):
        total = load(models[0])
        before = total.statistics
        for path in models[1:]:
            other = load(path)
            if no_new_classes:
                refuse_new_classes(total.statistics, other.statistics, str(path))
            total.merge(other)
        total.save(output, keep_sample=total.has_sample)
    found = news(before, total.statistics)
    _report(output, total, {"models": [str(path) for path in models]}, found, as_json)


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
    check_output(output, files=[model])
    classifier = load(model)
    with told(in_options):
        y = None if class_ is None else _known_class(classifier, class_)
        columns, labels = classifier.sample(n, None if y is None else [y] * n, random_state)
    target = classifier.provenance.target or "class"
    with Output(output, as_json) as out:
        out.add(reports.drawn(columns, labels, target, classifier))


app.command(epilog="Example: priory export days.priory --to sql --table days > days.sql")(export)


@app.command(
    add_help_option=False,
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    epilog="Example: priory mail learn --spam junk.mbox --ham inbox.mbox --model my.priory",
)
def mail(context: typer.Context) -> None:
    """Filter mail: learn, classify, relearn, serve. See priory mail --help."""
    from priory.cli.mail import run_mail

    raise typer.Exit(run_mail(context.args))


def _change(
    change: Callable[..., int],
    verb: str,
    model: Path,
    data: Sequence[str],
    output: Path | None,
    opening: Opening,
    as_json: bool,
) -> None:
    path = output if output is not None else model
    check_output(path, data, list(opening["attach"].values()))
    with from_stdin(data) as source, told(in_options), locked(path, say):
        classifier = load(model)
        before = classifier.statistics
        rows = change(classifier, source, **opening)
        classifier.save(path, keep_sample=classifier.has_sample)
    _report(path, classifier, {verb: rows}, news(before, classifier.statistics), as_json)


def _report(
    path: Path, classifier: Classifier, more: dict[str, Any], found: News, as_json: bool
) -> None:
    rows = classifier.statistics.n_rows
    if as_json:
        told = {key: value for key, value in found.to_dict().items() if value}
        tell(dumped({"model": str(path), "rows": rows, **more, **told}))
        return
    for line in found.lines():
        say(line)
    for verb, count in more.items():
        if isinstance(count, int):
            say(f"{number_of_rows(count)} {verb}")
    say(f"saved to {path}: {number_of_rows(rows)}")


def _known_class(classifier: Classifier, text: str) -> Any:
    for label in classifier.classes:
        if str(label) == text:
            return label
    raise SchemaError(f"Class {text!r} is not known. Classes: {listing(classifier.classes, 20)}.")
