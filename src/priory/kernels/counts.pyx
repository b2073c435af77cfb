"""Sums of counts (words, events) per class and column."""

from libc.float cimport DBL_MAX
from libc.stdint cimport int32_t, int64_t

import numpy as np

cdef extern from "Python.h":
    Py_ssize_t PY_SSIZE_T_MAX

from priory.kernels.tiles cimport TILE, index, numeric, rows_of, tile_rows
from priory.kernels.shapes cimport check_length, check_shape, check_starts

cdef extern from "counting.h" nogil:
    void prefetch "PRIORY_PREFETCH"(const void*)
    int64_t count_row(const double*, ptrdiff_t, double, int64_t*, double*, double*)
    int64_t count_present_row(const double*, ptrdiff_t, double, double, int64_t*, double*)


def count_dense(
    const numeric[:, :] X not None, y, weight, int64_t[:, ::1] rows not None, double[:, ::1] total not None, double[:, ::1] s1 not None
):
    """Add to rows and total where x > 0 and Σwx to s1; return −1 or the first wrong column."""
    return _count_dense(X, y, weight, rows, total, s1, True, 0.0)


def count_present_dense(
    const numeric[:, :] X not None, y, weight, double threshold, int64_t[:, ::1] rows not None, double[:, ::1] total not None
):
    """Add to rows and total where x > threshold; return −1 or the first column not finite."""
    return _count_dense(X, y, weight, rows, total, total, False, threshold)


cdef Py_ssize_t _count_dense(
    const numeric[:, :] X, y, weight, int64_t[:, ::1] rows, double[:, ::1] total,
    double[:, ::1] s1, bint summed, double threshold,
) except -2:
    """Count every row; unless summed, an entry may be negative and only its presence counts."""
    cdef const int32_t[::1] classes = np.ascontiguousarray(y)
    cdef const double[::1] weights
    cdef Py_ssize_t n = X.shape[0], d = X.shape[1], first = 0, size, i, k
    cdef bint weighted = weight is not None
    cdef double[::1] tile = np.empty(max(TILE, d))
    cdef const double* x
    cdef double* sums
    cdef double w = 1.0
    cdef int64_t wrong = 0
    if n == 0 or d == 0:
        return -1
    check_length(classes.shape[0], n, "y")
    check_shape(total.shape[0], total.shape[1], rows.shape[0], d, "total")
    check_shape(rows.shape[0], rows.shape[1], rows.shape[0], d, "rows")
    check_shape(s1.shape[0], s1.shape[1], rows.shape[0], d, "s1")
    if weighted:
        weights = np.ascontiguousarray(weight)
        check_length(weights.shape[0], n, "weight")
    before = None if weighted else np.array(rows)
    with nogil:
        while first < n and not wrong:
            size = min(tile_rows(d), n - first)
            x = rows_of(X, first, size, &tile[0])
            for i in range(size):
                k = classes[first + i]
                sums = &total[k, 0] if weighted else NULL
                if weighted:
                    w = weights[first + i]
                if summed:
                    wrong += count_row(x + i * d, d, w, &rows[k, 0], sums, &s1[k, 0])
                else:
                    wrong += count_present_row(x + i * d, d, w, threshold, &rows[k, 0], sums)
            first += size
    if wrong:
        return _first_wrong(X, 0.0 if summed else -DBL_MAX)
    if not weighted:
        np.asarray(total)[...] += np.asarray(rows) - before
    return -1


def count_csr(
    const numeric[:] data not None, const index[:] indices not None, indptr, y, weight, int64_t[:, ::1] rows not None,
    double[:, ::1] total not None, double[:, ::1] s1 not None, Py_ssize_t low=0, Py_ssize_t high=PY_SSIZE_T_MAX,
):
    """Do as count_dense does, for compressed sparse rows; explicit zeros are not present.

    Only rows of the classes from `low` to below `high` are counted: threads share the classes.
    """
    cdef const int64_t[::1] start = np.ascontiguousarray(indptr, dtype=np.int64)
    cdef const numeric[::1] values = np.ascontiguousarray(data)
    cdef const index[::1] columns = np.ascontiguousarray(indices)
    cdef const int32_t[::1] classes = np.ascontiguousarray(y)
    cdef const double[::1] weights
    cdef Py_ssize_t n = start.shape[0] - 1, d = rows.shape[1], wrong = d
    cdef Py_ssize_t i, following, at, m, e, column, next, later, width
    cdef bint weighted = weight is not None
    cdef double w = 1.0, x, here
    cdef double* s
    if n <= 0 or d == 0 or start[n] == start[0]:
        return -1
    check_starts(np.asarray(start), values.shape[0], "indptr")
    check_length(columns.shape[0], values.shape[0], "indices")
    check_length(classes.shape[0], n, "y")
    check_shape(total.shape[0], total.shape[1], rows.shape[0], d, "total")
    check_shape(s1.shape[0], s1.shape[1], rows.shape[0], d, "s1")
    if weighted:
        weights = np.ascontiguousarray(weight)
        check_length(weights.shape[0], n, "weight")
    low = max(low, 0)
    # All sums of one place side by side: one visit to memory for each entry.
    high = min(high, rows.shape[0])
    cdef Py_ssize_t K = max(high - low, 0)
    if K == 0:
        return -1
    width = 4 if weighted else 2
    cdef double[::1] sums = np.zeros(d * K * width)
    with nogil:
        i = _next_of(classes, -1, low, high)
        while i < n:
            following = _next_of(classes, i, low, high)
            later, next = 0, 0
            if following < n:
                later, next = classes[following] - low, start[following + 1] - start[following]
            if weighted:
                w = weights[i]
            at, m = start[i], start[i + 1] - start[i]
            for e in range(max(m, next)):
                if e < next:  # fetch where the next row will count
                    prefetch(&sums[width * (<Py_ssize_t> columns[start[following] + e] * K + later)])
                if e >= m:
                    continue
                x, column = <double> values[at + e], columns[at + e]
                here = 1.0 if x > 0.0 else 0.0
                if not 0.0 <= x <= DBL_MAX:
                    wrong = min(wrong, column)
                s = &sums[width * (column * K + classes[i] - low)]
                s[0] += here
                s[1] += w * x
                if weighted:
                    s[2] += here * w
            i = following
        _add_sums(sums, weighted, rows[low:high], total[low:high], s1[low:high])
    return wrong if wrong < d else -1


cdef inline Py_ssize_t _next_of(
    const int32_t[::1] classes, Py_ssize_t i, Py_ssize_t low, Py_ssize_t high
) noexcept nogil:
    """Find the next row after i whose class is from `low` to below `high`."""
    i += 1
    while i < classes.shape[0] and not low <= classes[i] < high:
        i += 1
    return i


cdef void _add_sums(
    double[::1] sums, bint weighted, int64_t[:, ::1] rows, double[:, ::1] total, double[:, ::1] s1
) noexcept nogil:
    """Add the sums (columns, classes), side by side, to tables (classes, columns)."""
    cdef Py_ssize_t j, k, first, K = rows.shape[0], d = rows.shape[1], width = 4 if weighted else 2
    cdef const double* s
    for first in range(0, d, 64):
        for k in range(K):
            for j in range(first, min(first + 64, d)):
                s = &sums[width * (j * K + k)]
                rows[k, j] += <int64_t> s[0]
                s1[k, j] += s[1]
                total[k, j] += s[2] if weighted else s[0]


cdef Py_ssize_t _first_wrong(const numeric[:, :] X, double least) noexcept nogil:
    cdef Py_ssize_t i, j
    for j in range(X.shape[1]):
        for i in range(X.shape[0]):
            if not (<double> X[i, j] >= least and <double> X[i, j] <= DBL_MAX):
                return j
    return -1
