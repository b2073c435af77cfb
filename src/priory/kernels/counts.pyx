"""Sums of counts (words, events) per class and column."""

from libc.float cimport DBL_MAX
from libc.stdint cimport int32_t, int64_t

import numpy as np

from priory.kernels.tiles cimport TILE, numeric, rows_of, tile_rows

ctypedef fused index:
    int32_t
    int64_t

cdef extern from "loops.h" nogil:
    int64_t count_row(const double*, ptrdiff_t, double, int64_t*, double*, double*)


def count_dense(
    const numeric[:, :] X, y, weight, int64_t[:, ::1] rows, double[:, ::1] total, double[:, ::1] s1
):
    """Add to rows and total where x > 0 and Σwx to s1; return −1 or the first wrong column."""
    cdef const int32_t[::1] classes = np.ascontiguousarray(y)
    cdef const double[::1] weights
    cdef Py_ssize_t n = X.shape[0], d = X.shape[1], first = 0, size, i, k
    cdef bint weighted = weight is not None
    cdef double[::1] tile = np.empty(max(TILE, d))
    cdef const double* x
    cdef int64_t wrong = 0
    if n == 0 or d == 0:
        return -1
    if weighted:
        weights = np.ascontiguousarray(weight)
    before = None if weighted else np.array(rows)
    with nogil:
        while first < n and not wrong:
            size = min(tile_rows(d), n - first)
            x = rows_of(X, first, size, &tile[0])
            for i in range(size):
                k = classes[first + i]
                wrong += count_row(
                    x + i * d, d, weights[first + i] if weighted else 1.0,
                    &rows[k, 0], &total[k, 0] if weighted else NULL, &s1[k, 0],
                )
            first += size
    if wrong:
        return _first_wrong(X)
    if not weighted:
        np.asarray(total)[...] += np.asarray(rows) - before
    return -1


def count_csr(
    const numeric[:] data,
    const index[:] indices,
    indptr,
    y,
    weight,
    int64_t[:, ::1] rows,
    double[:, ::1] total,
    double[:, ::1] s1,
):
    """Do as count_dense does, for compressed sparse rows; explicit zeros are not present."""
    cdef const int64_t[::1] start = np.ascontiguousarray(indptr, dtype=np.int64)
    cdef const int32_t[::1] classes = np.ascontiguousarray(y)
    cdef const double[::1] weights
    cdef Py_ssize_t n = start.shape[0] - 1, d = rows.shape[1], wrong = d, i, k, at, column
    cdef bint weighted = weight is not None
    cdef double x, w = 1.0
    if weighted:
        weights = np.ascontiguousarray(weight)
    before = None if weighted else np.array(rows)
    with nogil:
        for i in range(n):
            k = classes[i]
            if weighted:
                w = weights[i]
            for at in range(start[i], start[i + 1]):
                column, x = indices[at], <double> data[at]
                if x > 0.0 and x <= DBL_MAX:
                    rows[k, column] += 1
                    s1[k, column] += w * x
                    if weighted:
                        total[k, column] += w
                elif x != 0.0:
                    wrong = min(wrong, column)
    if wrong < d:
        return wrong
    if not weighted:
        np.asarray(total)[...] += np.asarray(rows) - before
    return -1


cdef Py_ssize_t _first_wrong(const numeric[:, :] X) noexcept nogil:
    cdef Py_ssize_t i, j
    for j in range(X.shape[1]):
        for i in range(X.shape[0]):
            if not (<double> X[i, j] >= 0.0 and <double> X[i, j] <= DBL_MAX):
                return j
    return -1
