"""Each table by hand: what it counts, what it reads out, what it refuses."""

import numpy as np
import pytest
from scipy import sparse

from priory.base.errors import ForgetError, InputError, SettingError
from priory.base.labels import label_token
from priory.data.columns import Counts, Labels, Numbers
from priory.data.schema import Block, Kind
from priory.statistics.longtable import BlockParts, Part
from priory.statistics.tables import (
    CellsTable,
    CountsTable,
    LabelsTable,
    MomentsTable,
    NumbersTable,
)

NAN = float("nan")


def codes(*values):
    return np.array(values, dtype=np.int32)


def block(*columns):
    return Block(", ".join(columns), columns, Kind.MOMENTS)


def labels(values, y, weight=None, n_classes=2):
    order = tuple(dict.fromkeys(v for v in values if v is not None))
    coded = Labels(codes(*(-1 if v is None else order.index(v) for v in values)), order)
    return LabelsTable.count(block("x"), coded, codes(*y), weight, n_classes)


def numbers(values, y, weight=None, table=NumbersTable):
    column = Numbers(np.array(values, dtype=float).reshape(len(y), -1))
    names = [f"c{i}" for i in range(column.values.shape[1])]
    return table.count(block(*names), column, codes(*y), weight, 2)


def moments(values, y, weight=None):
    return numbers(values, y, weight, MomentsTable)


def counts(matrix, y, weight=None):
    return CountsTable.count(block("p", "q", "r"), Counts.of(matrix), codes(*y), weight, 2)


# Labels


def test_labels_are_counted_by_class_in_their_order():
    table = labels(["b", "a", None, "b"], [0, 1, 1, 1])
    assert table.labels == ("a", "b")
    assert table.rows.tolist() == [[0, 1], [1, 1]]
    assert table.present.tolist() == [1, 2]
    assert table.as_labels() is table


def test_a_label_without_rows_is_not_in_the_table():
    coded = Labels(codes(2, 2), ("a", "b", "c"))
    table = LabelsTable.count(block("x"), coded, codes(0, 1), None, 2)
    assert table.labels == ("c",)


def test_labels_that_are_gone_leave_the_table():
    table = labels(["a", "b"], [0, 1]) - labels(["b"], [1])
    assert table.labels == ("a",)
    assert table.rows.tolist() == [[1], [0]]


def test_true_and_one_are_not_added_together():
    table = labels([True], [0]) + labels([1], [0])
    assert list(map(label_token, table.labels)) == ["true", "1"]
    assert table.rows[0].tolist() == [1, 1]
    assert labels([True], [0]) != labels([1], [0])


def test_forgetting_a_value_never_learned_is_refused():
    with pytest.raises(ForgetError, match="value 'z' was never learned"):
        labels(["a"], [0]) - labels(["z"], [0])


def test_forgetting_a_value_more_often_than_learned_is_refused():
    message = "value 'a' was learned 1 times in this class, so 2 cannot be forgotten"
    with pytest.raises(ForgetError, match=message):
        labels(["a", "b", "b"], [0, 0, 0]) - labels(["a", "a"], [0, 0])


def test_forgetting_a_value_of_another_class_is_refused():
    with pytest.raises(ForgetError, match="'a' was learned 0 times in this class"):
        labels(["a", "b"], [0, 1]) - labels(["a"], [1])


def test_forgetting_more_weight_than_learned_is_refused():
    learned = labels(["a", "a"], [0, 0], np.array([1.0, 1.0]))
    with pytest.raises(ForgetError, match="a weight would turn negative"):
        learned - labels(["a"], [0], np.array([5.0]))


# Numbers


def test_moments_are_those_of_the_values_that_are_there():
    table = moments([[1.0, NAN, 5.0], [3.0, NAN, NAN], [7.0, 2.0, 4.0]], [0, 0, 1])
    assert table.rows.tolist() == [[2, 0, 1], [1, 1, 1]]
    assert table.weight.tolist() == [[2, 0, 1], [1, 1, 1]]
    assert table.mean.tolist() == [[2, 0, 5], [7, 2, 4]]
    assert table.scatter.tolist() == [[2, 0, 0], [0, 0, 0]]
    assert table.variance.tolist() == [[1, 0, 0], [0, 0, 0]]


def test_pooled_moments_are_those_of_all_classes():
    table = moments([1.0, 2.0, 6.0], [0, 1, 1]).pooled()
    assert table.rows.tolist() == [[3]]
    assert table.mean.tolist() == [[3]]
    assert table.scatter.tolist() == [[14]]


@pytest.mark.parametrize("wrong", [np.inf, -np.inf, 1e151, -2e200])
@pytest.mark.parametrize("width", [2, 5])
def test_a_number_too_large_is_refused_with_its_column(wrong, width):
    x = np.ones((4, width))
    x[2, 1] = wrong
    with pytest.raises(InputError, match=r"Column 'c1' holds .*at most 1e150"):
        moments(x, [0, 1, 0, 1])


def test_forgetting_numbers_that_would_leave_a_negative_variance_is_refused():
    learned = moments([1.0, 2.0, 3.0], [0, 0, 0])
    with pytest.raises(ForgetError, match="a variance would turn negative"):
        learned - moments([90.0], [0])


def test_moments_can_be_forgotten_one_by_one_after_a_large_number():
    large = np.random.default_rng(0).normal(size=(20, 1, 5)) * 1e5
    for first in large:
        x = np.concatenate([first, np.zeros((5, 5))])
        table = moments(x[:3], [0] * 3) + moments(x[3:], [0] * 3)
        for row in x:
            table = table - moments([row], [0])
        assert not table.rows.any()


def test_forgetting_more_numbers_than_learned_is_refused():
    with pytest.raises(ForgetError, match=r"they were learned 1 times .* so 2 cannot"):
        moments([1.0], [0]) - moments([1.0, 1.0], [0, 0])


def test_forgetting_a_number_never_learned_is_refused():
    with pytest.raises(ForgetError, match="a number was never learned"):
        numbers([1.0, 2.0, 3.0], [0, 0, 0]) - numbers([2.5], [0])
    with pytest.raises(ForgetError, match="they were learned 0 times in this class"):
        numbers([1.0, 2.0], [0, 1]) - numbers([2.0], [0])


def test_forgetting_many_numbers_from_few_is_refused():
    with pytest.raises(ForgetError, match="a number was never learned"):
        numbers([1.0] * 3000, [0] * 3000) - numbers(range(2000), [0] * 2000)


def test_forgetting_more_weight_of_a_number_than_learned_is_refused():
    learned = numbers([1.0, 1.0], [0, 0])
    with pytest.raises(ForgetError, match="a weight would turn negative"):
        learned - numbers([1.0], [0], np.array([3.0]))


def test_few_numbers_can_be_read_as_labels():
    table = numbers([2.0, -0.0, 1.5, NAN, 2.0], [0, 0, 1, 1, 1])
    assert list(map(label_token, table.as_labels().labels)) == ["0", "1.5", "2"]
    assert table.as_labels().rows.tolist() == [[1, 0, 1], [0, 1, 1]]
    assert table.present.tolist() == [2, 2]


def test_many_numbers_cannot_be_read_as_labels():
    with pytest.raises(SettingError, match=r"more than 1,024 distinct numbers.*'categorical'"):
        numbers(range(1025), [0] * 1025).as_labels()


def test_cells_know_their_interval():
    cells = numbers([1.0, 2.0, -3.0], [0, 0, 1]).cells
    assert cells.values.tolist() == cells.lower.tolist() == cells.upper.tolist() == [-3, 1, 2]
    wide = cells.coarsened(52)
    assert wide.level == 52
    assert np.all((wide.lower <= wide.values) & (wide.values <= wide.upper))
    assert wide.coarsened(52) is wide


def test_coarser_cells_add_up_what_falls_together():
    cells = numbers([1.0, 1.25, 1.5, 4.0], [0, 1, 0, 1]).cells.coarsened(52)
    assert cells.rows.tolist() == [[2, 0], [1, 1]]


# Counts


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_counts_are_summed_and_presence_is_counted(kind):
    table = counts(kind(np.array([[2.0, 0, 1], [3, 0, 0], [0, 0, 5]])), [0, 0, 1])
    assert table.documents.tolist() == [2, 1]
    assert table.rows.tolist() == [[2, 0, 1], [0, 0, 1]]
    assert table.s1.tolist() == [[5, 0, 1], [0, 0, 5]]


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("wrong", [-1.0, NAN, np.inf])
def test_what_is_no_count_is_refused_with_its_column(kind, wrong):
    with pytest.raises(InputError, match="Column 'q' holds a count that is negative, missing"):
        counts(kind(np.array([[2.0, 0, 1], [3, wrong, 0]])), [0, 1])


def test_forgetting_counts_never_learned_is_refused():
    learned = counts(np.array([[2.0, 0, 1], [1, 1, 0]]), [0, 0])
    with pytest.raises(ForgetError, match="a sum of counts would turn negative"):
        learned - counts(np.array([[9.0, 0, 0]]), [0])
    with pytest.raises(ForgetError, match="they were learned 0 times"):
        learned - counts(np.array([[0, 0, 0]]), [1])
    with pytest.raises(ForgetError, match=r"they were learned 1 times .* so 2 cannot"):
        learned - counts(np.array([[0, 0, 1.0], [0, 0, 0.0]])[[0, 0]], [0, 0])


# All


TABLES = [
    labels(["a", "b"], [0, 1]),
    numbers([1.0, 2.0], [0, 1]),
    moments([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0]], [0, 1]),
    counts(np.array([[2.0, 0, 1], [3, 0, 0]]), [0, 1]),
]


@pytest.mark.parametrize("table", TABLES, ids=lambda t: type(t).__name__)
def test_classes_can_be_spread_and_picked_again(table):
    spread = table.with_classes(np.array([3, 1]), 4)
    rows = getattr(spread, "moments", spread).rows
    assert not rows[[0, 2]].any()
    assert spread.only_classes(np.array([3, 1])) == table
    assert spread.only_classes(np.array([1, 3])) != table


@pytest.mark.parametrize("table", TABLES, ids=lambda t: type(t).__name__)
def test_tables_of_another_kind_are_not_equal_and_none_is_hashed(table):
    assert [other for other in TABLES if other == table] == [table]
    assert table != "table"
    with pytest.raises(TypeError, match="unhashable"):
        hash(table)


@pytest.mark.parametrize("kind", [MomentsTable, CountsTable])
def test_sums_of_an_unknown_column_are_refused(kind):
    part = {MomentsTable: "moments", CountsTable: "counts"}[kind]
    sums = Part.of_grid(part, ('"zz"',), np.ones((2, 1), dtype=np.int64), np.ones((2, 1)))
    with pytest.raises(InputError, match=f'the {part} name a column "zz" that the block lacks'):
        kind.from_parts(block("p", "q"), 2, BlockParts(parts=[sums]))


@pytest.mark.parametrize("kind", [LabelsTable, CellsTable, NumbersTable, MomentsTable, CountsTable])
def test_no_entries_are_the_empty_table(kind):
    table = kind.from_parts(block("p"), 2, BlockParts())
    assert table + table == table
    assert kind.from_parts(block("p"), 0, BlockParts()).with_classes(codes(), 2) == table
