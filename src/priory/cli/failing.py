"""What people are told: results, remarks, and errors as one line and an exit code."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from priory.base.errors import PrioryError, SettingError
from priory.base.formatting import printable

__all__ = ["calling", "guarded", "say", "tell", "told"]

_names: dict[str, str] = {}

BAD_DATA, BAD_USAGE, INTERRUPTED = 1, 2, 130


def guarded(run: Callable[[], int], failed: int | None = None) -> int:
    """Run a command, and turn whatever it raises into an exit code, or into the one given."""
    bad_data = BAD_DATA if failed is None else failed
    try:
        code = run()
        sys.stdout.flush()
        return code
    except SettingError as error:
        return _failed(error, BAD_USAGE if failed is None else failed)
    except PrioryError as error:
        return _failed(error, bad_data)
    except KeyboardInterrupt:
        say("interrupted; nothing was written")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has left. Python would complain again on exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + getattr(signal, "SIGPIPE", 13)
    except MemoryError:
        return _failed(MemoryError("there is not enough memory"), bad_data)
    except OSError as error:
        what = f"{error.filename}: " if error.filename else ""
        return _failed(OSError(f"{what}{error.strerror or error}"), bad_data)
    except Exception as error:
        if os.environ.get("PRIORY_DEBUG"):
            raise
        text = f"this should not have happened: {type(error).__name__}: {error}. "
        return _failed(Exception(text + "With PRIORY_DEBUG=1 it shows where."), bad_data)


def say(text: str) -> None:
    """Print one line for people."""
    for path, name in _names.items():
        text = text.replace(path, name)
    print(f"priory: {printable(text)}", file=sys.stderr, flush=True)


def tell(text: str, end: str = "\n") -> None:
    """Print a result; names and values are no commands to a terminal."""
    sys.stdout.write((printable(text) if sys.stdout.isatty() else text) + end)


@contextmanager
def calling(names: dict[str, str]) -> Iterator[None]:
    """Let messages call temporary files by other names."""
    _names.update(names)
    yield


@contextmanager
def told(spelled: Callable[[str], str] = str) -> Iterator[list[str]]:
    """Print warnings as lines on stderr, each once, spelled by a function of their text."""
    heard: list[str] = []

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        text = spelled(str(message))
        if text not in heard:
            heard.append(text)
            say(f"warning: {text}")

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        yield heard


def _failed(error: BaseException, code: int) -> int:
    say(" ".join(str(error).split()))
    return code
