"""Hashes of rows, a column at a time."""

from libc.math cimport isnan
from libc.stdint cimport uint64_t
from libc.string cimport memcpy

cdef inline uint64_t mixed(uint64_t x) noexcept nogil:
    """Mix the bits well (the finaliser of splitmix64)."""
    x = (x ^ (x >> 30)) * <uint64_t> 0xBF58476D1CE4E5B9
    x = (x ^ (x >> 27)) * <uint64_t> 0x94D049BB133111EB
    return x ^ (x >> 31)


def add_numbers(uint64_t[::1] hashes not None, const double[:] values not None, uint64_t seed):
    """Add the mixed bits of values[i] to hashes[i]; −0 is 0, and NaN adds nothing."""
    cdef Py_ssize_t n = hashes.shape[0], i
    cdef double value
    cdef uint64_t bits
    if values.shape[0] != n:
        raise ValueError(f"There are {n} hashes and {values.shape[0]} values.")
    with nogil:
        for i in range(n):
            value = values[i] + 0.0
            if not isnan(value):
                memcpy(&bits, &value, sizeof(uint64_t))
                hashes[i] += mixed(mixed(bits) ^ seed)
