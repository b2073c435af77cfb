"""The arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from priory.cli.inputs import parse_pairs

__all__ = [
    "AsJson",
    "Attach",
    "Data",
    "Delimiter",
    "Encoding",
    "Model",
    "NaValues",
    "Out",
    "Where",
    "reading",
]

Model = Annotated[Path, typer.Argument(help="A model file.", show_default=False)]
Data = Annotated[
    list[str],
    typer.Argument(help="Files, a pattern, a SQL query, or - for stdin.", show_default=False),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Where = Annotated[str | None, typer.Option(help="Take only the rows that meet this SQL condition.")]
NaValues = Annotated[
    list[str], typer.Option("--na-values", help="What stands for a gap, such as ? or NA.")
]
Encoding = Annotated[str, typer.Option(help="How text files are encoded.")]
Delimiter = Annotated[
    str | None, typer.Option(help="What stands between values; else it is found.")
]
Attach = Annotated[list[str], typer.Option(help="NAME=DATABASE that a query may read.")]
Out = Annotated[Path | None, typer.Option("--output", "-o", help="Write here.", show_default=False)]


def reading(
    where: str | None,
    na_values: list[str],
    encoding: str,
    delimiter: str | None,
    attach: list[str],
) -> dict[str, Any]:
    """Give how a source is opened, as `priory.sources` takes it."""
    return {
        "where": where,
        "na_values": na_values,
        "encoding": encoding,
        "delimiter": delimiter,
        "attach": parse_pairs(attach, "--attach"),
    }
