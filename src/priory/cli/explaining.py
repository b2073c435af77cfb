"""The commands that say why: explain, what-if, label-errors."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Annotated, Any

import typer

from priory.base.errors import SettingError
from priory.base.replacing import replacing
from priory.classifier.classifier import Classifier, load
from priory.cli.deciding import check_has_rows
from priory.cli.failing import say, tell, told
from priory.cli.inputs import from_stdin, parse_pairs, parse_value
from priory.cli.options import AsJson, Data, Model, Opening, Out, opens_source
from priory.cli.outputs import Output, check_output, dumped
from priory.cli.rows import one_row
from priory.cli.wording import in_options
from priory.sources.scoring import rows_of

__all__ = ["explain", "label_errors", "what_if"]

Rows = Annotated[list[str], typer.Argument(help="As for predict.")]
Row = Annotated[int, typer.Option(help="Which row of the data, counting from 1.", min=1)]
Set = Annotated[list[str], typer.Option("--set", help="COLUMN=VALUE; others are missing.")]

PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>:root {{ color-scheme: light dark; font-family: sans-serif; }}</style>
<h1 style="font-size: 1.2em">{title}</h1>
{body}
</html>
"""


@opens_source
def explain(
    model: Model,
    data: Rows = [],
    row: Row = 1,
    set_: Set = [],
    counts: Annotated[
        bool, typer.Option("--counts", help="The counts behind each number, such as 3 of 5.")
    ] = False,
    interval: Annotated[
        bool, typer.Option("--interval", help="The 90 % interval of each probability.")
    ] = False,
    html: Annotated[
        Path | None, typer.Option(help="Write a page here, texts shaded.", show_default=False)
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(help="Write a waterfall here: PNG, SVG or PDF.", show_default=False),
    ] = None,
    *,
    opening: Opening,
    as_json: AsJson = False,
) -> None:
    """Show the sum behind one prediction, worked out factor by factor."""
    for path in (html, plot):
        check_output(path, data, [model])
    classifier = load(model)
    if interval:
        check_has_rows(classifier, "--interval", classifier.tuning is not None)
    X = _one(classifier, data, row, set_, opening)
    worked = classifier.explain(X, 0.9 if interval else None)[0]
    if html is not None:
        page = PAGE.format(title=escape(f"{worked!r}"[1:-1]), body=worked._repr_html_())
        with told(in_options), replacing(html) as made:
            Path(made).write_text(page, encoding="utf-8")
    if plot is not None:
        with told(in_options):
            figure = worked.plot()
        kind = plot.suffix.lower().lstrip(".")
        if kind not in ("png", "svg", "pdf"):
            raise SettingError(f"--plot writes .png, .svg or .pdf files, not {plot.name!r}.")
        with told(in_options), replacing(plot) as made:
            figure.savefig(made, format=kind, dpi=150)
    tell(dumped(worked.to_dict()) if as_json else worked.text(counts))


@opens_source
def what_if(
    model: Model,
    data: Rows = [],
    row: Row = 1,
    set_: Set = [],
    target: Annotated[
        str | None, typer.Option(help="The class to reach; by default any other.")
    ] = None,
    probability: Annotated[
        float | None, typer.Option(help="How probable the class must become.")
    ] = None,
    cost: Annotated[
        list[str], typer.Option(help="COLUMN=COST of a change, a number or steps; others cost 1.")
    ] = [],
    fixed: Annotated[list[str], typer.Option(help="A column that must not change.")] = [],
    range_: Annotated[
        list[str], typer.Option("--range", help="COLUMN=LOW..HIGH; either may be left out.")
    ] = [],
    direction: Annotated[
        list[str], typer.Option(help="COLUMN=up or COLUMN=down: the only way it may change.")
    ] = [],
    seconds: Annotated[float, typer.Option(help="How long to search at most.")] = 2.0,
    *,
    opening: Opening,
    as_json: AsJson = False,
) -> None:
    """Find the cheapest changes of one row that change its prediction."""
    classifier = load(model)
    X = _one(classifier, data, row, set_, opening)
    with told(in_options):
        label = None if target is None else _class(classifier, target)
        costs = {c: _cost(c, text) for c, text in parse_pairs(cost, "--cost").items()}
        given = parse_pairs(range_, "--range").items()
        ranges = {name: _ends(classifier, name, text) for name, text in given}
        found = classifier.what_if(
            X,
            label,
            probability=probability,
            costs=costs,
            fixed=fixed,
            ranges=ranges,
            direction=parse_pairs(direction, "--direction"),
            seconds=seconds,
        )
    tell(dumped(found.to_dict()) if as_json else str(found))


@opens_source
def label_errors(
    model: Model,
    data: Data,
    n: Annotated[int, typer.Option("-n", help="How many rows, the most suspicious.", min=1)] = 20,
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="If not that of the training data.")
    ] = None,
    output: Out = None,
    *,
    opening: Opening,
    as_json: AsJson = False,
) -> None:
    """Rank the rows that the model was trained on by how likely their label is wrong.

    Each row is judged by a model that has not learned it. Rows count from 1.
    """
    from priory.sources import label_errors as judging  # a prediction does without

    check_output(output, data, [model, *opening["attach"].values()])
    classifier = load(model)
    with from_stdin(data) as source, told(in_options):
        found = judging.label_errors(classifier, source, target, **opening)
    first = {name: values[:n] for name, values in found.to_dict().items()}
    with Output(output, as_json) as out:
        out.add({**first, "row": [i + 1 for i in first["row"]]})
    say(f"{found.n_suspicious:,} of {len(found):,} rows are suspicious ({found.how})")


def _one(
    classifier: Classifier, data: Sequence[str], row: int, set_: Sequence[str], opening: Opening
) -> Any:
    """Take one row of the data, or the values that are given."""
    if bool(data) == bool(set_):
        raise SettingError("Give either data with --row, or values with --set COLUMN=VALUE.")
    with told(in_options):
        if set_:
            given = parse_pairs(set_, "--set")
            return {name: parse_value(classifier, name, text) for name, text in given.items()}
        with from_stdin(data) as source:
            return one_row(rows_of(classifier, source, most=row, **opening), row)


def _class(classifier: Classifier, text: str) -> Any:
    """Find a class by its text; one that is not known is told by what_if."""
    return next((label for label in classifier.classes if str(label) == text), text)


def _cost(column: str, text: str) -> float | str:
    if text == "steps":
        return text
    try:
        return float(text)
    except ValueError:
        raise SettingError(
            f"--cost {column}= takes a number above 0, or steps, not {text!r}."
        ) from None


def _ends(classifier: Classifier, column: str, text: str) -> tuple[Any, Any]:
    low, dots, high = text.partition("..")
    if not dots:
        raise SettingError(f"--range {column}= takes LOW..HIGH, such as 18..65, not {text!r}.")
    ends = [parse_value(classifier, column, end) if end else None for end in (low, high)]
    return ends[0], ends[1]
