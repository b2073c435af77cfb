"""Learn on a cluster: the signatures, the defaults and the results of `priory.train`."""

from __future__ import annotations

import inspect
from typing import Any

from priory import sources
from priory.classifier.classifier import Classifier
from priory.spark.opening import open_cluster

__all__ = ["forget", "road_of", "train", "update"]

READ = ("where", "na_values", "encoding", "delimiter", "decimal", "thousands", "on_error")
OPENING = (*READ, "table", "query", "attach")


def train(
    source: Any,
    target: str | None = None,
    *,
    session: Any = None,
    road: str = "auto",
    tasks: int | None = None,
    **options: Any,
) -> Classifier:
    """Train a classifier on a Spark cluster; the result is what `priory.train` gives.

    Parameters
    ----------
    source : DataFrame of Spark (classic or Connect), path, pattern or list of Parquet files, table
        Plain Parquet files are read by the executors themselves, anything else goes through
        `mapInArrow`; `road_of` says which and why.
    target : str
        The column that holds the classes.
    session : SparkSession
        For paths and tables; the active one if it is not given.
    road : "auto", "files" or "frame"
        Insist on one of the two.
    tasks : int
        How many tasks read files, if row groups suffice; by default of 64 MB, eight at least.
    options
        All others are those of `priory.train`.

    Partitions are counted by the executors and added up on the cluster, the sample that is tuned on
    with them: the driver receives one model and one sample, however many partitions there are.

    >>> from pyspark.sql import SparkSession  # doctest: +SKIP
    >>> spark = SparkSession.builder.master("spark://host:7077").getOrCreate()  # doctest: +SKIP
    >>> priory.spark.train("days/*.parquet", "play", session=spark)  # doctest: +SKIP
    """
    opening = {name: options.pop(name) for name in OPENING if name in options}
    opened = open_cluster(source, session=session, road=road, tasks=tasks, **opening)
    return sources.train(opened, target, **options)


def update(classifier: Classifier, source: Any, *, new_classes: bool = True, **options: Any) -> int:
    """Learn the rows of one more source, and count them; see `train` for the options."""
    opened, rest = _opened(source, options)
    return sources.update(classifier, opened, new_classes=new_classes, **rest)


def forget(classifier: Classifier, source: Any, **options: Any) -> int:
    """Forget the rows of a source that were learned, and count them."""
    opened, rest = _opened(source, options)
    return sources.forget(classifier, opened, **rest)


def road_of(source: Any, *, session: Any = None, road: str = "auto", **opening: Any) -> str:
    """Say which road the rows of a source would take, and why, without reading them."""
    return open_cluster(source, session=session, road=road, **opening).road


def _opened(source: Any, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    names = (*OPENING, "session", "road", "tasks")
    opening = {name: options.pop(name) for name in names if name in options}
    return open_cluster(source, **opening), options


_own = list(inspect.signature(train).parameters.values())[:-1]
_given = [
    p
    for p in inspect.signature(sources.train).parameters.values()
    if p.name not in {own.name for own in _own}
]
train.__signature__ = inspect.Signature(_own + _given)  # type: ignore[attr-defined]
"""What `help` shows: the options by their names."""
