"""The command line: parse, call one function of the library, print.

Results go to stdout and everything else to stderr. A single prediction from a pipe must not wait
for the libraries that the other commands need, so it is looked for first.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line, and return its exit code: 0, 1 for bad data, 2 for bad usage."""
    from priory.cli.failing import guarded

    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["mail"]:  # which must not wait for the other commands either
        from priory.cli.mail import FAILED, run_mail

        failed = FAILED if given[1:2] == ["classify"] else None
        return guarded(lambda: run_mail(given[1:]), failed)
    return guarded(lambda: _run(given))


def _run(arguments: list[str]) -> int:
    from priory.base.errors import PrioryError

    try:
        if arguments[:1] == ["predict"]:
            from priory.cli.lines import asked_for, predict_lines

            asked = asked_for(arguments[1:])
            if asked is not None:
                predict_lines(asked)
                return 0
        from priory.cli.app import run

        return run(arguments)
    except PrioryError as error:
        from priory.cli.wording import in_options  # which loads all options

        raise type(error)(in_options(str(error))) from None
