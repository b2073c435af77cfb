"""What partitions send: packed, added up in any order, dealt to shards; no cluster is needed."""

import numpy as np
import pyarrow as pa
import pytest

from priory import Settings
from priory.classifier.counter import Counter
from priory.sources.counting import Counted
from priory.spark import parts
from priory.spark.parts import packed, rows_of, total_of, unpacked
from priory.text import Analyzer


def counted(seed, n=200, **changes):
    rng = np.random.default_rng(seed)
    words = [f"w{i}" for i in rng.integers(0, 80, 4 * n)]
    columns = {
        "x": rng.normal(size=n),
        "label": [f"v{i}" for i in rng.integers(0, 60, n)],
        "note": [" ".join(words[4 * i : 4 * i + 4]) for i in range(n)],
    }
    settings = Settings.textbook(text={"note": Analyzer("word")}, **changes)
    counter = Counter(settings, sample_size=50)
    counter.add(pa.table(columns), rng.choice(["a", "b", "c"], n))
    return Counted(counter.total(), counter.sample, unlabelled=seed, left_out=(f"row {seed}",))


def sent(one, part=0):
    return list(rows_of(packed(part, one)))


def same(a, b):
    assert a.total.classes == b.total.classes
    for name, table in b.total.tables.items():
        if name != "x":
            assert a.total.tables[name] == table
    np.testing.assert_array_equal(a.sample.hashes, b.sample.hashes)
    np.testing.assert_array_equal(a.sample.rows, b.sample.rows)


def test_a_part_arrives_as_it_was_sent():
    one = counted(1)
    (row,) = sent(one, 7)
    found = unpacked(row)
    assert found.total == one.total
    assert (row["part"], found.unlabelled, found.left_out) == (7, 1, ("row 1",))
    same(found, one)


def test_nothing_is_sent_of_no_rows():
    assert sent(Counted(None, None)) == []
    (row,) = sent(Counted(None, None, unlabelled=3))
    assert unpacked(row) == Counted(None, None, 3)
    assert total_of([]) is None


@pytest.mark.parametrize("n", [1, 2, 5, 16])
def test_the_order_of_parts_does_not_matter(n):
    several = [counted(i, 60) for i in range(n)]
    rows = [row for i, one in enumerate(several) for row in sent(one, i)]
    there, back = total_of(rows), total_of(rows[::-1])
    same(there, back)
    assert there.total.n_rows == 60 * n
    assert there.unlabelled == sum(range(n))


def test_shards_add_up_to_the_whole(monkeypatch):
    one, two = counted(1), counted(2)
    whole = one + two
    monkeypatch.setattr(parts, "MANY_SUMS", 10)
    rows = sent(one, 0) + sent(two, 1)
    assert {row["shard"] for row in rows} == set(range(parts.SHARDS))
    found = total_of(rows)
    same(found, whole)
    assert found.total.n_rows == whole.total.n_rows
    # Each value is in one shard alone, so that no shard is as large as the whole.
    largest = max(len(row["sums"]) for row in rows[1 : parts.SHARDS])
    assert largest < len(sent_whole(one, monkeypatch)["sums"])


def sent_whole(one, monkeypatch):
    monkeypatch.setattr(parts, "MANY_SUMS", 500_000)
    return sent(one)[0]


def test_limited_vocabularies_stay_in_one_shard(monkeypatch):
    monkeypatch.setattr(parts, "MANY_SUMS", 10)
    limited = Settings.textbook(text={"note": Analyzer("word", max_features=30)})
    counter = Counter(limited, sample_size=0)
    counter.add(pa.table({"note": ["a b c", "c d"] * 20}), ["y", "n"] * 20)
    found = total_of(sent(Counted(counter.total(), None)))
    assert found.total == counter.total()
