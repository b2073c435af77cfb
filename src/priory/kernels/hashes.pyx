"""Hashes of rows, a column at a time, and the number of a row among those with the same hash."""

from libc.math cimport isnan
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

import numpy as np

cdef extern from "loops.h" nogil:
    void prefetch "PRIORY_PREFETCH"(const void*)

cdef enum:
    AHEAD = 16  # rows between a prefetch and its use
    FEWEST_BITS = 10

ctypedef fused code_t:
    int8_t
    int16_t
    int32_t
    int64_t


cdef inline uint64_t mixed(uint64_t x) noexcept nogil:
    """Return the bits well mixed (the finaliser of splitmix64)."""
    x = (x ^ (x >> 30)) * <uint64_t> 0xBF58476D1CE4E5B9
    x = (x ^ (x >> 27)) * <uint64_t> 0x94D049BB133111EB
    return x ^ (x >> 31)


def mix_codes(uint64_t[::1] hashes, const code_t[::1] codes, const uint64_t[::1] of_code):
    """Mix of_code[codes[i]] into hashes[i]; the last of them stands for a gap, which is negative."""
    cdef Py_ssize_t n = hashes.shape[0], last = of_code.shape[0] - 1, i
    cdef int64_t code
    if codes.shape[0] != n:
        raise ValueError(f"There are {n} hashes and {codes.shape[0]} codes.")
    with nogil:
        for i in range(n):
            code = codes[i]
            if code >= last:
                with gil:
                    raise ValueError(f"Code {code} has no hash: there are {last}.")
            hashes[i] = mixed(hashes[i] * 31 + of_code[code if code >= 0 else last])


def mix_numbers(uint64_t[::1] hashes, const double[:] values, uint64_t gap):
    """Mix the bits of values[i] into hashes[i]; −0 is 0, and NaN is the gap."""
    cdef Py_ssize_t n = hashes.shape[0], i
    cdef double value
    cdef uint64_t bits
    if values.shape[0] != n:
        raise ValueError(f"There are {n} hashes and {values.shape[0]} values.")
    with nogil:
        for i in range(n):
            value = values[i] + 0.0
            memcpy(&bits, &value, sizeof(uint64_t))
            hashes[i] = mixed(hashes[i] * 31 + (gap if isnan(value) else mixed(bits)))


cdef struct slot:
    uint64_t hash
    int64_t count  # 0: free


cdef class Numbering:
    """Number rows that have the same hash, also over several parts.

    Of very many different rows only those are kept in mind that came twice among the first: where
    rows hardly repeat, their numbers do not matter.

    >>> numbering = Numbering()
    >>> numbering.of(np.array([7, 7, 5, 7], dtype=np.uint64)).tolist()
    [0, 1, 0, 2]
    >>> numbering.of(np.array([5, 7, 6], dtype=np.uint64)).tolist()
    [1, 3, 0]
    """

    cdef slot* slots  # 2^bits, at most half of them taken
    cdef int bits
    cdef Py_ssize_t count, most
    cdef bint is_full

    def __cinit__(self, Py_ssize_t most=200_000):
        self.most, self.bits = most, FEWEST_BITS
        self.slots = <slot*> calloc(<size_t> 1 << self.bits, sizeof(slot))
        if self.slots == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.slots)

    def of(self, const uint64_t[::1] hashes):
        """Return how many rows with the same hash came before each row (int64)."""
        cdef Py_ssize_t n = hashes.shape[0], i
        numbers = np.zeros(n, dtype=np.int64)
        cdef int64_t[::1] out = numbers
        cdef slot* at
        with nogil:
            for i in range(n):
                if i + AHEAD < n:
                    prefetch(self.slots + self._place(hashes[i + AHEAD]))
                at = self._find(hashes[i])
                if at.count == 0:
                    if self.is_full:
                        continue
                    at.hash = hashes[i]
                    self.count += 1
                    if self.count == self.most or 2 * self.count > <Py_ssize_t> 1 << self.bits:
                        at.count = 1
                        self._move(self.count == self.most)
                        continue
                out[i] = at.count
                at.count += 1
        return numbers

    cdef inline size_t _place(self, uint64_t hash) noexcept nogil:
        return hash & ((<size_t> 1 << self.bits) - 1)  # the first bits of a sample's hashes are all alike

    cdef slot* _find(self, uint64_t hash) noexcept nogil:
        """Return the slot of a hash, or the free one where it would be."""
        cdef size_t mask = (<size_t> 1 << self.bits) - 1, at = self._place(hash)
        while self.slots[at].count and self.slots[at].hash != hash:
            at = (at + 1) & mask
        return self.slots + at

    cdef int _move(self, bint is_full) except -1 nogil:
        """Make room for twice as many; or keep what came twice, in so little memory that it stays near."""
        cdef slot* before = self.slots
        cdef size_t n = <size_t> 1 << self.bits, i
        cdef int64_t least = 2 if is_full else 1
        cdef Py_ssize_t kept = 0
        cdef int bits = FEWEST_BITS
        for i in range(n):
            kept += before[i].count >= least
        while 2 * kept > <Py_ssize_t> 1 << bits:
            bits += 1
        cdef slot* moved = <slot*> calloc(<size_t> 1 << bits, sizeof(slot))
        if moved == NULL:
            with gil:
                raise MemoryError
        self.slots, self.bits, self.count, self.is_full = moved, bits, kept, is_full
        for i in range(n):
            if before[i].count >= least:
                self._find(before[i].hash)[0] = before[i]
        free(before)
        return 0
