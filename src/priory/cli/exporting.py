"""The command `priory export`: a model for other programs."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from priory.base.errors import SettingError
from priory.base.replacing import replacing
from priory.classifier.classifier import load
from priory.cli.failing import tell, told
from priory.cli.options import (
    Costs,
    Model,
    Out,
    Positive,
    Prior,
    Threshold,
    Unsure,
    UnsureCost,
)
from priory.cli.outputs import check_output, dumped
from priory.cli.wording import in_options

__all__ = ["export"]


class Target(StrEnum):
    """The formats of export."""

    JSON = "json"
    SQL = "sql"
    ONNX = "onnx"


def export(
    model: Model,
    to: Annotated[Target, typer.Option(help="What to write.")],
    output: Out = None,
    table: Annotated[str, typer.Option(help="For SQL: the table to be classified.")] = "data",
    dialect: Annotated[str, typer.Option(help="For SQL: duckdb, postgres or sqlite.")] = "duckdb",
    view: Annotated[
        str | None,
        typer.Option(help="For SQL: create this view, of class, probability and reasons."),
    ] = None,
    reasons: Annotated[
        int, typer.Option(help="For a view: how many columns that speak for the class.", min=0)
    ] = 3,
    costs: Costs = None,
    unsure: Unsure = None,
    unsure_cost: UnsureCost = None,
    prior: Prior = None,
    threshold: Threshold = None,
    positive: Positive = None,
) -> None:
    """Write the model for other programs: JSON to read, SQL or ONNX to run.

    With costs, a threshold or another prior, what is written decides by them.
    """
    from priory.cli.deciding import decided
    from priory.export import to_json, to_onnx, to_sql

    if view is not None and to is not Target.SQL:
        raise SettingError("--view is written in SQL: give --to sql.")
    check_output(output, files=[model])
    with told(in_options):
        asked: tuple[Any, ...] = (costs, unsure, unsure_cost, prior, threshold, positive)
        made = decided(load(model), *asked)
    if to is Target.ONNX:
        if output is None:
            raise SettingError("ONNX is not text: name a file with -o.")
        content = to_onnx(made)
    else:
        sql = to is Target.SQL
        text = to_sql(made, table, dialect, view, reasons) if sql else dumped(to_json(made))
        if output is None:
            tell(text)
            return
        content = f"{text}\n".encode()
    with told(), replacing(output) as path:
        Path(path).write_bytes(content)
