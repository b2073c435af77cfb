"""Log-likelihoods, added row by row to out (rows, classes)."""

from libc.math cimport INFINITY, exp, log
from libc.stdint cimport int32_t, int64_t

import numpy as np

from priory.kernels.tiles cimport TILE, floating, numeric, rows_of, tile_rows

ctypedef fused index:
    int32_t
    int64_t

cdef extern from "loops.h" nogil:
    int PRIORY_TILE_ROWS
    int PRIORY_TILE_COLUMNS
    void add_products(const double*, ptrdiff_t, const double*, ptrdiff_t, double*)
    void gaussian_tile(
        const double*, ptrdiff_t, ptrdiff_t, ptrdiff_t, ptrdiff_t,
        const double*, const double*, const double*, const double*, double*,
    )
    void student_tile(
        const double*, ptrdiff_t, ptrdiff_t, ptrdiff_t, ptrdiff_t,
        const double*, const double*, const double*, const double*, const double*, double*,
    )


def add_table(codes, const double[:, ::1] log_p, double[:, ::1] out):
    """Add log_p[code]; a negative code adds nothing."""
    cdef const int32_t[::1] c = np.ascontiguousarray(codes)
    cdef Py_ssize_t i, k, K = out.shape[1]
    cdef const double* found
    cdef double* row
    with nogil:
        for i in range(c.shape[0]):
            if c[i] >= 0:
                found = &log_p[c[i], 0]
                row = &out[i, 0]
                for k in range(K):
                    row[k] += found[k]


def add_gaussian(
    const floating[:, :] X,
    const double[:, ::1] mean,
    const double[:, ::1] half_precision,
    const double[:, ::1] log_norm,
    double[:, ::1] out,
):
    """Add Σ log_norm − (x − mean)² · half_precision over the columns that are not NaN."""
    _add_densities(X, mean, half_precision, log_norm, log_norm, False, out)


def add_student_t(
    const floating[:, :] X,
    const double[:, ::1] mean,
    const double[:, ::1] inv_scale,
    const double[:, ::1] half_dof1,
    const double[:, ::1] log_norm,
    double[:, ::1] out,
):
    """Add Σ log_norm − half_dof1 · log1p((x − mean)² · inv_scale) over the columns not NaN."""
    _add_densities(X, mean, inv_scale, half_dof1, log_norm, True, out)


def add_counts_dense(const numeric[:, :] X, const double[:, ::1] weights, double[:, ::1] out):
    """Add X @ weights, where 0 · (−inf) = 0."""
    cdef Py_ssize_t n = X.shape[0], d = X.shape[1], K = out.shape[1], first = 0, size, i
    cdef double[::1] tile = np.empty(max(TILE, d))
    cdef const double* x
    if n == 0 or d == 0:
        return
    with nogil:
        while first < n:
            size = min(tile_rows(d), n - first)
            x = rows_of(X, first, size, &tile[0])
            for i in range(size):
                add_products(x + i * d, d, &weights[0, 0], K, &out[first + i, 0])
            first += size


def add_counts_csr(
    const numeric[:] data, const index[:] indices, indptr, const double[:, ::1] weights, double[:, ::1] out
):
    """Add X @ weights for compressed sparse rows, where 0 · (−inf) = 0."""
    cdef const int64_t[::1] start = np.ascontiguousarray(indptr, dtype=np.int64)
    cdef Py_ssize_t i, k, at, K = out.shape[1]
    cdef const double* found
    cdef double* row
    cdef double x
    with nogil:
        for i in range(start.shape[0] - 1):
            row = &out[i, 0]
            for at in range(start[i], start[i + 1]):
                x = <double> data[at]
                if x != 0.0:
                    found = &weights[indices[at], 0]
                    for k in range(K):
                        row[k] += x * found[k]


def log_normalize(double[:, ::1] scores, double[:] log_evidence):
    """Subtract each row's logsumexp and write it; a row of −inf stays as it is."""
    cdef Py_ssize_t i, k, K = scores.shape[1]
    cdef double largest, total
    cdef double* row
    with nogil:
        for i in range(scores.shape[0]):
            row = &scores[i, 0]
            largest = -INFINITY
            for k in range(K):
                if row[k] > largest:
                    largest = row[k]
            total = 0.0
            if largest > -INFINITY:
                for k in range(K):
                    total += exp(row[k] - largest)
                largest += log(total)
                for k in range(K):
                    row[k] -= largest
            log_evidence[i] = largest


cdef _add_densities(
    const floating[:, :] X,
    const double[:, ::1] mean,
    const double[:, ::1] b,
    const double[:, ::1] power,
    const double[:, ::1] log_norm,
    bint student,
    double[:, ::1] out,
):
    """Walk over tiles of rows; a Gaussian has no use for power."""
    cdef Py_ssize_t n = X.shape[0], d = X.shape[1], K = out.shape[1], height = PRIORY_TILE_ROWS
    cdef Py_ssize_t width = PRIORY_TILE_COLUMNS
    cdef Py_ssize_t left, columns, first, rows, i, j
    cdef double[:, ::1] tile = np.zeros((width, height))
    cdef double[::1] sums
    for left in range(0, d, width):
        columns = min(d - left, width)
        sums = np.asarray(log_norm)[:, left : left + columns].sum(axis=1)
        with nogil:
            first = 0
            while first < n:
                rows = min(n - first, height)
                for i in range(rows):
                    for j in range(columns):
                        tile[j, i] = X[first + i, left + j]
                if student:
                    student_tile(
                        &tile[0, 0], columns, rows, K, d, &mean[0, left], &b[0, left],
                        &power[0, left], &log_norm[0, left], &sums[0], &out[first, 0],
                    )
                else:
                    gaussian_tile(
                        &tile[0, 0], columns, rows, K, d, &mean[0, left], &b[0, left],
                        &log_norm[0, left], &sums[0], &out[first, 0],
                    )
                first += height
