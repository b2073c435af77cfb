"""Hashes of rows, a column at a time."""

from libc.math cimport isnan
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

cdef inline uint64_t mixed(uint64_t x) noexcept nogil:
    """Mix the bits well (the finaliser of splitmix64)."""
    x = (x ^ (x >> 30)) * <uint64_t> 0xBF58476D1CE4E5B9
    x = (x ^ (x >> 27)) * <uint64_t> 0x94D049BB133111EB
    return x ^ (x >> 31)


cdef uint32_t[8][256] CRC


cdef void make_tables() noexcept nogil:
    """Work out the remainders of single bytes, followed by up to seven others (CRC-32)."""
    cdef uint32_t i, crc
    cdef int j
    for i in range(256):
        crc = i
        for j in range(8):
            crc = (crc >> 1) ^ (<uint32_t> 0xEDB88320 if crc & 1 else 0)
        CRC[0][i] = crc
    for j in range(1, 8):
        for i in range(256):
            CRC[j][i] = (CRC[j - 1][i] >> 8) ^ CRC[0][CRC[j - 1][i] & 255]


make_tables()


cdef inline uint32_t crc32(const uint8_t* text, Py_ssize_t n) noexcept nogil:
    """Compute CRC-32 as zlib does, eight bytes at a time."""
    cdef uint32_t crc = 0xFFFFFFFF
    cdef Py_ssize_t i = 0
    while i + 8 <= n:
        crc = (
            CRC[7][(crc ^ text[i]) & 255]
            ^ CRC[6][((crc >> 8) ^ text[i + 1]) & 255]
            ^ CRC[5][((crc >> 16) ^ text[i + 2]) & 255]
            ^ CRC[4][((crc >> 24) ^ text[i + 3]) & 255]
            ^ CRC[3][text[i + 4]]
            ^ CRC[2][text[i + 5]]
            ^ CRC[1][text[i + 6]]
            ^ CRC[0][text[i + 7]]
        )
        i += 8
    while i < n:
        crc = (crc >> 8) ^ CRC[0][(crc ^ text[i]) & 255]
        i += 1
    return crc ^ <uint32_t> 0xFFFFFFFF


cdef inline uint32_t adler32(const uint8_t* text, Py_ssize_t n) noexcept nogil:
    """Compute Adler-32 as zlib does: a = 1 + Σ x_i, and b = Σ a after each byte."""
    cdef uint32_t a = 1, b = 0, total, weighted
    cdef Py_ssize_t i = 0, j, end
    while i < n:
        end = min(n, i + 4096)  # so many bytes may be added before b overflows
        while i + 16 <= end:
            total = weighted = 0
            for j in range(16):
                total += text[i + j]
                weighted += <uint32_t> (16 - j) * text[i + j]
            b += 16 * a + weighted
            a += total
            i += 16
        while i < end:
            a += text[i]
            b += a
            i += 1
        a %= 65521
        b %= 65521
    return (b << 16) | a


def text_checksums(
    const uint8_t[::1] data not None,
    const int64_t[::1] offsets not None,
    uint64_t[::1] out not None,
):
    """Give the CRC-32 and the Adler-32 of each text, from offsets[i] to offsets[i + 1]."""
    cdef Py_ssize_t n = out.shape[0], i, size
    cdef const uint8_t* start = &data[0] if data.shape[0] else NULL
    cdef const uint8_t* text
    if offsets.shape[0] != n + 1:
        raise ValueError(f"There are {offsets.shape[0]} offsets for {n} texts.")
    for i in range(n):
        if offsets[i] < 0 or offsets[i + 1] < offsets[i] or offsets[i + 1] > data.shape[0]:
            raise ValueError(f"Text {i} is not within the {data.shape[0]} bytes.")
    with nogil:
        for i in range(n):
            text, size = start + offsets[i], offsets[i + 1] - offsets[i]
            out[i] = crc32(text, size) | <uint64_t> adler32(text, size) << 32


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
