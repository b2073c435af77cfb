"""Gaussian log-likelihoods of rows that are left out of their own class."""

from libc.math cimport NAN
from libc.stdint cimport int32_t, uint8_t

import numpy as np

from priory.kernels.tiles cimport TILE, floating

cdef extern from "gaussian_without.h" nogil:
    int PRIORY_ABREAST
    void own_densities(
        const double*, ptrdiff_t, ptrdiff_t, const int32_t*, const double*, const double*,
        const double*, const double*, const double*, const double*, const double*, const double*,
        const double*, const double*, double, double*, double*, uint8_t*, const double*,
        const double*, double*,
    )
    void shifted_densities(
        const double*, ptrdiff_t, ptrdiff_t, ptrdiff_t, const double*, const double*,
        const double*, const double*, double*,
    )


def padded(values, double filler):
    """Return a table, its columns padded to a whole number of lanes."""
    cdef Py_ssize_t d = values.shape[1]
    result = np.full((values.shape[0], (d + PRIORY_ABREAST - 1) // PRIORY_ABREAST * PRIORY_ABREAST), filler)
    result[:, :d] = values
    return result


def gaussian_own(
    const floating[:, :] X,
    const int32_t[::1] y,
    const double[::1] amount,
    const double[:, ::1] n,
    const double[:, ::1] mean,
    const double[:, ::1] scatter,
    const double[:, ::1] least,
    const double[:, ::1] inverse,
    const double[:, ::1] log_norm,
    const double[:, :, ::1] pooled,
    double smoothing,
    double[::1] epsilon,
    double[::1] own,
    uint8_t[::1] exact,
):
    """Write log p(x | y) of every row without it, and what smoothing adds to its variances.

    Tables are padded; `pooled` holds n, mean and scatter over all classes. A row for which digits
    would be lost, S⁻ ≤ least, is not marked as exact.
    """
    cdef Py_ssize_t N = X.shape[0], d = X.shape[1], width = n.shape[1], first = 0, rows, i, j
    cdef Py_ssize_t height = max(1, TILE // max(width, 1))
    cdef double[::1] tile, scratch
    cdef const double[:, ::1] left, pooled_left
    if N == 0 or width == 0:
        return
    with np.errstate(divide="ignore"):
        left, pooled_left = 1.0 / (np.asarray(n) - 1.0), 1.0 / (np.asarray(pooled[0]) - 1.0)
    scratch = np.empty(2 * width)
    tile = np.full(height * width, NAN)
    with nogil:
        while first < N:
            rows = min(height, N - first)
            for i in range(rows):
                for j in range(d):
                    tile[i * width + j] = X[first + i, j]
            own_densities(
                &tile[0], rows, width, &y[first], &amount[first], &n[0, 0], &mean[0, 0],
                &scatter[0, 0], &least[0, 0], &inverse[0, 0], &log_norm[0, 0], &pooled[0, 0, 0],
                &pooled[1, 0, 0], &pooled[2, 0, 0], smoothing, &epsilon[first], &own[first],
                &exact[first], &left[0, 0], &pooled_left[0, 0], &scratch[0],
            )
            first += rows


def add_gaussian_shifted(
    const floating[:, :] X,
    const double[::1] more,
    const double[:, ::1] mean,
    const double[:, ::1] inverse,
    const double[:, ::1] log_norm,
    double[:, ::1] out,
):
    """Add log p(x | k) with every variance 1/inverse larger by `more`, a number for each row."""
    cdef Py_ssize_t N = X.shape[0], d = X.shape[1], width = mean.shape[1], first = 0, rows, i, j
    cdef Py_ssize_t height = max(1, TILE // max(width, 1)), K = mean.shape[0]
    cdef double[::1] tile
    if N == 0 or width == 0 or K == 0:
        return
    tile = np.full(height * width, NAN)
    with nogil:
        while first < N:
            rows = min(height, N - first)
            for i in range(rows):
                for j in range(d):
                    tile[i * width + j] = X[first + i, j]
            shifted_densities(
                &tile[0], rows, width, K, &more[first], &mean[0, 0], &inverse[0, 0],
                &log_norm[0, 0], &out[first, 0],
            )
            first += rows
