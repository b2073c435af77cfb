"""Predict lines of JSON as they come through a pipe, without waiting for anything else to load.

A line is answered in 0.3 s of processor time; through Typer and DuckDB it would take 0.7 s.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from priory.base.errors import InputError, PrioryError
from priory.classifier.classifier import Classifier, load
from priory.classifier.json_rows import answers, tidy_row
from priory.cli.failing import say, tell, told

__all__ = ["Asked", "asked_for", "predict_lines", "predicted"]

AT_ONCE = 1 << 20


@dataclass(frozen=True)
class Asked:
    """The arguments of `predict MODEL -`."""

    model: str
    proba: bool
    skips: bool = False


def asked_for(arguments: Sequence[str]) -> Asked | None:
    """Parse the arguments, if they ask for JSON lines from stdin and nothing else; else None."""
    text = " ".join(arguments).replace("--on-error ", "--on-error=").split()
    flags = {argument for argument in text if argument.startswith("--")}
    others = [argument for argument in text if argument not in flags]
    if len(others) != 2 or others[1] != "-" or others[0].startswith("-"):
        return None
    known = {"--proba", "--json", "--on-error=skip", "--on-error=fail"}
    if not flags <= known or others[0] not in arguments or sys.stdin.isatty():
        return None
    stdin: Any = sys.stdin.buffer
    start = stdin.peek(1)[:1]  # without consuming it
    return (
        Asked(others[0], "--proba" in flags, "--on-error=skip" in flags) if start == b"{" else None
    )


def predict_lines(asked: Asked) -> None:
    """Print a line of JSON with the prediction for each line of JSON on stdin.

    The good lines before a bad one are answered; then it is an error, or left out.
    """
    classifier = load(asked.model)
    left_out: list[str] = []
    with told():
        for number, lines in _lines(sys.stdin.buffer):
            for answers, error in _answered(classifier, lines, number, asked.proba):
                for answer in answers:
                    tell(json.dumps(answer, ensure_ascii=False))
                sys.stdout.flush()
                if error is not None and not asked.skips:
                    raise error
                left_out += [] if error is None else [str(error)]
    if left_out:
        from priory.cli.wording import in_options  # which a line that is answered need not load

        what = "1 line was" if len(left_out) == 1 else f"{len(left_out):,} lines were"
        say(f"warning: {what} left out: {in_options(' '.join(left_out[:3]))}")


Answers: TypeAlias = Iterator[tuple[list[dict[str, Any]], PrioryError | None]]


def _answered(classifier: Classifier, lines: Sequence[bytes], number: int, proba: bool) -> Answers:
    """Answer lines all at once; one by one from where that fails."""
    rows, errors = [], []
    for i, line in enumerate(lines):
        if line.strip():
            try:
                rows.append((number + i, _row(line, number + i)))
            except InputError as error:
                errors.append((number + i, error))
    try:
        if not errors:
            answers = predicted(classifier, [row for _, row in rows], proba) if rows else []
            yield list(answers), None
            return
    except PrioryError:
        pass
    for place, found in sorted([*rows, *errors], key=lambda pair: pair[0]):
        if isinstance(found, InputError):
            yield [], found
            continue
        try:
            yield list(predicted(classifier, [found], proba)), None
        except PrioryError as error:
            yield [], type(error)(f"Line {place}: {error}")


def predicted(classifier: Classifier, X: Any, proba: bool) -> Iterator[dict[str, Any]]:
    """Find the most probable class of each row and its probability; with `proba`, of all."""
    return answers(classifier.classes, classifier.predict_proba(X), proba)


def _lines(file: Any) -> Iterator[tuple[int, list[bytes]]]:
    """Iterate over the lines that have arrived, with the number of the first."""
    number, rest = 1, b""
    while piece := file.read1(AT_ONCE):
        *lines, rest = (rest + piece).split(b"\n")
        if lines:
            yield number, lines
            number += len(lines)
    if rest:
        yield number, [rest]


def _row(line: bytes, number: int) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"Line {number} is not JSON: {error}.") from None
    if not isinstance(row, dict):
        raise InputError(f'Line {number} must be an object such as {{"x": 1}}, not {row!r:.40}.')
    return tidy_row(row)
