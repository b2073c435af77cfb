"""The command that writes a report."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from priory.base.errors import PrioryError, SettingError
from priory.classifier.classifier import Classifier, load
from priory.cli.failing import say, told
from priory.cli.inputs import from_stdin
from priory.cli.options import AsJson, Model, Opening, opens_source
from priory.cli.outputs import check_output, dumped
from priory.cli.rows import one_row
from priory.cli.wording import in_options, number_of_rows
from priory.evaluation.evaluation import Evaluation
from priory.evaluation.validation import trained
from priory.sources.judging import judge
from priory.sources.scoring import rows_of
from priory.sources.updating import sample_of_learned
from priory.statistics.sampling import Sample

__all__ = ["report"]


@opens_source
def report(
    model: Model,
    data: Annotated[
        list[str],
        typer.Argument(help="Rows with their classes, as for evaluate.", show_default=False),
    ] = [],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The file of HTML.", show_default=False)
    ] = Path("report.html"),
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="If not that of the training data.")
    ] = None,
    row: Annotated[
        list[int],
        typer.Option(help="A row of the data to explain in the report, counting from 1."),
    ] = [],
    title: Annotated[str | None, typer.Option(help="The heading of the report.")] = None,
    *,
    opening: Opening,
    as_json: AsJson = False,
) -> None:
    """Write a report on a model: figures, columns, a form that computes; one file of HTML.

    Rows that were learned are recognised by their counts: each is then judged without itself.
    """
    from priory.reporting import make_report
    from priory.reporting.content import given_examples
    from priory.reporting.reports import learned_figures

    check_output(output, data, [model, *opening["attach"].values()])
    classifier = load(model)
    if row and not data:
        raise SettingError("--row asks for rows of the data: name the data too.")
    examples: Any = ()
    found, sample = None, None
    with told(in_options):
        if data:
            with from_stdin(data) as source:
                found, sample = _judged(classifier, source, target, opening)
                for number in row:
                    X = one_row(rows_of(classifier, source, most=number, **opening), number)
                    frame = classifier.frame(X)
                    examples += given_examples(classifier, frame, {f"row {number}": 0})
        else:
            found = learned_figures(classifier)
        of = target or classifier.provenance.target
        made = make_report(
            classifier, found, target=of, title=title, examples=examples, sample=sample
        )
        made.save(output)
    size = len(made.html.encode())
    if as_json:
        figures = None if found is None else found.to_dict()
        print(dumped({"report": str(output), "bytes": size, "figures": figures}))
    else:
        say(f"saved to {output}: {size / 1000:,.0f} kB")


def _judged(
    classifier: Classifier, source: Any, target: str | None, opening: Opening
) -> tuple[Evaluation, Sample | None]:
    """Judge a model on rows it has not learned, or on those it has, each without itself."""
    if target in (None, classifier.provenance.target):
        with suppress(PrioryError):  # other columns or classes: not what was learned
            if sample := sample_of_learned(classifier, source, **opening):
                return trained(classifier, classifier.tuning_sample or sample), sample
    found, unlabelled = judge(classifier, source, target, **opening)
    if unlabelled:
        say(f"skipped: {number_of_rows(unlabelled)} without a class")
    return found, None
