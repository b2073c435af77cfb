"""Spark on a real cluster: what it learns and predicts is what one machine does.

`make test-engines` runs this twice: with a classic session, and by Spark Connect.
"""

import json
import os
import re
import subprocess
import sys
import threading
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.engines.cases import CASES, check_same, check_same_sums, mixed
from tests.engines.spark_cluster import environment

import priory
import priory.spark
from priory.base.errors import InputError, MissingValueError, PrioryWarning, SettingError
from priory.evaluation import evaluate
from priory.sources import forget, update
from priory.spark.opening import open_cluster

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support:FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
CONNECT = os.environ.get("PRIORY_SPARK") == "connect"
classic = pytest.mark.skipif(CONNECT, reason="the same by Connect, and it takes its time")


def write(table, folder, name="rows.parquet", row_group_size=500):
    path = folder / name
    pq.write_table(table, path, row_group_size=row_group_size)
    return str(path)


@pytest.fixture(scope="module")
def days(tmp_path_factory):
    """Train on a file, on one machine."""
    path = write(pa.table(mixed()), tmp_path_factory.mktemp("days"))
    return path, priory.train(path, "y")


@pytest.mark.parametrize("name", ["plain", "late", "texts", "condition"] if CONNECT else CASES)
@pytest.mark.filterwarnings("ignore::priory.PrioryWarning")
def test_every_case_is_that_of_one_machine(session, tmp_path, name):
    case = CASES[name]()
    path = write(case.table, tmp_path)
    one = priory.train(path, case.target, **case.options)
    rows = case.table.slice(0, 500)
    for road, n in (("files", 2), ("frame", 3)):
        source = path if road == "files" else session.read.parquet(path).repartition(n)
        found = priory.spark.train(
            source, case.target, session=session, road=road, tasks=n, **case.options
        )
        check_same(found, one, rows)


@pytest.mark.parametrize("n", [1, 8])
def test_the_number_of_partitions_does_not_matter(session, days, n):
    path, one = days
    rows = pq.read_table(path).slice(0, 200)
    check_same(priory.spark.train(path, "y", session=session, tasks=n), one, rows)
    frame = session.read.parquet(path).repartition(n)
    check_same(priory.spark.train(frame, "y"), one, rows)


def test_empty_partitions_count_for_nothing(session, tmp_path):
    path = write(pa.table(mixed(40)), tmp_path)
    frame = session.read.parquet(path).repartition(20, "size")  # three values and a gap
    found = priory.spark.train(frame, "y", settings=priory.Settings.textbook())
    check_same_sums(found.statistics, priory.train(path, "y").statistics)


def test_the_driver_receives_one_model_and_one_sample(session, days):
    path, one = days
    received = {}
    for n in 2, 40:
        frame = session.read.parquet(path).repartition(n)
        for road, source in (("frame", frame), ("files", path)):
            opened = open_cluster(source, session=session, tasks=n)
            check_same_sums(priory.train(opened, "y").statistics, one.statistics)
            received[road, n] = opened.received
    for road in "frame", "files":
        assert received[road, 40] < 1.05 * received[road, 2]


def test_rows_without_a_class_are_told(session, tmp_path):
    path = write(CASES["rows without a class"]().table, tmp_path)
    with pytest.warns(PrioryWarning, match=r"334 rows of .*rows.parquet have no 'y'"):
        priory.spark.train(path, "y", session=session)


def test_the_road_is_told(session, days, tmp_path):
    path, one = days
    assert priory.spark.road_of(path, session=session) == "executors read the Parquet files"
    frame = session.read.parquet(path)
    assert "a frame is read by Spark" in priory.spark.road_of(frame)
    frame.createOrReplaceTempView("some_view")
    assert "through mapInArrow: some_view is a" in priory.spark.road_of(
        "some_view", session=session
    )
    check_same_sums(
        priory.spark.train("some_view", "y", session=session).statistics, one.statistics
    )
    with pytest.raises(SettingError, match="road='files' cannot be taken for some_view"):
        priory.spark.train("some_view", "y", session=session, road="files")
    with pytest.raises(InputError, match=r"no table or file some_vew. Did you mean 'some_v"):
        priory.spark.train("some_vew", "y", session=session)


def test_a_table_of_parquet_is_read_by_the_executors(session, days, tmp_path):
    path, one = days
    folder = tmp_path / "table"
    folder.mkdir()
    write(pq.read_table(path), folder)
    session.sql(f"CREATE TABLE plain_days USING parquet LOCATION '{folder}'")
    try:
        assert priory.spark.road_of("plain_days", session=session).startswith("executors read")
        found = priory.spark.train("plain_days", "y", session=session)
        check_same_sums(found.statistics, one.statistics)
    finally:
        session.sql("DROP TABLE plain_days")


def test_predictions_are_columns_beside_the_others(session, days):
    path, one = days
    table = pq.read_table(path)
    found = priory.spark.predict(
        one, session.read.parquet(path).repartition(2), proba=True, explain=True
    ).toArrow()
    assert found.column_names[: table.num_columns] == table.column_names
    assert found.num_rows == table.num_rows
    assert found.column_names[table.num_columns :] == [
        *("prediction", "probability"),
        *(f"P({k})" for k in one.classes),
        "explanation",
    ]
    p = np.stack([found[f"P({k})"].to_numpy() for k in one.classes], axis=1)
    expected = one.predict_proba(found.select(table.column_names))
    np.testing.assert_allclose(p, expected, rtol=1e-9)
    assert found["prediction"].to_pylist() == [one.classes[k] for k in expected.argmax(axis=1)]
    reasons, row = found["explanation"][0].as_py(), one.explain(found.slice(0, 1))[0]
    first, second = np.argsort(-row.posterior)[:2]
    strongest = row.by_column()[reasons[0]["column"]]
    assert reasons[0]["log_odds"] == pytest.approx(strongest[first] - strongest[second])
    assert abs(reasons[0]["log_odds"]) >= abs(reasons[-1]["log_odds"])


def test_a_column_that_predict_would_add_is_refused(session, days):
    path, one = days
    frame = session.read.parquet(path).withColumnRenamed("y", "PREDICTION")
    with pytest.raises(SettingError, match="The frame has a column 'prediction' already"):
        priory.spark.predict(one, frame)


def test_sql_predicts(session, days):
    path, one = days
    session.read.parquet(path).createOrReplaceTempView("days")
    priory.spark.register(one, session)
    query = "SELECT priory_predict(struct(*)) AS a, * FROM days LIMIT 50"
    found = session.sql(query).toArrow()
    rows = found.drop_columns(["a"])
    assert [a["prediction"] for a in found["a"].to_pylist()] == one.predict(rows).tolist()
    p = one.predict_proba(rows).max(axis=1)
    np.testing.assert_allclose([a["probability"] for a in found["a"].to_pylist()], p, rtol=1e-9)


def test_evaluate_update_and_forget(session, days, tmp_path):
    _, one = days
    more = write(pa.table(mixed(1000, seed=5)), tmp_path)
    rows = pq.read_table(more)
    frame = session.read.parquet(more)
    found = priory.spark.evaluate(one, frame)
    expected = evaluate(one, rows.drop_columns(["y"]), rows["y"].to_pylist())
    assert found.accuracy == pytest.approx(expected.accuracy, abs=1e-12)
    assert found.log_loss == pytest.approx(expected.log_loss, rel=1e-9)
    here, there = one.copy(), one.copy()
    assert priory.spark.update(here, frame) == update(there, more) == 1000
    check_same(here, there, rows)
    assert priory.spark.forget(here, more, session=session) == forget(there, more) == 1000
    check_same(here, there, rows)


@pytest.mark.skipif(CONNECT, reason="the server would have to write the model file")
def test_a_stream_counts_each_batch_once(session, days, tmp_path):
    _, one = days
    model, folder = tmp_path / "days.priory", tmp_path / "stream"
    one.save(model, keep_sample=True)
    folder.mkdir()
    checkpoint = str(tmp_path / "seen")
    tables = [pa.table(mixed(300, seed=i)) for i in range(3)]

    def learn():
        stream = session.readStream.schema(session.read.parquet(str(folder)).schema)
        query = priory.spark.update_stream(
            model, stream.parquet(str(folder)), checkpoint, trigger={"availableNow": True}
        )
        assert query.awaitTermination(120)
        return priory.load(model)

    write(tables[0], folder, "0.parquet")
    assert learn().statistics.n_rows == 3300
    write(tables[1], folder, "1.parquet")
    found = learn()
    assert found.statistics.n_rows == 3600
    ((stream, batch),) = found.provenance.streams.items()
    assert batch == 1
    # What Spark does after a failure between the model and its own notes: the batch comes again.
    (tmp_path / "seen" / "commits" / "1").unlink()
    (tmp_path / "seen" / "commits" / ".1.crc").unlink(missing_ok=True)
    write(tables[2], folder, "2.parquet")
    found = learn()
    assert found.statistics.n_rows == 3900
    assert found.provenance.streams == {stream: 2}
    expected = priory.load(model).blank()
    for table in (pq.read_table(days[0]), *tables):
        expected.update(table.drop_columns(["y"]), table["y"].to_pylist())
    check_same_sums(found.statistics, expected.statistics)


def test_a_row_that_cannot_be_counted_names_its_column_and_partition(session, tmp_path):
    columns = mixed(1000)
    path = write(pa.table(columns), tmp_path, row_group_size=250)
    options = {"missing": {"size": "error"}, "session": session}
    with pytest.raises(MissingValueError, match=r"'size'.*") as told:
        priory.spark.train(path, "y", tasks=4, **options)
    assert re.match(r"Partition \d: ", str(told.value)) and "at org.apache" not in str(told.value)
    with pytest.raises(MissingValueError, match=r"Partition \d: .*'size'"):
        priory.spark.train(session.read.parquet(path), "y", **options)
    weights = np.where(np.arange(1000) == 700, -1.0, 1.0)
    path = write(pa.table({**columns, "w": weights}), tmp_path, row_group_size=250)
    with pytest.raises(InputError, match="artition 2"):
        priory.spark.train(path, "y", tasks=4, weight="w", session=session)


def test_a_value_that_was_not_learned_names_its_row(session, days):
    path, one = days
    frame = session.read.parquet(path).selectExpr(
        "* EXCEPT (number)", "CASE WHEN count = 3 THEN 'three' ELSE '1.5' END AS number"
    )
    with pytest.raises(
        Exception, match=r"partition \d: column 'number' is read as numbers"
    ) as told:
        priory.spark.predict(one, frame).toArrow()
    assert "at org.apache.spark" not in str(told.value).partition("Driver stacktrace")[0]


def test_another_version_on_the_executors_is_told(session, days, monkeypatch):
    monkeypatch.setattr("priory.base.version.__version__", "9.9")
    with pytest.raises(SettingError, match=r"has priory .*, and the driver has priory 9.9"):
        priory.spark.train(days[0], "y", session=session)


NO_PRIORY = """
import importlib.abc, sys
class Hidden(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "priory":
            raise ModuleNotFoundError(name=name)
sys.meta_path.insert(0, Hidden())
"""
DRIVER = """
import priory.spark, sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
try:
    priory.spark.train(sys.argv[1], "y", session=spark)
except priory.PrioryError as error:
    print(error)
"""


@classic
def test_executors_without_priory_are_told(cluster, days, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(NO_PRIORY)
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path}:$PYTHONPATH exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    env = {**environment(cluster.home), "PYSPARK_PYTHON": str(python)}
    env["PYSPARK_DRIVER_PYTHON"] = sys.executable
    command = [sys.executable, "-W", "ignore", "-c", DRIVER, days[0]]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=200)
    assert "has no priory, and the driver has priory" in done.stdout, done.stderr
    assert "org.apache" not in done.stdout


@classic
def test_the_shell_trains_on_a_cluster(cluster, days, tmp_path):
    path, one = days
    out = tmp_path / "shell.priory"
    command = [sys.executable, "-W", "ignore", "-m", "priory", "train", "--spark", "local[2]"]
    command += [path, "--target", "y", "-o", str(out), "--json"]
    env = environment(cluster.home)
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    assert "on local[2], executors read the Parquet files" in done.stderr
    assert json.loads(done.stdout)["rows"] == 3000
    check_same_sums(priory.load(out).statistics, one.statistics)


@classic
def test_a_worker_that_dies_changes_nothing(session, cluster, tmp_path):
    """Kill a worker and its executor while they count; the rest is counted by the other."""
    n = 400_000
    path = write(pa.table(mixed(n)), tmp_path, row_group_size=20_000)
    settings = priory.Settings.textbook()
    one = priory.train(path, "y", settings=settings)
    found, began = {}, time.monotonic()

    def learn():
        found["model"] = priory.spark.train(path, "y", session=session, tasks=20, settings=settings)

    thread = threading.Thread(target=learn)
    thread.start()
    tracker = session.sparkContext.statusTracker()
    while thread.is_alive() and time.monotonic() < began + 60:
        stages = [tracker.getStageInfo(i) for i in tracker.getActiveStageIds()]
        if any(s is not None and s.numTasks == 20 and s.numCompletedTasks >= 3 for s in stages):
            break
        time.sleep(0.02)
    else:
        pytest.fail("the job was over before a worker could be killed")
    cluster.kill("second")
    assert thread.is_alive(), "the job was over before the worker was killed"
    thread.join(300)
    assert not thread.is_alive()
    check_same_sums(found["model"].statistics, one.statistics)
    cluster.start_worker("second")
