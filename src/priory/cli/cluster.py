"""Training from the shell on a cluster of Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any

from priory.base.errors import SettingError
from priory.cli.failing import say
from priory.cli.wording import in_options

__all__ = ["on_cluster"]

Chosen = Callable[[Sequence[str]], AbstractContextManager[Any]]


def on_cluster(url: str) -> tuple[Callable[..., Any], Chosen]:
    """Give the function that trains on a cluster, and that which opens data there."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise SettingError(
            "--spark needs PySpark, which is not installed: pip install 'priory[spark]'."
        ) from None
    from priory.spark import road_of, train

    builder: Any = SparkSession.builder
    builder = builder.remote(url) if url.startswith("sc://") else builder.master(url)
    try:
        session = builder.appName("priory").getOrCreate()
    except Exception as error:
        line = next((part for part in str(error).splitlines() if part.strip()), repr(error))
        raise SettingError(
            f"--spark {url}: no session could be had there: {line.strip()}"
        ) from None

    @contextmanager
    def chosen(data: Sequence[str]) -> Iterator[Any]:
        source = data[0] if len(data) == 1 else list(data)
        say(in_options(f"on {url}, {road_of(source, session=session)}"))
        try:
            yield source
        finally:
            session.stop()

    return partial(train, session=session), chosen
