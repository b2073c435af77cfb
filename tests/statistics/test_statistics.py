"""Statistics: classes and tables together, and everything that cannot be forgotten."""

import numpy as np
import pytest

from priory.base.errors import ForgetError, SchemaError, SettingError
from priory.base.labels import label_token
from priory.data.reading import infer, read, read_labels
from priory.data.schema import Kind
from priory.statistics.statistics import Statistics

DAYS = {
    "outlook": ["Sunny", "Rain", "Rain", "Overcast"],
    "humidity": [85.0, 70.0, None, 64.0],
}
PLAY = ["No", "Yes", "Yes", "Maybe"]


def count(X=DAYS, y=PLAY, weight=None, declared=None):
    schema = infer(X, declared)
    weight = None if weight is None else np.array(weight, dtype=float)
    return Statistics.count(read(X, schema), read_labels(y), schema, weight)


def rows(*chosen):
    return {name: [values[i] for i in chosen] for name, values in DAYS.items()}


def classes_of(statistics):
    return [label_token(label) for label in statistics.classes]


def test_rows_and_weights_are_counted_by_class():
    statistics = count(weight=[1.0, 0.5, 2.0, 3.0])
    assert statistics.classes == ("Maybe", "No", "Yes")
    assert statistics.rows.tolist() == [1, 1, 2]
    assert statistics.weight.tolist() == [3.0, 1.0, 2.5]
    assert statistics.n_rows == 4


def test_classes_of_any_type_stay_apart_and_in_order():
    y = [1, "1", True, 1.5, "é", "\x00"]
    statistics = count({"x": list("ababab")}, y)
    assert classes_of(statistics) == ["true", "1", "1.5", '"\\u0000"', '"1"', '"é"']
    assert Statistics.from_arrow(statistics.to_arrow()) == statistics


def test_a_class_that_only_one_side_has_is_added():
    total = count(rows(0, 1), ["No", "Yes"]) + count(rows(2, 3), ["Yes", "Maybe"])
    assert total == count()


def test_zero_has_the_schema_and_the_classes_asked_for():
    zero = Statistics.zero(count().schema, ["Yes", "No"])
    assert zero.classes == ("No", "Yes")
    assert zero.n_rows == 0
    assert zero + count() == count()
    assert Statistics.zero(count().schema) + count() == count()
    assert Statistics.from_arrow(zero.to_arrow()) == zero


def test_classes_may_be_known_by_name_alone():
    named = count().with_classes(["Never", "Yes"])
    assert named.classes == ("Maybe", "Never", "No", "Yes")
    assert named.rows.tolist() == [1, 0, 1, 2]
    assert named.with_classes(["Never"]) is named
    assert Statistics.from_arrow(named.to_arrow()) == named


def test_a_class_leaves_with_its_last_row():
    left = count() - count(rows(0, 3), ["No", "Maybe"])
    assert left == count(rows(1, 2), ["Yes", "Yes"])
    assert left.classes == ("Yes",)


def test_forgetting_everything_leaves_zero():
    assert count() - count() == Statistics.zero(count().schema)


# What cannot be forgotten


def test_forgetting_a_class_never_learned_is_refused():
    with pytest.raises(
        ForgetError, match=r"Class 'Never' was never learned.*Classes: 'Maybe', 'No'"
    ):
        count() - count(rows(0), ["Never"])


def test_forgetting_more_rows_of_a_class_than_learned_is_refused():
    with pytest.raises(ForgetError, match="Class 'No' has 1 rows, so 2 cannot be forgotten"):
        count() - count(rows(0, 0), ["No", "No"])


def test_forgetting_a_value_never_learned_names_its_column():
    with pytest.raises(ForgetError, match="in column 'outlook' value 'Fog' was never learned"):
        count() - count({"outlook": ["Fog"], "humidity": [85.0]}, ["No"])


def test_forgetting_a_number_never_learned_names_its_column():
    with pytest.raises(ForgetError, match="in column 'humidity' a number was never learned"):
        count() - count({"outlook": ["Sunny"], "humidity": [85.5]}, ["No"])


def test_forgetting_a_value_of_another_class_is_refused():
    with pytest.raises(ForgetError, match="in column 'outlook' value 'Rain' was learned 0 times"):
        count() - count({"outlook": ["Rain"], "humidity": [85.0]}, ["No"])


def test_forgetting_a_number_where_a_gap_was_learned_is_refused():
    both = {"outlook": ["Rain", "Rain"], "humidity": [70.0, 70.0]}
    with pytest.raises(ForgetError, match="in column 'humidity' they were learned 1 times"):
        count(rows(1, 2), ["Yes", "Yes"]) - count(both, ["Yes", "Yes"])


def test_forgetting_a_negative_variance_is_refused():
    two = {("a", "b"): Kind.MOMENTS}
    learned = count({"a": [1.0, 2.0, 3.0], "b": [1.0, 5.0, 1.0]}, ["k"] * 3, declared=two)
    taken = count({"a": [70.0], "b": [1.0]}, ["k"], declared=two)
    with pytest.raises(ForgetError, match="in column 'a, b' a variance would turn negative"):
        learned - taken


def test_forgetting_more_weight_than_learned_is_refused():
    X = {"outlook": ["Sunny", "Sunny"], "humidity": [85.0, 85.0]}
    with pytest.raises(ForgetError, match="in column 'outlook' a weight would turn negative"):
        count(X, ["No", "No"]) - count(rows(0), ["No"], [9.0])


def test_forgetting_more_weight_of_a_class_is_refused_though_every_value_is_missing():
    X = {"outlook": [None, None, "Rain"], "humidity": [None, None, 3.0]}
    gap = {"outlook": [None], "humidity": [None]}
    with pytest.raises(ForgetError, match="Class 'No' has weight 2, so 9 cannot be forgotten"):
        count(X, ["No", "No", "Yes"]) - count(gap, ["No"], [9.0])


def test_a_refusal_changes_nothing():
    statistics, before = count(), count()
    with pytest.raises(ForgetError, match="cannot be forgotten"):
        statistics -= count({"outlook": ["Fog"], "humidity": [85.0]}, ["No"])
    assert statistics == before


# Scaling


@pytest.mark.parametrize("factor", [-1, -0.5, float("nan"), float("inf")])
def test_factors_below_zero_or_not_finite_are_refused(factor):
    with pytest.raises(
        SettingError, match=r"The factor .* must be a finite number of at least 0, not"
    ):
        count() * factor


def test_a_factor_scales_weights_and_sums_but_not_rows():
    twice = 2 * count()
    assert twice.rows.tolist() == count().rows.tolist()
    assert twice.weight.tolist() == (2 * count().weight).tolist()
    np.testing.assert_array_equal(
        twice.tables["humidity"].moments.mean, count().tables["humidity"].moments.mean
    )


def test_no_times_is_zero():
    assert count() * 0 == Statistics.zero(count().schema)


# Schemas that come together


def test_a_column_that_was_empty_becomes_what_it_turns_out_to_be():
    empty = count({"outlook": [None, None], "humidity": [None, None]}, ["No", "Yes"])
    assert [block.kind for block in empty.schema] == [Kind.EMPTY, Kind.EMPTY]
    for total in (empty + count(), count() + empty):
        assert [block.kind for block in total.schema] == [Kind.LABELS, Kind.NUMBERS]
        assert total.tables == count().tables
        assert total.rows.tolist() == [1, 2, 3]
    assert (empty + count()) - empty == count()


def test_labels_that_name_rows_elsewhere_are_counted_no_more():
    names = count({"id": [f"p{i}" for i in range(1500)]}, ["a", "b"] * 750)
    few = count({"id": ["p0", "p1"]}, ["a", "b"])
    assert names.schema["id"].kind is Kind.IDENTIFIER
    for total in (names + few, few + names):
        assert total.schema["id"].kind is Kind.IDENTIFIER
        assert total.tables == {}
        assert total.n_rows == 1502


def test_columns_of_different_kinds_cannot_be_added():
    with pytest.raises(SchemaError, match="'humidity' holds numbers on one side and labels on"):
        count() + count({"outlook": ["Sunny"], "humidity": ["high"]}, ["No"])


def test_different_columns_cannot_be_added():
    with pytest.raises(SchemaError, match=r"only the first has \['humidity'\]"):
        count() + count({"outlook": ["Sunny"]}, ["No"])


# Equality


def test_statistics_of_other_rows_classes_or_weights_are_not_equal():
    assert count() == count()
    assert count() != count(rows(0, 1, 2), PLAY[:3])
    assert count() != count(weight=[1, 1, 1, 2])
    assert count({"x": ["a"]}, [1]) != count({"x": ["a"]}, [True])
    assert count() != "statistics"
    with pytest.raises(TypeError, match="unhashable"):
        hash(count())


def test_the_reason_for_a_kind_does_not_matter():
    X = {"x": [1.0, 2.0]}
    assert count(X, ["a", "b"]) == count(X, ["a", "b"], declared={("x",): Kind.NUMBERS})
