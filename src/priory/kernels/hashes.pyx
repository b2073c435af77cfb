"""Hashes of rows, a column at a time."""

from libc.math cimport isnan
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

cdef inline uint64_t mixed(uint64_t x) noexcept nogil:
    """Mix the bits well (the finaliser of splitmix64)."""
    x = (x ^ (x >> 30)) * <uint64_t> 0xBF58476D1CE4E5B9
    x = (x ^ (x >> 27)) * <uint64_t> 0x94D049BB133111EB
    return x ^ (x >> 31)


cdef uint32_t[256] CRC


cdef void make_table() noexcept nogil:
    """Work out the remainders of single bytes, of the polynomial of CRC-32."""
    cdef uint32_t i, crc
    cdef int bit
    for i in range(256):
        crc = i
        for bit in range(8):
            crc = (crc >> 1) ^ (<uint32_t> 0xEDB88320 if crc & 1 else 0)
        CRC[i] = crc


make_table()


cdef inline uint64_t checksums(const uint8_t* text, Py_ssize_t n) noexcept nogil:
    """Give CRC-32 in the low half and Adler-32 in the high half, as zlib computes them."""
    cdef uint32_t crc = 0xFFFFFFFF, a = 1, b = 0
    cdef Py_ssize_t i = 0, end
    while i < n:
        end = min(n, i + 5552)  # so many bytes may be added before b overflows
        while i < end:
            crc = (crc >> 8) ^ CRC[(crc ^ text[i]) & 255]
            a += text[i]
            b += a
            i += 1
        a %= 65521
        b %= 65521
    return <uint64_t> (crc ^ <uint32_t> 0xFFFFFFFF) | (<uint64_t> ((b << 16) | a) << 32)


def text_checksums(
    const uint8_t[::1] data not None,
    const int64_t[::1] offsets not None,
    uint64_t[::1] out not None,
):
    """Give the CRC-32 and the Adler-32 of each text, from offsets[i] to offsets[i + 1]."""
    cdef Py_ssize_t n = out.shape[0], i
    cdef const uint8_t* start = &data[0] if data.shape[0] else NULL
    if offsets.shape[0] != n + 1:
        raise ValueError(f"There are {offsets.shape[0]} offsets for {n} texts.")
    for i in range(n):
        if offsets[i] < 0 or offsets[i + 1] < offsets[i] or offsets[i + 1] > data.shape[0]:
            raise ValueError(f"Text {i} is not within the {data.shape[0]} bytes.")
    with nogil:
        for i in range(n):
            out[i] = checksums(start + offsets[i], offsets[i + 1] - offsets[i])


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
