"""Double-doubles against exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from priory.statistics.doubledouble import DoubleDouble

PRECISION = Fraction(1, 2**98)
floats = st.floats(-1e150, 1e150).filter(lambda x: x == 0 or abs(x) > 1e-130)
pairs = st.tuples(floats, floats)


def double(pair):
    return DoubleDouble.of(pair[0]) + DoubleDouble.of(pair[1] * 1e-16)


def exact(number):
    return Fraction(float(number.hi)) + Fraction(float(number.lo))


@settings(deadline=None)
@given(floats, floats)
def test_the_sum_of_two_float64_is_exact_to_106_bits(a, b):
    total = DoubleDouble.of(a) + DoubleDouble.of(b)
    assert exact(total) == Fraction(a) + Fraction(b)
    assert total.value == a + b


@settings(deadline=None)
@given(pairs, pairs)
def test_sum_and_difference_are_exact_to_30_digits_of_what_passed_through(a, b):
    a, b = double(a), double(b)
    size = abs(exact(a)) + abs(exact(b))
    assert abs(exact(a + b) - (exact(a) + exact(b))) <= PRECISION * size
    assert abs(exact(a - b) - (exact(a) - exact(b))) <= PRECISION * size
    assert exact(-a) == -exact(a)


@settings(deadline=None)
@given(pairs, pairs)
def test_product_is_exact_to_30_digits(a, b):
    a, b = double(a), double(b)
    product = exact(a) * exact(b)
    assume(not product or abs(product) > Fraction(1e-260))  # below it the low part underflows
    assert abs(exact(a * b) - product) <= PRECISION * abs(product)


@settings(deadline=None)
@given(pairs, floats)
def test_product_with_a_float_is_exact_to_30_digits(a, factor):
    a = double(a)
    product = exact(a) * Fraction(factor)
    assume(not product or abs(product) > Fraction(1e-260))
    assert abs(exact(a * factor) - product) <= PRECISION * abs(product)


@settings(deadline=None)
@given(pairs, pairs)
def test_quotient_is_exact_to_28_digits(a, b):
    a, b = double(a), double(b)
    assume(exact(b) != 0)
    quotient = exact(a) / exact(b)
    assume(not quotient or Fraction(1e-120) < abs(quotient) < Fraction(1e140))
    assume(not quotient or abs(exact(a)) > Fraction(1e-120))
    assert abs(exact(a / b) - quotient) <= 64 * PRECISION * abs(quotient)


def test_squares_of_the_largest_numbers_do_not_overflow():
    x = DoubleDouble.of(1e150) * 0.9999999
    assert exact(x * x) == pytest.approx(Fraction(float(x.hi)) ** 2, rel=1e-15)
    big = DoubleDouble.of(1e300)
    assert np.isfinite((big * 1e3).value)
    assert exact(big * 3.0) == 3 * Fraction(1e300)


@given(st.lists(floats, max_size=8))
def test_total_adds_over_the_first_axis(values):
    numbers = DoubleDouble.of(np.array(values, dtype=float).reshape(-1, 1))
    total = numbers.total()
    assert total.hi.shape == (1, 1)
    size = sum(abs(Fraction(v)) for v in values)
    error = exact(DoubleDouble(total.hi[0, 0], total.lo[0, 0])) - sum(map(Fraction, values))
    assert abs(error) <= 8 * PRECISION * size


def test_where_leaves_exact_zeros():
    masked = DoubleDouble(np.array([1.0, 2.0]), np.array([1e-17, 1e-17])).where(
        np.array([True, False])
    )
    assert masked.hi.tolist() == [1.0, 0.0]
    assert masked.lo.tolist() == [1e-17, 0.0]


def test_spread_places_the_entries_and_shares_no_memory():
    numbers = DoubleDouble(np.array([[1.0], [2.0]]), np.array([[0.1], [0.2]]))
    spread = numbers.spread(np.array([2, 0]), 4)
    assert spread.hi.ravel().tolist() == [2.0, 0.0, 1.0, 0.0]
    assert spread.lo.ravel().tolist() == [0.2, 0.0, 0.1, 0.0]
    spread.hi[:] = 7
    assert numbers.hi.ravel().tolist() == [1.0, 2.0]
