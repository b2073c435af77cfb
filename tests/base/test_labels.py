"""Labels: typed, ordered, and written so that they come back the same."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from priory.base.labels import label_key, label_token, sorted_labels, token_label, union

any_text = st.text(st.characters())  # lone surrogates too
any_label = st.booleans() | st.integers() | st.floats(allow_nan=False) | any_text
AWKWARD = [1, "1", True, 1.5, "", "é", "\ud800", "a\0b", '"', "true", 10**30, -0.5]


def keys(labels):
    return [label_key(label) for label in labels]


@given(any_label)
def test_a_token_gives_back_its_label_with_its_type(label):
    back = token_label(label_token(label))
    assert label_key(back) == label_key(label)
    assert type(back) is type(label)


@given(any_label)
def test_a_token_is_json_that_any_engine_can_store(label):
    assert label_token(label).encode().decode() == label_token(label)
    json.loads(label_token(label))


def test_different_labels_have_different_keys_and_tokens():
    assert len(set(keys(AWKWARD))) == len(AWKWARD)
    assert len(set(map(label_token, AWKWARD))) == len(AWKWARD)


def test_readable_text_is_not_escaped():
    assert label_token("Öl 油") == '"Öl 油"'
    assert label_token("\ud800") == '"\\ud800"'


@given(st.lists(any_label))
def test_order_does_not_depend_on_the_order_given(labels):
    forwards, backwards = sorted_labels(labels), sorted_labels(labels[::-1])
    assert keys(forwards) == keys(backwards) == sorted(set(keys(labels)))


@given(st.lists(any_label), st.lists(any_label))
def test_union_says_where_each_label_stands(a, b):
    labels, here, there = union(a, b)
    assert keys(labels[i] for i in here) == keys(a)
    assert keys(labels[i] for i in there) == keys(b)
    assert keys(labels) == sorted({*keys(a), *keys(b)})


def test_union_of_nothing_can_be_used_as_an_index():
    labels, here, there = union((), ())
    assert labels == ()
    assert here.dtype.kind == there.dtype.kind == "i"


@pytest.mark.parametrize("pair", [(1, True), (1, "1"), (0, False), ("true", True)])
def test_equal_looking_labels_of_two_types_stay_apart(pair):
    assert len(sorted_labels(pair)) == 2
    assert len(union(pair[:1], pair[1:])[0]) == 2


def test_a_whole_float_is_the_integer():
    assert len(sorted_labels([1, 1.0])) == 1
