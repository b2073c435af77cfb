"""The analyzer that is left open is the same by every road that rows come."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.engines.cases import check_same_sums

import priory
from priory.text import Analyzer

CLASSES = ["early", "late"]


@pytest.fixture(scope="module")
def rows():
    """Draw texts whose classes differ by the order of two words alone."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 1200)
    words = np.array(["alpha", "beta", "gamma", "delta"])
    ends = ("good not", "not good")
    texts = [f"{' '.join(rng.choice(words, 4))} {i} {ends[k]}" for i, k in enumerate(y)]
    return pd.DataFrame({"text": texts, "class": [CLASSES[k] for k in y]})


def csv(rows, folder):
    rows.to_csv(folder / "rows.csv", index=False)
    return str(folder / "rows.csv")


def json_lines(rows, folder):
    rows.to_json(folder / "rows.jsonl", orient="records", lines=True)
    return str(folder / "rows.jsonl")


def parquet(rows, folder):
    pq.write_table(pa.Table.from_pandas(rows, preserve_index=False), folder / "rows.parquet")
    return str(folder / "rows.parquet")


def stream(rows, folder):
    table = pa.Table.from_pandas(rows, preserve_index=False)
    return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(300))


def texts_in_folders(rows, folder):
    for label in CLASSES:
        (folder / label).mkdir()
    for i, (text, label) in enumerate(rows.itertuples(index=False)):
        (folder / label / f"{i}.txt").write_text(text, encoding="utf-8")
    return str(folder)


@pytest.mark.parametrize("road", [csv, json_lines, parquet, stream, texts_in_folders])
def test_every_road_chooses_alike_and_loses_no_row(rows, tmp_path, road):
    expected = priory.train(rows, "class", text={"text": "auto"})
    assert expected.schema["text"].analyzer == Analyzer("word", (1, 2))
    found = priory.train(road(rows, tmp_path), "class", text={"text": "auto"})
    assert found.schema["text"].analyzer == expected.schema["text"].analyzer
    check_same_sums(found.statistics, expected.statistics)
    asked = rows[["text"]].head(50)
    np.testing.assert_allclose(
        found.predict_proba(asked), expected.predict_proba(asked), atol=1e-12
    )
