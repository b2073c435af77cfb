"""The arguments and options that several commands share."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, TypeAlias, get_type_hints

import typer

from priory.cli.inputs import parse_pairs

__all__ = [
    "AsJson",
    "Costs",
    "Data",
    "Model",
    "NoNewClasses",
    "Opening",
    "Out",
    "Positive",
    "Prior",
    "Threshold",
    "Unsure",
    "UnsureCost",
    "opens_source",
]

Model = Annotated[Path, typer.Argument(help="A model file.", show_default=False)]
Data = Annotated[
    list[str],
    typer.Argument(
        help="Files, a pattern, a SQL query, a database, or - for stdin.", show_default=False
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Out = Annotated[Path | None, typer.Option("--output", "-o", help="Write here.", show_default=False)]
NoNewClasses = Annotated[
    bool, typer.Option("--no-new-classes", help="Refuse a class that the model does not know.")
]
Costs = Annotated[
    Path | None,
    typer.Option(help="A CSV file, true class × decision: decide at the least expected cost."),
]
Unsure = Annotated[
    float | None, typer.Option(help="Below this probability the prediction is unsure.")
]
UnsureCost = Annotated[
    float | None, typer.Option(help="What unsure costs; an error costs 1 without --costs.")
]
Prior = Annotated[
    str | None, typer.Option(help="The class prior of these rows: uniform, or No=.3,Yes=.7.")
]
Threshold = Annotated[
    float | None, typer.Option(help="The least probability of a row to be --positive.")
]
Positive = Annotated[
    str | None, typer.Option(help="The class of the threshold; of two the second.")
]
Opening: TypeAlias = dict[str, Any]
"""How a source is opened, as `priory.sources.open_source` takes it."""


def opens_source(command: Callable[..., None]) -> Callable[..., None]:
    """Replace the parameter `opening` of a command by an option for each part of it.

    Typer reads the options from the signature.
    """
    shared = _parameters(_opening)
    parameters = []
    for parameter in _parameters(command):
        parameters += shared if parameter.name == "opening" else [parameter]

    @wraps(command)
    def run(**given: Any) -> None:
        opening = _opening(**{parameter.name: given.pop(parameter.name) for parameter in shared})
        command(**given, opening=opening)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _opening(
    *,
    where: Annotated[
        str | None, typer.Option(help="Take only the rows that meet this SQL condition.")
    ] = None,
    na_values: Annotated[
        list[str],
        typer.Option(help="A further value that stands for a missing one; none: not even NA or ?."),
    ] = [],
    encoding: Annotated[str, typer.Option(help="The encoding of text files.")] = "utf-8",
    delimiter: Annotated[
        str | None, typer.Option(help="The delimiter of CSV files; by default it is detected.")
    ] = None,
    decimal: Annotated[str, typer.Option(help="The decimal mark of text files: . or ,")] = ".",
    thousands: Annotated[
        str | None, typer.Option(help="What stands between thousands in text files, such as ,")
    ] = None,
    on_error: Annotated[
        str, typer.Option(help="What to do with rows that cannot be read: fail or skip.")
    ] = "fail",
    table: Annotated[
        str | None, typer.Option(help="The table of a database, or the sheet of a workbook.")
    ] = None,
    query: Annotated[
        str | None, typer.Option(help="A query of a database, in its own SQL; it may only read.")
    ] = None,
    attach: Annotated[list[str], typer.Option(help="NAME=DATABASE that a query may read.")] = [],
) -> Opening:
    return {
        "where": where,
        "na_values": na_values,
        "encoding": encoding,
        "delimiter": delimiter,
        "decimal": decimal,
        "thousands": thousands,
        "on_error": on_error,
        "table": table,
        "query": query,
        "attach": parse_pairs(attach, "--attach"),
    }


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    hints = get_type_hints(function, include_extras=True)
    found = inspect.signature(function).parameters.values()
    return [parameter.replace(annotation=hints[parameter.name]) for parameter in found]
