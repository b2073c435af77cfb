"""Errors of a cluster, told as errors of priory: one line, and no stack of Java."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from priory.base import errors

__all__ = ["collected", "explained"]


def collected(parts: Any, name: str) -> list[dict[str, Any]]:
    """Fetch the rows of a frame of `PARTS`, or raise the first error among them."""
    with explained(name):
        rows: list[dict[str, Any]] = parts.toArrow().to_pylist()
    for row in sorted(rows, key=lambda row: row["part"]):
        if row["error"] is not None:
            kind, _, text = row["error"].partition("\n")
            if not kind:
                text = " ".join(text.strip().splitlines()[-1:])
                raise errors.InputError(f"{name}: partition {row['part']} failed: {text}")
            raise getattr(errors, kind, errors.InputError)(text)
    return rows


@contextmanager
def explained(name: str) -> Iterator[None]:
    """Translate what Spark says into one line."""
    from pyspark.errors import PySparkException

    try:
        yield
    except PySparkException as error:
        raise _told(name, error) from None
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ("py4j", "grpc"):
            raise
        raise _told(name, error) from None


def _told(name: str, error: Exception) -> errors.PrioryError:
    line = _line(str(error))
    if missing := re.search(r"No module named '(pyarrow|numpy|pandas|scipy)", line):
        return errors.SettingError(
            f"An executor has no {missing[1]}, without which its Python cannot count. Install "
            "priory in the Python that spark.pyspark.python names, or ship an environment with "
            "spark.archives (see the page on Spark)."
        )
    return errors.InputError(f"{name} could not be read by Spark: {line}")


def _line(text: str) -> str:
    """Find the line that says what is wrong."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for line in lines:
        if found := re.search(r"(?:Caused by: [\w.$]+|\w+(?:Error|Exception)): (.+)", line):
            return found[1] if "Job aborted" not in line else _reason(line)
    return lines[0] if lines else "it does not say why."


def _reason(line: str) -> str:
    return line.partition("Job aborted due to stage failure: ")[2] or line
