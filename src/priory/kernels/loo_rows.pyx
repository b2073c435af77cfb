"""Gaussian densities of rows that are left out of their own class."""

from libc.math cimport M_PI, fabs, log, log1p
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memset

import numpy as np

from priory.kernels.tiles cimport floating
from priory.kernels.shapes cimport check_length, check_shape

cdef extern from "tiles.h":
    int PRIORY_TILE_ROWS
    int PRIORY_TILE_COLUMNS

cdef extern from "densities.h" nogil:
    void gaussian_tile(
        const double*, ptrdiff_t, ptrdiff_t, ptrdiff_t, ptrdiff_t,
        const double*, const double*, const double*, const double*, double*,
    )

cdef extern from "loo_rows.h" nogil:
    ctypedef struct own_sums:
        pass
    ctypedef struct pooled_sums:
        pass
    void epsilon_tile(const double*, ptrdiff_t, const pooled_sums*, const double*, double, double*)
    void own_tile(const double*, ptrdiff_t, const own_sums*, const double*, const double*, double*)
    void shifted_tile(const double*, ptrdiff_t, ptrdiff_t, const own_sums*, const double*, double*)

cdef enum:
    SCORES = 131072  # at most so many are worked out together


cdef class GaussianSums:
    """Sums of Gaussian columns that rows can be left out of, where only their own class changes.

    own (K, d, 6)     n, mean, scatter; what a row may take of the scatter before digits are lost;
                      1/variance and −½ log 2π·variance, with what smoothing adds
    pooled (d, 4)     of each column over all classes: n, mean, scatter, variance
    smoothing         this share of the largest pooled variance is added to all variances;
    epsilon           that is so much while no row is left out
    same              a change of epsilon up to this changes nothing but the row's own class
    precise           below this share of epsilon a row takes too much from it
    most              the largest amount that is left out of any row

    It never changes, and threads may share it.
    """

    cdef object own, pooled, mean, half_precision, log_norm, log_norm_sums
    cdef double smoothing, epsilon, same, least

    def __init__(self, own, pooled, smoothing, epsilon, same, precise, most):
        self.own = np.ascontiguousarray(own, dtype=np.float64)
        pooled = np.asarray(pooled, dtype=np.float64)
        if self.own.ndim != 3 or self.own.shape[2] != 6 or pooled.shape != (self.own.shape[1], 4):
            raise ValueError(f"own must be (K, d, 6) and pooled (d, 4), not {self.own.shape} and {pooled.shape}.")
        n, variance = pooled[:, 0], pooled[:, 3]
        largest = variance * (n / (n - most)) * (1 + 1e-12)  # whatever row leaves, and rounding
        order = np.argsort(-largest)
        self.pooled = np.ascontiguousarray(np.column_stack([pooled, largest, np.arange(len(n))])[order])
        self.smoothing, self.epsilon, self.same = smoothing, epsilon, same
        self.least = precise * epsilon if smoothing > 0 else -1.0
        self.mean = np.ascontiguousarray(self.own[:, :, 1])
        self.half_precision = np.ascontiguousarray(0.5 * self.own[:, :, 4])
        self.log_norm = np.ascontiguousarray(self.own[:, :, 5])
        lefts = range(0, len(n), PRIORY_TILE_COLUMNS)
        self.log_norm_sums = np.array(
            [self.log_norm[:, left : left + PRIORY_TILE_COLUMNS].sum(axis=1) for left in lefts]
        )

    def add(self, const floating[:, :] X not None, const int32_t[::1] y not None, const double[::1] amount not None, double[:, ::1] out not None):
        """Add log p(x | k) of every row without it, but for rows for which digits would be lost.

        Return an array of those: to them nothing is added.
        """
        cdef Py_ssize_t N = X.shape[0], d = X.shape[1], K = out.shape[1], height = PRIORY_TILE_ROWS
        cdef Py_ssize_t start = 0, stop, first, last, rows, k, l, i, j, at, part, left
        # So many rows stay in the second-level cache; and the tiles of each class are mostly full.
        cdef Py_ssize_t block = max(height, min(max(16384 // max(d, 1), 4 * K * height), SCORES // max(K, 1)))
        cdef double smoothing = self.smoothing, epsilon = self.epsilon, same = self.same, least = self.least
        cdef int64_t shifts
        lost = np.zeros(N, dtype=np.bool_)
        if N == 0 or d == 0:
            return lost
        cdef uint8_t[::1] lost_ = lost.view(np.uint8)
        cdef const double[:, :, ::1] own = self.own
        check_length(d, own.shape[1], "Every row of X")
        check_length(y.shape[0], N, "y")
        check_length(amount.shape[0], N, "amount")
        check_shape(out.shape[0], K, N, own.shape[0], "out")
        cdef const double[:, ::1] pooled = self.pooled, mean = self.mean
        cdef const double[:, ::1] half_precision = self.half_precision, log_norm = self.log_norm
        cdef const double[:, ::1] sums = self.log_norm_sums
        cdef int64_t[::1] ends = np.zeros(K + 1, dtype=np.int64)
        cdef int64_t[::1] order = np.empty(min(N, block), dtype=np.int64)
        cdef double[:, ::1] tile = np.zeros((d, height)), shifted = np.empty((height, K))
        cdef double[:, ::1] scores = np.empty((min(N, block), K))
        cdef double[::1] amounts = np.ones(height), added = np.zeros(height), mine = np.empty(height)
        with nogil:
            while start < N:
                stop = min(start + block, N)
                # All classes as they are with the row.
                memset(&scores[0, 0], 0, (stop - start) * K * sizeof(double))
                first = start
                while first < stop:
                    rows = min(height, stop - first)
                    for i in range(rows):
                        for j in range(d):
                            tile[j, i] = X[first + i, j]
                    for part in range(sums.shape[0]):
                        left = part * PRIORY_TILE_COLUMNS
                        gaussian_tile(
                            &tile[left, 0], min(d - left, PRIORY_TILE_COLUMNS), rows, K, d, &mean[0, left],
                            &half_precision[0, left], &log_norm[0, left], &sums[part, 0],
                            &scores[first - start, 0],
                        )
                    first += rows
                # The rows of a class stand together for what changes without them.
                ends[:] = 0
                for i in range(start, stop):
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
                            amounts[i] = amount[at]
                            for j in range(d):
                                tile[j, i] = X[at, j]
                        epsilon_tile(
                            &tile[0, 0], d, <const pooled_sums*> &pooled[0, 0], &amounts[0], smoothing, &added[0]
                        )
                        own_tile(
                            &tile[0, 0], d, <const own_sums*> &own[k, 0, 0], &amounts[0], &added[0], &mine[0]
                        )
                        shifts = 0
                        for i in range(rows):
                            if mine[i] != mine[i] or not added[i] > least:
                                lost_[order[first + i]] = 1
                                added[i] = epsilon
                            added[i] -= epsilon
                            shifts += fabs(added[i]) > same
                        if shifts:
                            shifted_tile(
                                &tile[0, 0], d, K, <const own_sums*> &own[0, 0, 0], &added[0], &shifted[0, 0]
                            )
                        for i in range(rows):
                            at = order[first + i] - start
                            if fabs(added[i]) > same:
                                scores[at, :] = shifted[i, :]
                            scores[at, k] = mine[i]
                        first += rows
                for i in range(start, stop):
                    if not lost_[i]:
                        for l in range(K):
                            out[i, l] += scores[i - start, l]
                start = stop
        return lost


def add_student_t_loo(
    const double[::1] x not None, const int32_t[::1] y not None, const double[:, ::1] own not None, const double[:, ::1] pooled not None,
    const double[:, ::1] of_class not None, double kappa, double alpha, double most_dof, double[:, ::1] out not None,
):
    """Add the log density of Student's t under every class to out, each row left out of its own.

    own (n, 4)        n, mean, Σ(x − mean)² and log Γ((ν+1)/2) − log Γ(ν/2) of the row's class without it
    pooled (n, 2)     the prior's guess of the mean and its β, which may follow from the column without the row
    of_class (K, 4)   the same as `own`, of each class with all its rows
    most_dof          there are no more degrees of freedom ν than this
    """
    cdef Py_ssize_t n = x.shape[0], K = of_class.shape[0], i, k
    cdef const double* sums
    cdef double rows, away, after, a, half, q, d
    if y.shape[0] != n or own.shape[0] != n or pooled.shape[0] != n or out.shape[0] != n or out.shape[1] != K:
        raise ValueError(f"There are {n} numbers of {K} classes: y, own, pooled and out must fit.")
    if own.shape[1] != 4 or pooled.shape[1] != 2 or of_class.shape[1] != 4:
        raise ValueError("own and of_class must have four columns, pooled two.")
    with nogil:
        for i in range(n):
            for k in range(K):
                sums = &own[i, 0] if k == y[i] else &of_class[k, 0]
                rows, away, after = sums[0], sums[1] - pooled[i, 0], kappa + sums[0]
                a = alpha + rows / 2
                q = pooled[i, 1] + sums[2] / 2
                if rows > 0:
                    q += kappa * rows * away * away / (2 * after)
                else:
                    away = 0
                half = a if 2 * a <= most_dof else most_dof / 2
                q *= 2 * (after + 1) / after * (half / a)  # ν times the squared scale
                d = x[i] - (pooled[i, 0] + rows * away / after)
                out[i, k] += sums[3] - log(M_PI * q) / 2 - (half + 0.5) * log1p(d * d / q)
