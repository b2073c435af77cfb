"""Predict on a cluster: columns are added to a frame, and the rest of it stays as it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from priory.base.errors import SchemaError, SettingError, listing
from priory.base.typing import FloatArray, Label
from priory.classifier.classifier import Classifier
from priory.data.rawtables import RawTable
from priory.model.explanation import Explanation
from priory.sources.base import Batch, Reading, row_number
from priory.sources.fitting import fitted, not_fitting
from priory.sources.learned_forms import known_features, learned_forms
from priory.spark.carrying import carried, loaded, opened_model
from priory.spark.counting import PartSource, as_tables
from priory.spark.executing import on_executors
from priory.spark.opening import session_of

__all__ = ["Answer", "predict", "register"]


def predict(model: Any, frame: Any, *, proba: bool = False, explain: bool = False) -> Any:
    """Add the predicted class of every row, and its probability, to a frame of Spark.

    `proba` adds the probability of every class as well, in columns such as P(yes), and `explain` a
    column of reasons, the strongest first: what each column of the row says for the predicted
    class and against the next one, with its weight where one was learned,

        log_odds = log P(value | predicted) − log P(value | next)

    The model is a classifier or a model file. It goes to the executors once; rows are read when the
    result is asked for.

    >>> priory.spark.predict("days.priory", spark.table("days")).show()  # doctest: +SKIP
    """
    from pyspark.sql.types import StructField, StructType

    classifier = opened_model(model)
    _ = classifier.model  # tuned where that is due: executors only predict
    features = known_features(classifier, PartSource((), "Spark frame", frame.columns, Reading()))
    answer = Answer(carried(classifier, frame.sparkSession), features, proba, explain)
    added = _added(classifier.classes, proba, explain)
    there = {column.lower() for column in frame.columns}
    if twice := [name for name in added if name.lower() in there]:
        raise SettingError(
            f"The frame has a column {listing(twice)} already, which predict adds. Rename it: "
            f"frame.withColumnRenamed({twice[0]!r}, …)."
        )
    schema = StructType([*frame.schema.fields, *(StructField(n, k) for n, k in added.items())])
    return frame.mapInArrow(on_executors(answer, in_rows=False), schema)


def register(model: Any, session: Any = None, name: str = "priory_predict") -> None:
    """Let SQL predict: a function of a struct of columns, which gives the class and P(class).

    Columns go by their names, so that struct(*) does; others than the model's are not looked at.

    >>> priory.spark.register("days.priory", spark)  # doctest: +SKIP
    >>> spark.sql("SELECT *, priory_predict(struct(*)).prediction FROM days")  # doctest: +SKIP
    """
    try:
        from pyspark.sql.functions import arrow_udf
        from pyspark.sql.types import StructField, StructType
    except ImportError:
        raise SettingError(
            "A function for SQL needs PySpark 4.1 or newer; predict does not."
        ) from None
    import pyarrow as pa

    session = session_of(session)
    classifier = opened_model(model)
    _ = classifier.model
    features = tuple(c for c in classifier.statistics.schema.columns)
    answer = Answer(carried(classifier, session), features, proba=False, explain=False)
    added = _added(classifier.classes, proba=False, explain=False)
    run = on_executors(answer.of_structs, in_rows=False)
    arrays = Iterator[pa.Array]
    run.__annotations__ = {"batches": arrays, "return": arrays}  # by which Spark knows its kind
    kind = StructType([StructField(name, of) for name, of in added.items()])
    session.udf.register(name, arrow_udf(run, kind))


class Answer:
    """Predict the rows of a partition on an executor."""

    def __init__(self, model: str, features: Sequence[str], proba: bool, explain: bool) -> None:
        self._model, self._features = model, tuple(features)
        self._proba, self._explain = proba, explain

    def __call__(self, batches: Iterator[Any], part: int) -> Iterator[Any]:
        """Add the columns to each batch."""
        classifier, before = loaded(self._model), 0
        for table in as_tables(batches):
            place = row_number(f"partition {part}", before)
            for name, column in self.columns(classifier, table, place).items():
                table = table.append_column(name, column)
            yield from table.combine_chunks().to_batches()
            before += table.num_rows

    def of_structs(self, structs: Iterator[Any], part: int) -> Iterator[Any]:
        """Predict the rows of arrays of structs."""
        import pyarrow as pa

        classifier = loaded(self._model)
        for struct in structs:
            table = pa.Table.from_struct_array(struct)
            columns = self.columns(classifier, table, f"row {{}} of partition {part}".format)
            yield pa.StructArray.from_arrays(list(columns.values()), list(columns))

    def columns(self, classifier: Classifier, table: Any, place: Any) -> Mapping[str, Any]:
        """Compute the columns that are added to a table."""
        import pyarrow as pa

        X = read_rows(classifier, table, self._features, place)
        p = classifier.predict_proba(X)
        best = p.argmax(axis=1)
        classes = classifier.classes
        kind = _arrow_kind(classes)
        names = pa.array([str(k) if kind == pa.string() else k for k in classes], kind)
        found = {"prediction": names.take(pa.array(best)), "probability": pa.array(_best(p, best))}
        if self._proba:
            found |= {f"P({k})": pa.array(p[:, i]) for i, k in enumerate(classes)}
        if self._explain:
            found["explanation"] = _reasons(classifier.explain(X), table)
        return found


def read_rows(classifier: Classifier, table: Any, features: Sequence[str], place: Any) -> RawTable:
    """Read rows in the forms that were learned, or say which value does not fit."""
    columns = {name: table[name] for name in features if name in table.column_names}
    learned = learned_forms(classifier.statistics)
    batch = fitted(Batch(columns, table.num_rows, place=place), learned, Reading())
    for name, odd in batch.misread.items():
        told = f"{place(odd.rows[0])}: {not_fitting(name, learned[name], odd.values[0])}."
        raise SchemaError(f"{told[0].upper()}{told[1:]}")
    return batch.table(features)


def _added(classes: Sequence[Label], proba: bool, explain: bool) -> dict[str, Any]:
    """List the columns that are added, with their types in Spark."""
    from pyspark.sql import types as t

    own = {"string": t.StringType(), "int64": t.LongType(), "bool": t.BooleanType()}
    kind = own.get(str(_arrow_kind(classes)), t.DoubleType())
    added = {"prediction": kind, "probability": t.DoubleType()}
    if proba:
        added |= {f"P({label})": t.DoubleType() for label in classes}
    if explain:
        reason = t.StructType().add("column", "string").add("value", "string")
        added["explanation"] = t.ArrayType(reason.add("log_odds", "double"))
    return added


def _arrow_kind(classes: Sequence[Label]) -> Any:
    """Find the type of the classes in Arrow; mixed ones are strings."""
    import pyarrow as pa

    kinds = {type(label) for label in classes}
    if kinds == {bool}:
        return pa.bool_()
    if kinds == {int}:
        return pa.int64()
    return pa.float64() if kinds <= {int, float} else pa.string()


def _best(p: FloatArray, best: Any) -> FloatArray:
    return p[np.arange(len(p)), best]


def _reasons(explanation: Explanation, table: Any) -> Any:
    """List what each column says for the predicted class and against the next, row by row."""
    import pyarrow as pa

    said = explanation.by_column()
    rows, columns = np.arange(len(explanation)), list(said)
    ranks = np.argsort(-explanation.posterior, axis=1, kind="stable")
    first, second = ranks[:, 0], ranks[:, min(1, ranks.shape[1] - 1)]
    with np.errstate(invalid="ignore"):
        odds = np.stack([s[rows, first] - s[rows, second] for s in said.values()], axis=1)
    order = np.argsort(-np.abs(odds), axis=1, kind="stable")
    sorted_odds = np.take_along_axis(odds, order, axis=1)
    told = sorted_odds != 0  # what says nothing, as a missing value does, is no reason
    which, row = order[told], np.broadcast_to(rows[:, None], order.shape)[told]
    values = pa.concat_arrays([_as_text(table, column) for column in columns])
    reasons = pa.StructArray.from_arrays(
        [
            pa.array(columns, pa.string()).take(pa.array(which)),
            values.take(pa.array(which * len(rows) + row)),
            pa.array(sorted_odds[told]),
        ],
        ["column", "value", "log_odds"],
    )
    ends = np.concatenate([[0], np.cumsum(told.sum(axis=1))]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(ends), reasons)


def _as_text(table: Any, column: str) -> Any:
    """Write the values of a column as text; a pair of columns has none of its own."""
    import pyarrow as pa

    if column not in table.column_names:
        return pa.nulls(table.num_rows, pa.string())
    found = table[column].cast(pa.string())
    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found
