"""Choose the most telling words of texts."""

from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memmove

import numpy as np

cdef enum:
    GROUPS = 4

ctypedef struct telling_word:
    double strength
    int64_t code


def most_telling(
    const int64_t[::1] indptr not None,
    const int32_t[::1] codes not None,
    const double[::1] evidence not None,
    const int64_t[::1] group not None,
    most,
):
    """Choose, of each row and group (0 to 3), the `most` words with the largest |evidence|; of equals the lowest codes.

    Row i has codes[indptr[i]:indptr[i + 1]]; words whose evidence is 0 are never chosen, codes below 0 are none. Gives
    (rows, codes), by row, by group, then the most telling first. ValueError for rows and codes that do not fit.
    """
    cdef Py_ssize_t n = indptr.shape[0] - 1, n_words = evidence.shape[0], i, j, g, k, found = 0
    cdef int64_t longest = 0, limit
    if n < 0 or group.shape[0] != n_words:
        raise ValueError("indptr must have the length of the rows plus one, and group that of evidence.")
    for i in range(n):
        if indptr[i] < 0 or indptr[i + 1] < indptr[i] or indptr[i + 1] > codes.shape[0]:
            raise ValueError(f"Row {i} is not inside the {codes.shape[0]} codes.")
        longest = max(longest, indptr[i + 1] - indptr[i])
    limit = max(min(int(most), longest), 1)
    rows_out = np.empty(codes.shape[0], dtype=np.int64)
    codes_out = np.empty(codes.shape[0], dtype=np.int64)
    cdef int64_t[::1] row_found = rows_out, code_found = codes_out
    cdef Py_ssize_t sizes[GROUPS]
    cdef int32_t code
    cdef telling_word* best = <telling_word*> malloc(GROUPS * limit * sizeof(telling_word))
    cdef telling_word* some
    if best == NULL:
        raise MemoryError
    try:
        for i in range(n):
            for g in range(GROUPS):
                sizes[g] = 0
            for j in range(indptr[i], indptr[i + 1]):
                code = codes[j]
                if code >= n_words:
                    raise ValueError(f"There are {n_words} words, and code {code} is none of them.")
                if code < 0 or evidence[code] == 0:
                    continue
                g = group[code]
                if not 0 <= g < GROUPS:
                    raise ValueError(f"group must be from 0 to 3, not {g}.")
                some = best + g * limit
                k = _place(some, sizes[g], fabs(evidence[code]), code)
                if k >= limit:
                    continue
                sizes[g] = min(sizes[g] + 1, limit)
                memmove(some + k + 1, some + k, (sizes[g] - 1 - k) * sizeof(telling_word))
                some[k].strength, some[k].code = fabs(evidence[code]), code
            for g in range(GROUPS):
                for k in range(sizes[g]):
                    row_found[found] = i
                    code_found[found] = best[g * limit + k].code
                    found += 1
    finally:
        free(best)
    return rows_out[:found], codes_out[:found]


cdef Py_ssize_t _place(const telling_word* words, Py_ssize_t n, double strength, int64_t code) noexcept:
    """Find where a word belongs among those that are in order."""
    while n and (words[n - 1].strength < strength or words[n - 1].strength == strength and words[n - 1].code > code):
        n -= 1
    return n
