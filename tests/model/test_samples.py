"""New rows have the types of the rows that were learned."""

import datetime as dt
import io
import json
import pickle
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from priory import Classifier, NaiveBayes, Settings, load, train
from priory.cli import main

N = 24
DAYS = pd.date_range("2020-01-01", periods=N, freq="D")


def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "whole": rng.integers(0, 50, N),
            "small": rng.integers(250, 256, N).astype(np.uint8),
            "nullable": pd.array([None, *range(N - 1)], dtype="Int64"),
            "single": rng.normal(size=N).astype(np.float32),
            "truth": rng.random(N) < 0.5,
            "maybe": pd.array([None, True] * (N // 2), dtype="boolean"),
            "day": DAYS,
            "moment": (DAYS + pd.Timedelta(hours=1.5)).tz_localize("Europe/Berlin"),
            "span": pd.to_timedelta(np.arange(N), unit="h"),
            "date": [day.date() for day in DAYS],
            "kind": pd.Categorical(["a", "b"] * (N // 2), categories=["b", "a", "z"], ordered=True),
            "code": pd.Categorical([3, 5] * (N // 2), categories=[5, 3, 9]),
            "word": ["x", "y", "y"] * (N // 3),
            "string": pd.array(["x", "y", None] * (N // 3), dtype="string"),
        }
    )


Y = ["p", "q"] * (N // 2)


@pytest.mark.parametrize("missing", ["skip", "category"])
def test_pandas(missing):
    X = frame()
    model = NaiveBayes(families="plain", smoothing=1.0, weights=None, missing=missing).fit(X, Y)
    table, _ = model.sample(200, random_state=0)
    wanted = X.dtypes.to_dict()
    if missing == "category":  # a gap may be drawn in a type that has none
        gaps = table.isna().any()
        for name in ("whole", "small"):
            wanted[name] = pd.Int64Dtype() if gaps[name] else wanted[name]
        wanted["truth"] = pd.BooleanDtype() if gaps["truth"] else wanted["truth"]
        assert gaps[["whole", "truth", "word"]].all()
    else:
        assert {"a", "b"} <= set(table["kind"]) <= {"a", "b", "z"}
        assert {3, 5} <= set(table["code"]) <= {3, 5, 9}
        assert table["small"].between(200, 255).all()
        assert all(type(value) is dt.date for value in table["date"])
        assert table["moment"].dt.tz is not None
        assert abs(table["moment"].dt.tz_convert("UTC").mean() - X["moment"].mean()).days < 5
        assert table["day"].between("2019-11-01", "2020-04-01").all()
    found = table.dtypes.to_dict()
    for name, dtype in wanted.items():
        assert found[name] == dtype, name
    model.partial_fit(table, ["p", "q"] * 100)
    assert pickle.loads(pickle.dumps(model)).sample(2)[0].dtypes["kind"] == X.dtypes["kind"]


def test_polars():
    columns = {name: values for name, values in frame().items() if name not in ("code", "string")}
    X = pl.DataFrame(
        [
            pl.Series(name, [None if v is pd.NA else v for v in values.to_list()])
            for name, values in columns.items()
        ],
    ).with_columns(
        pl.col("small").cast(pl.UInt8),
        pl.col("single").cast(pl.Float32),
        pl.col("kind").cast(pl.Enum(["b", "a", "z"])),
        pl.col("word").cast(pl.Categorical),
        pl.col("date").cast(pl.Date),
    )
    table, _ = NaiveBayes.textbook().fit(X, Y).sample(50, random_state=0)
    assert table.schema == X.schema
    assert table["whole"].is_between(-200, 200).all()


def test_arrow():
    X = pa.table(
        {
            "whole": pa.array(range(N), pa.int16()),
            "float": pa.array(np.linspace(0, 1, N), pa.float32()),
            "truth": pa.array([True, False] * (N // 2)),
            "day": pa.array([day.date() for day in DAYS], pa.date32()),
            "moment": pa.array(DAYS, pa.timestamp("ms", "UTC")),
            "kind": pa.array(["a", "b"] * (N // 2)).dictionary_encode(),
            "word": pa.array(["x", "y"] * (N // 2), pa.large_string()),
            "price": pa.array([Decimal(i) / 4 for i in range(N)], pa.decimal128(12, 2)),
            "clock": pa.array([dt.time(i % 24) for i in range(N)], pa.time32("s")),
            "gaps": pa.array([None, *range(N - 1)], pa.int64()),
        }
    )
    model = NaiveBayes(families="plain", weights=None, missing={"gaps": "category"}).fit(X, Y)
    table, _ = model.sample(300, y="p", random_state=0)
    assert table.schema.types == X.schema.types
    assert 0 < table["gaps"].null_count < 300


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.float32, np.float64])
def test_arrays(dtype):
    X = np.arange(2 * N).reshape(N, 2).astype(dtype)
    table, _ = NaiveBayes.textbook().fit(X, Y).sample(20, random_state=0)
    assert table.dtype == (dtype if np.dtype(dtype).kind in "iu" else np.float64)


def test_plain_python_comes_as_arrow():
    X = {"n": [1, 2, None] * 8, "t": [True, False] * 12, "x": [0.5, 1.0] * 12, "s": ["u", "v"] * 12}
    table, _ = NaiveBayes.textbook().fit(X, Y).sample(9, random_state=0)
    assert table.schema.types == [pa.int64(), pa.bool_(), pa.float64(), pa.string()]


def test_arrays_by_column():
    X = {name: values for name, values in frame().items()}
    classifier = Classifier(Settings.textbook({"small": "categorical"})).update(X, Y)
    columns, _ = classifier.sample(30, random_state=0)
    kinds = {name: values.dtype.kind for name, values in columns.items()}
    whole = ("whole", "small", "nullable", "code")
    assert {name for name, kind in kinds.items() if kind == "i"} == set(whole)
    assert kinds["truth"] == kinds["maybe"] == "b"
    assert columns["day"].dtype == columns["date"].dtype == np.dtype("datetime64[D]")
    assert columns["moment"].dtype == np.dtype("datetime64[us]")
    assert columns["span"].dtype == np.dtype("timedelta64[us]")
    assert set(columns["word"]) == {"x", "y"}
    again, _ = Classifier(Settings.textbook()).update(columns, ["p"] * 30).sample(5, random_state=0)
    assert {name: values.dtype.kind for name, values in again.items()} == kinds


def test_truths_written_as_numbers_stay_numbers():
    X = {"t": np.array([0, 1, 1, 0]), "u": ["1", "0", "1", "1"]}
    columns, _ = Classifier(Settings.textbook({"t": "bernoulli"})).update(X, [0, 0, 1, 1]).sample(9)
    assert columns["t"].dtype == np.int64
    assert set(columns["u"]) <= {"0", "1"}


def test_whole_numbers_with_gaps_are_floats_in_numpy():
    X = {"n": pd.array([1, None, 3, 4] * 5, dtype="Int64")}
    settings = Settings.textbook(missing="category")
    columns, _ = Classifier(settings).update(X, [0, 1] * 10).sample(60, random_state=0)
    some = columns["n"][~np.isnan(columns["n"])]
    assert len(some) < 60
    assert (some == np.rint(some)).all()


def test_structures_and_blocks():
    X = frame()[["whole", "truth", "kind", "word", "single"]]
    X["twice"] = X["whole"] * 2
    edges = [("whole", "twice"), ("truth", "twice")]
    for structure in ("tan", "aode", "joint", "hill-climb", edges):
        settings = Settings.textbook(structure=structure)
        drawn, _ = Classifier(settings).update(X, Y).sample(20, random_state=0)
        assert drawn["whole"].dtype == drawn["twice"].dtype == np.int64
        assert drawn["truth"].dtype == bool
    counts = {("a", "b"): "multinomial"}
    X = {"a": [1, 0, 2, 3], "b": [0, 2, 1, 0]}
    drawn, _ = Classifier(Settings.textbook(counts)).update(X, [0, 0, 1, 1]).sample(5)
    assert drawn["a"].dtype == drawn["b"].dtype == np.int64


def test_no_rows():
    table, _ = NaiveBayes.textbook().fit(frame(), Y).sample(0)
    assert table.dtypes.to_dict() == frame().dtypes.to_dict()


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_the_shell(suffix, tmp_path, capsys):
    X = frame()[["whole", "single", "truth", "day", "word"]].assign(y=Y)
    data, model = tmp_path / f"data.{suffix}", tmp_path / "m.priory"
    X.to_csv(data, index=False) if suffix == "csv" else X.to_parquet(data)
    train(str(data), "y", families="plain", smoothing=1.0).save(model)
    assert main(["sample", str(model), "-n", "9", "--random-state", "1"]) == 0
    table = pd.read_csv(io.StringIO(capsys.readouterr().out), parse_dates=["day"])
    assert table["whole"].dtype == np.int64
    assert table["truth"].dtype == bool
    assert table["day"].dt.normalize().equals(table["day"])
    assert main(["sample", str(model), "-n", "2", "--random-state", "1", "--json"]) == 0
    row = json.loads(capsys.readouterr().out.splitlines()[0])
    assert type(row["whole"]) is int
    assert type(row["truth"]) is bool
    assert row["day"].startswith("20")
    out = tmp_path / "out.parquet"
    assert main(["sample", str(model), "-n", "9", "-o", str(out)]) == 0
    types = {field.name: field.type for field in pq.read_schema(out)}
    assert types["whole"] == pa.int64()
    assert types["truth"] == pa.bool_()
    assert types["day"] == pa.date32()
    assert load(model).sample(3)[0]["day"].dtype == np.dtype("datetime64[D]")
