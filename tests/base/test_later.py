"""Values that are computed when they are first asked for."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from copy import copy, deepcopy

import pytest

from priory.base.later import Later

COMPUTED = []


def seven():
    COMPUTED.append(7)
    return 7


@pytest.fixture
def later():
    COMPUTED.clear()
    return Later(seven)


def test_it_is_computed_once_by_whichever_thread_asks_first(later):
    with ThreadPoolExecutor(8) as threads:
        assert [*threads.map(lambda _: later.value, range(80))] == [7] * 80
    assert COMPUTED == [7]


def test_copies_share_it(later):
    assert copy(later).value == deepcopy(later).value == later.value == 7
    assert COMPUTED == [7]


def test_a_pickle_holds_the_value(later):
    there = pickle.loads(pickle.dumps(later))
    assert there.value == 7
    assert COMPUTED == [7]


def test_what_fails_is_computed_again():
    asked = []

    def compute():
        asked.append(1)
        return 1 // (len(asked) - 1)

    later = Later(compute)
    with pytest.raises(ZeroDivisionError):
        _ = later.value
    assert later.value == 1


def test_known_values_are_held():
    assert Later.known("a").value == "a"


def test_one_does_not_wait_for_another():
    def through_a_thread():
        with ThreadPoolExecutor(1) as threads:
            return threads.submit(lambda: Later(seven).value).result(timeout=60)

    assert Later(through_a_thread).value == 7
