"""The function that Spark carries to its executors: it looks for priory there, and runs a job.

Everything in this module travels by value, so that an executor without priory, or with another
version of it, can say so; the job itself is unpacked only after that.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["PARTS", "on_executors"]

PARTS = "part int, shard int, sums binary, sample binary, notes string, error string"
"""What a partition sends: its sums in Arrow's format, its sample, and what went wrong."""


def on_executors(
    job: Callable[[Iterator[Any], int], Iterator[Any]], in_rows: bool = True
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Make a function for `mapInArrow` of a job that takes batches and the partition's number.

    With `in_rows` an error is a row of `PARTS`, of which the driver makes an error that can be
    read; else it is raised, and whoever asks for the result sees it.
    """
    from pyspark import cloudpickle

    from priory.base.version import __version__

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    return _runner(cloudpickle.dumps(job), __version__, in_rows)


def _runner(job: bytes, version: str, in_rows: bool) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import os
        import pickle
        import traceback

        import pyarrow as pa
        from pyspark import TaskContext

        context: Any = TaskContext.get()
        part = int(context.partitionId())
        failure: tuple[str, str] | None = None
        try:
            found = _version()
            if found != version:
                failure = ("SettingError", _other_version(found, version, os.uname().nodename))
            else:
                from priory.base.parallel import at_most

                with at_most(int(context.cpus())):
                    yield from pickle.loads(job)(batches, part)
        except Exception as error:
            known = "PrioryError" in [kind.__name__ for kind in type(error).__mro__]
            if not (known or in_rows):
                raise
            said = str(error) if known else traceback.format_exc(limit=-1)
            if f"partition {part}" not in said:  # else it says where by itself
                said = f"Partition {part}: {said}"
            failure = (type(error).__name__ if known else "", said)
        if failure is None:
            return
        if not in_rows:
            raise RuntimeError(failure[1])
        columns = [[part], [0], [None], [None], [None], ["\n".join(failure)]]
        types = [pa.int32(), pa.int32(), pa.binary(), pa.binary(), pa.string(), pa.string()]
        names = ["part", "shard", "sums", "sample", "notes", "error"]
        arrays = [pa.array(c, t) for c, t in zip(columns, types, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, names)

    return run


def _version() -> str | None:
    try:
        from priory.base.version import __version__
    except ImportError:
        return None
    return __version__


def _other_version(found: str | None, wanted: str, host: str) -> str:
    here = "no priory" if found is None else f"priory {found}"
    return (
        f"The executor on {host} has {here}, and the driver has priory {wanted}. Every executor "
        "needs the driver's version: install it in the Python that spark.pyspark.python names, or "
        "ship an environment with spark.archives (see the page on Spark)."
    )
