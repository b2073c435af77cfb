"""What rows need that are left out of their own class: look-up codes, Gaussian densities."""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t

import numpy as np

from priory.kernels.tiles cimport floating

cdef extern from "rows_without.h" nogil:
    int PRIORY_TILE_ROWS
    void own_tile(
        const double*, ptrdiff_t, const double*, const double*, const double*, double, double*,
        double*,
    )
    void shifted_tile(
        const double*, ptrdiff_t, ptrdiff_t, ptrdiff_t, const double*, const double*, double*
    )


ctypedef fused integer:
    int8_t
    int16_t
    int32_t
    int64_t


def combined_codes(
    const integer[:] codes, const int32_t[::1] first, const int32_t[::1] kinds, int32_t[::1] out
):
    """Write first[code + 1] + kind of every row; first[0] is for gaps, whose code is negative."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(codes.shape[0]):
            out[i] = first[codes[i] + 1 if codes[i] >= 0 else 0] + kinds[i]


def gaussian_own(
    const floating[:, :] X,
    const int32_t[::1] y,
    const double[::1] amount,
    const double[:, :, ::1] own,
    const double[:, ::1] pooled,
    double smoothing,
    double[::1] epsilon,
    double[::1] out,
):
    """Write log p(x | y) of every row without it, and what smoothing adds to its variances.

    `own` and `pooled` hold the numbers of each (class and) column that without.h names. A row for
    which digits would be lost has NaN.
    """
    cdef Py_ssize_t N = X.shape[0], d = X.shape[1], K = own.shape[0], height = PRIORY_TILE_ROWS
    cdef Py_ssize_t start = 0, stop, first, last, rows, k, i, j, at
    # So many rows stay in the second-level cache; and the tiles of each class are mostly full.
    cdef Py_ssize_t block = max(16384 // max(d, 1), 4 * K * height)
    cdef int64_t[::1] ends = np.zeros(K + 1, dtype=np.int64)
    cdef int64_t[::1] order = np.empty(min(N, block), dtype=np.int64)
    cdef double[:, ::1] tile = np.zeros((d, height))
    cdef double[:, ::1] of_tile = np.ones((3, height))  # amounts, epsilons, results
    if N == 0 or d == 0:
        out[:] = 0.0
        epsilon[:] = 0.0
        return
    with nogil:
        while start < N:
            stop = min(start + block, N)
            ends[:] = 0
            for i in range(start, stop):  # the rows of a class stand together
                ends[y[i] + 1] += 1
            for k in range(K):
                ends[k + 1] += ends[k]
            for i in range(start, stop):
                order[ends[y[i]]] = i
                ends[y[i]] += 1
            last = 0
            for k in range(K):
                first, last = last, ends[k]
                while first < last:
                    rows = min(height, last - first)
                    for i in range(rows):
                        at = order[first + i]
                        of_tile[0, i] = amount[at]
                        for j in range(d):
                            tile[j, i] = X[at, j]
                    own_tile(
                        &tile[0, 0], d, &own[k, 0, 0], &pooled[0, 0], &of_tile[0, 0], smoothing,
                        &of_tile[1, 0], &of_tile[2, 0],
                    )
                    for i in range(rows):
                        at = order[first + i]
                        epsilon[at] = of_tile[1, i]
                        out[at] = of_tile[2, i]
                    first += rows
            start = stop


def add_gaussian_shifted(
    const floating[:, :] X,
    const double[::1] more,
    const double[:, :, ::1] classes,
    double[:, ::1] out,
):
    """Add log p(x | k) with every variance larger by `more`, a number for each row.

    `classes` holds mean, 1/variance and −½ log 2π·variance of each class and column.
    """
    cdef Py_ssize_t N = X.shape[0], d = X.shape[1], K = classes.shape[0], height = PRIORY_TILE_ROWS
    cdef Py_ssize_t first = 0, rows, i, j
    cdef double[:, ::1] tile = np.zeros((d, height))
    cdef double[::1] shift = np.zeros(height)
    if N == 0 or d == 0 or K == 0:
        return
    with nogil:
        while first < N:
            rows = min(height, N - first)
            for i in range(rows):
                shift[i] = more[first + i]
                for j in range(d):
                    tile[j, i] = X[first + i, j]
            shifted_tile(
                &tile[0, 0], d, rows, K, &classes[0, 0, 0], &shift[0], &out[first, 0]
            )
            first += rows


def add_own(const int32_t[::1] y, const double[:, ::1] scores, double[::1] own):
    """Add each row's score of its own class to `own`."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(y.shape[0]):
            own[i] += scores[i, y[i]]


def put_own(const int32_t[::1] y, const double[::1] own, double[:, ::1] scores):
    """Write each row's score of its own class."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(y.shape[0]):
            scores[i, y[i]] = own[i]
