"""The counter: batches become the statistics, and the sample, of the rows together."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from priory import Classifier, NaiveBayes, Settings
from priory.base.errors import InputError, MissingValueError, SchemaError
from priory.classifier import Counter
from priory.classifier.drift import Learned
from priory.data.schema import Kind

N = 3000
RNG = np.random.default_rng(0)
X = {
    "colour": RNG.choice(["red", "blue", "green"], N).tolist(),
    "size": RNG.integers(-20, 20, N) / 4,
    "note": [None] * (N // 2) + ["a", "b"] * (N // 4),
}
Y = RNG.choice(["no", "yes"], N).tolist()


def rows(some):
    return {name: values[some] for name, values in X.items()}, Y[some]


def counted(counter, *ends):
    for a, b in pairwise(ends):
        counter.add(*rows(slice(a, b)))
    return counter


@pytest.mark.parametrize("ends", [(0, N), (0, 7, 8, 2000, N), tuple(range(0, N + 1, 100))])
def test_batches_add_up_to_the_whole(ends):
    whole = Classifier(Settings.textbook()).update(X, Y).statistics
    found = counted(Counter(Settings.textbook()), *ends).total()
    assert found == whole and found.schema == whole.schema


@pytest.mark.parametrize("structure", ["tan", "aode"])
def test_what_the_first_batch_counts_together_the_others_do(structure):
    settings = Settings.textbook(structure=structure)
    pieces = Classifier(settings).update(*rows(slice(0, 1000))).update(*rows(slice(1000, N)))
    assert counted(Counter(settings), 0, 1000, N).total() == pieces.statistics


def test_the_sample_does_not_depend_on_the_batches():
    one = counted(Counter(Settings(), sample_size=500), 0, N).sample
    many = counted(Counter(Settings(), sample_size=500), 0, 10, 1500, N).sample
    assert one.hashes.tolist() == many.hashes.tolist() and one.n_rows == many.n_rows
    assert counted(Counter(Settings()), 0, N).sample is None


def test_a_total_can_be_asked_for_at_any_time():
    counter = counted(Counter(Settings.textbook()), 0, 10)
    assert counter.total().n_rows == 10 and not counter.is_empty
    counter.add(*rows(slice(10, 30)))
    assert counter.total().n_rows == 30


def test_nothing_was_added():
    assert Counter(Settings()).is_empty
    with pytest.raises(InputError, match="no batch was added"):
        Counter(Settings()).total()


def test_values_come_in_the_types_that_were_learned():
    learned = Classifier(Settings.textbook()).update({"x": [True, False]}, [0, 1]).statistics
    counter = Counter(Settings.textbook(), learned.schema, Learned(learned))
    counter.add({"x": ["True", "False"]}, ["0", "1"])
    assert counter.total().classes == (0, 1)
    assert counter.total().tables["x"].labels == (False, True)


def test_rows_are_named_unless_they_are_of_a_batch():
    table = {"x": [1.0, np.inf]}
    with pytest.raises(InputError, match="row 1"):
        Counter(Settings()).add(table, [0, 1])
    with pytest.raises(InputError) as failed:
        Counter(Settings(), in_batches=True).add(table, [0, 1])
    assert "row 1" not in str(failed.value)


def test_a_batch_that_is_refused_counts_for_nothing():
    counter = Counter(Settings.textbook(missing="error"), sample_size=100)
    counter.add({"x": ["a", "b"]}, [0, 1])
    before = counter.total()
    with pytest.raises(MissingValueError, match="'x' has 1 missing"):
        counter.add({"x": ["a", None]}, [0, 1])
    with pytest.raises(SchemaError, match="'z' was not there"):
        counter.add({"z": ["a"]}, [0])
    assert counter.total() == before and counter.sample.n_rows == 2


def test_a_column_that_names_its_rows_is_given_up(monkeypatch):
    monkeypatch.setattr("priory.classifier.counter.IDENTIFIER_ROWS", 100)
    counter = Counter(Settings.textbook())
    for k in range(4):
        counter.add({"id": [f"{k}-{i}" for i in range(60)], "x": ["a", "b"] * 30}, ["y", "n"] * 30)
    assert counter.total().schema["id"].kind is Kind.IDENTIFIER
    assert set(counter.total().tables) == {"x"} and counter.total().n_rows == 240


def test_a_table_is_opened_once():
    class Stream:
        opened = 0

        def __arrow_c_stream__(self, requested_schema=None):
            self.opened += 1
            return pa.table({"x": ["a", "b", "a"]}).__arrow_c_stream__(requested_schema)

    for fit in (NaiveBayes().fit, Classifier().fit, Classifier().update):
        stream = Stream()
        fit(stream, [0, 1, 0])
        assert stream.opened == 1
