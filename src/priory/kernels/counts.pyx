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
    int PRIORY_SPARSE_SUMS
    ptrdiff_t count_sparse_row_f4_i4(const float*, const int32_t*, ptrdiff_t, double, ptrdiff_t, double*)
    ptrdiff_t count_sparse_row_f8_i4(const double*, const int32_t*, ptrdiff_t, double, ptrdiff_t, double*)
    ptrdiff_t count_sparse_row_i8_i4(const int64_t*, const int32_t*, ptrdiff_t, double, ptrdiff_t, double*)
    ptrdiff_t count_sparse_row_f4_i8(const float*, const int64_t*, ptrdiff_t, double, ptrdiff_t, double*)
    ptrdiff_t count_sparse_row_f8_i8(const double*, const int64_t*, ptrdiff_t, double, ptrdiff_t, double*)
    ptrdiff_t count_sparse_row_i8_i8(const int64_t*, const int64_t*, ptrdiff_t, double, ptrdiff_t, double*)
    int64_t count_present_row(const double*, ptrdiff_t, double, double, int64_t*, double*)


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
        return _first_wrong(X, 0.0)
    if not weighted:
        np.asarray(total)[...] += np.asarray(rows) - before
    return -1


def count_present_dense(
    const numeric[:, :] X, y, weight, double threshold, int64_t[:, ::1] rows, double[:, ::1] total
):
    """Add to rows and total where x > threshold; return −1 or the first column not finite."""
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
                wrong += count_present_row(
                    x + i * d, d, weights[first + i] if weighted else 1.0, threshold,
                    &rows[k, 0], &total[k, 0] if weighted else NULL,
                )
            first += size
    if wrong:
        return _first_wrong(X, -DBL_MAX)
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
    cdef const numeric[::1] values = np.ascontiguousarray(data)
    cdef const index[::1] columns = np.ascontiguousarray(indices)
    cdef const int32_t[::1] classes = np.ascontiguousarray(y)
    cdef const double[::1] weights
    cdef Py_ssize_t n = start.shape[0] - 1, d = rows.shape[1], wrong = d, i, k, at, m, turn, j
    cdef Py_ssize_t last = -1
    cdef bint weighted = weight is not None
    cdef double w = 1.0
    if n == 0 or d == 0 or start[n] == start[0]:
        return -1
    if weighted:
        weights = np.ascontiguousarray(weight)
    # Class by class into one line of sums, which stays in the cache.
    cdef const int64_t[::1] order = np.argsort(y, kind="stable")
    cdef double[::1] sums = np.zeros(PRIORY_SPARSE_SUMS * d)
    with nogil:
        for turn in range(n):
            i = order[turn]
            k = classes[i]
            if k != last:
                _flush(sums, last, rows, total, s1)
                last = k
            if weighted:
                w = weights[i]
            at, m = start[i], start[i + 1] - start[i]
            if m == 0:
                continue
            if numeric is float and index is int32_t:
                j = count_sparse_row_f4_i4(&values[at], &columns[at], m, w, d, &sums[0])
            elif numeric is double and index is int32_t:
                j = count_sparse_row_f8_i4(&values[at], &columns[at], m, w, d, &sums[0])
            elif numeric is int64_t and index is int32_t:
                j = count_sparse_row_i8_i4(&values[at], &columns[at], m, w, d, &sums[0])
            elif numeric is float and index is int64_t:
                j = count_sparse_row_f4_i8(&values[at], &columns[at], m, w, d, &sums[0])
            elif numeric is double and index is int64_t:
                j = count_sparse_row_f8_i8(&values[at], &columns[at], m, w, d, &sums[0])
            else:
                j = count_sparse_row_i8_i8(&values[at], &columns[at], m, w, d, &sums[0])
            wrong = min(wrong, j)
        _flush(sums, last, rows, total, s1)
    return wrong if wrong < d else -1


cdef void _flush(
    double[::1] sums, Py_ssize_t k, int64_t[:, ::1] rows, double[:, ::1] total, double[:, ::1] s1
) noexcept nogil:
    """Add a line of sums to the class that it is of, and clear it."""
    cdef Py_ssize_t j
    if k < 0:
        return
    for j in range(rows.shape[1]):
        rows[k, j] += <int64_t> sums[PRIORY_SPARSE_SUMS * j]
        total[k, j] += sums[PRIORY_SPARSE_SUMS * j + 1]
        s1[k, j] += sums[PRIORY_SPARSE_SUMS * j + 2]
    for j in range(sums.shape[0]):
        sums[j] = 0.0


cdef Py_ssize_t _first_wrong(const numeric[:, :] X, double least) noexcept nogil:
    cdef Py_ssize_t i, j
    for j in range(X.shape[1]):
        for i in range(X.shape[0]):
            if not (<double> X[i, j] >= least and <double> X[i, j] <= DBL_MAX):
                return j
    return -1
