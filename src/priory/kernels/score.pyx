"""Log-likelihoods, added row by row to out (rows, classes)."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc

import numpy as np

from priory.kernels.tiles cimport TILE, floating, index, numeric, rows_of, tile_rows
from priory.kernels.shapes cimport check_length, check_shape, check_starts

cdef enum:
    LOOKED_UP = 1024  # scores that stay in the first-level cache while all tables are looked up

cdef extern from "lookups.h" nogil:
    ctypedef struct lookup:
        const char* codes
        ptrdiff_t stride
        int width
        const int32_t* places
        const int32_t* kinds
        const double* log_p
    void look_up(const lookup*, ptrdiff_t, ptrdiff_t, ptrdiff_t, ptrdiff_t, double*)

cdef extern from "tiles.h":
    int PRIORY_TILE_ROWS
    int PRIORY_TILE_COLUMNS

cdef extern from "densities.h" nogil:
    void gaussian_tile(
        const double*, ptrdiff_t, ptrdiff_t, ptrdiff_t, ptrdiff_t,
        const double*, const double*, const double*, const double*, double*,
    )
    void student_tile(
        const double*, ptrdiff_t, ptrdiff_t, ptrdiff_t, ptrdiff_t,
        const double*, const double*, const double*, const double*, const double*, double*,
    )

cdef extern from "products.h" nogil:
    void add_products(const double*, ptrdiff_t, const double*, ptrdiff_t, double*)
    # A macro that chooses by the types of the data and the indices.
    void add_sparse_row(const void*, const void*, ptrdiff_t, const double*, ptrdiff_t, double*)
    void product_tile(const double*, ptrdiff_t, ptrdiff_t, ptrdiff_t, const double*, double*)
    void presence_tile(
        const double*, ptrdiff_t, ptrdiff_t, ptrdiff_t, const double*, double, double*
    )
    void log_shares_of(
        const double*, const double*, const double*, ptrdiff_t, ptrdiff_t, ptrdiff_t, ptrdiff_t, double*
    )

cdef extern from "posteriors.h" nogil:
    double PRIORY_TIE
    double PRIORY_TIE_SHARE
    void first_largest(const double*, ptrdiff_t, ptrdiff_t, int, int32_t*)
    void normalize_rows(double*, ptrdiff_t, ptrdiff_t, int, double*, double*)


TIE = PRIORY_TIE
TIE_SHARE = PRIORY_TIE_SHARE


cdef class Lookups:
    """Several columns of codes with their tables, looked up together."""

    cdef list held  # the arrays that the tables point into
    cdef lookup* tables
    cdef Py_ssize_t count, K, n

    def __cinit__(self, columns):
        """Take (codes, places, log_p, kinds) of each column; the codes may be any integers.

        With kinds, a number for each row or None, the place of a code is that of kind 0.
        """
        cdef const int32_t[::1] places, of_rows
        cdef const double[:, ::1] log_p
        cdef lookup* t
        self.held = []
        self.count = 0
        self.tables = <lookup*> malloc(max(1, len(columns)) * sizeof(lookup))
        if self.tables == NULL:
            raise MemoryError
        self.n = -1
        for codes, where, table, kinds in columns:
            if where is None or table is None:
                raise TypeError("Every column needs places and a table.")
            places, log_p = where, table
            codes = np.asarray(codes)
            if len(places) and np.max(places) >= log_p.shape[0]:
                raise ValueError(f"There is no row {np.max(places)} in a table of {log_p.shape[0]}.")
            if codes.ndim != 1 or codes.dtype.kind not in "iub":
                raise TypeError(f"Codes must be a 1-D array of integers, not {codes.ndim}-D of {codes.dtype}.")
            if not len(places) and len(codes) and np.max(codes) >= 0:
                raise ValueError("There are codes, but no places for them.")
            check_length(len(codes), len(codes) if self.n < 0 else self.n, "Every column")
            check_length(log_p.shape[1], log_p.shape[1] if self.n < 0 else self.K, "Every row of a table")
            self.n = len(codes)
            if codes.dtype.kind != "i" or not codes.dtype.isnative:
                codes = codes.astype(np.int64)
            self.held += [codes, where, table, kinds]
            t = &self.tables[self.count]
            t.kinds = NULL
            if kinds is not None and len(kinds):
                of_rows = kinds
                check_length(of_rows.shape[0], self.n, "kinds")
                t.kinds = &of_rows[0]
            t.codes = <const char*> <size_t> codes.ctypes.data
            t.stride = codes.strides[0] if codes.shape[0] else 0
            t.width = codes.itemsize
            t.places = &places[0] if places.shape[0] else NULL
            t.log_p = &log_p[0, 0] if log_p.shape[0] else NULL
            self.K = log_p.shape[1]
            self.count += 1

    def __dealloc__(self):
        free(self.tables)

    def add(self, Py_ssize_t first, double[:, ::1] out not None):
        """Add log_p[places[code]] of every column, from row `first` on; negative adds nothing."""
        cdef Py_ssize_t n = out.shape[0], row = 0, rows, height
        if n == 0 or self.K == 0 or self.count == 0:
            return
        check_length(out.shape[1], self.K, "Every row of out")
        if not 0 <= first <= self.n - n:
            raise ValueError(f"There are {self.n} rows of codes, fewer than {first} + {n}.")
        height = max(1, LOOKED_UP // self.K)
        with nogil:
            while row < n:
                rows = min(height, n - row)
                look_up(self.tables, self.count, first + row, rows, self.K, &out[row, 0])
                row += rows


def add_gaussian(
    const floating[:, :] X not None, const double[:, ::1] mean not None, const double[:, ::1] half_precision not None,
    const double[:, ::1] log_norm not None, double[:, ::1] out not None,
):
    """Add Σ log_norm − (x − mean)² · half_precision over the columns that are not NaN."""
    _add_densities(X, mean, half_precision, log_norm, log_norm, False, out)


def add_student_t(
    const floating[:, :] X not None, const double[:, ::1] mean not None, const double[:, ::1] inv_scale not None,
    const double[:, ::1] half_dof1 not None, const double[:, ::1] log_norm not None, double[:, ::1] out not None,
):
    """Add Σ log_norm − half_dof1 · log1p((x − mean)² · inv_scale) over the columns not NaN."""
    _add_densities(X, mean, inv_scale, half_dof1, log_norm, True, out)


def add_counts_dense(const numeric[:, :] X not None, const double[:, ::1] weights not None, double[:, ::1] out not None):
    """Add X @ weights, where 0 · (−inf) = 0."""
    cdef Py_ssize_t n = X.shape[0], d = X.shape[1], K = out.shape[1], first = 0, size, i
    cdef double[::1] tile
    cdef const double* x
    if n == 0 or d == 0:
        return
    check_shape(weights.shape[0], weights.shape[1], d, K, "weights")
    check_length(out.shape[0], n, "out")
    if np.isfinite(weights).all():
        _add_products(X, weights, False, 0.0, out)
        return
    tile = np.empty(max(TILE, d))
    with nogil:
        while first < n:
            size = min(tile_rows(d), n - first)
            x = rows_of(X, first, size, &tile[0])
            for i in range(size):
                add_products(x + i * d, d, &weights[0, 0], K, &out[first + i, 0])
            first += size


def add_present_dense(
    const numeric[:, :] X not None, double threshold, const double[:, ::1] weights not None, double[:, ::1] out not None
):
    """Add the weights of the columns that are above the threshold."""
    if X.shape[0] and X.shape[1]:
        check_shape(weights.shape[0], weights.shape[1], X.shape[1], out.shape[1], "weights")
        check_length(out.shape[0], X.shape[0], "out")
        _add_products(X, weights, True, threshold, out)


def add_counts_csr(
    const numeric[:] data not None, const index[:] indices not None, indptr, const double[:, ::1] weights not None, double[:, ::1] out not None
):
    """Add X @ weights for compressed sparse rows, where 0 · (−inf) = 0."""
    cdef const int64_t[::1] start = np.ascontiguousarray(indptr, dtype=np.int64)
    cdef const numeric[::1] values = np.ascontiguousarray(data)
    cdef const index[::1] columns = np.ascontiguousarray(indices)
    cdef Py_ssize_t i, at, n, K = out.shape[1]
    if values.shape[0] == 0:
        return
    check_starts(np.asarray(start), values.shape[0], "indptr")
    check_length(columns.shape[0], values.shape[0], "indices")
    check_shape(out.shape[0], weights.shape[1], start.shape[0] - 1, K, "out, and a row of weights,")
    with nogil:
        for i in range(start.shape[0] - 1):
            at, n = start[i], start[i + 1] - start[i]
            if n:
                add_sparse_row(&values[at], &columns[at], n, &weights[0, 0], K, &out[i, 0])


def log_normalize(double[:, ::1] scores not None, double[::1] log_evidence not None):
    """Subtract each row's logsumexp and write it; a row of −inf stays as it is."""
    _normalize(scores, log_evidence, False)


def softmax(double[:, ::1] scores not None, double[::1] log_evidence not None):
    """Turn each row into its softmax and write its logsumexp; a row of −inf stays as it is."""
    _normalize(scores, log_evidence, True)


def log_shares(
    const double[:, ::1] counts not None, const double[::1] pseudo not None, const double[::1] totals not None,
    Py_ssize_t first, Py_ssize_t last, double[:, ::1] out not None,
):
    """Write log (counts[k, j] + pseudo[j]) / totals[k] to out[j, k], for some of the columns."""
    check_length(pseudo.shape[0], counts.shape[1], "pseudo")
    check_length(totals.shape[0], counts.shape[0], "totals")
    check_shape(out.shape[0], out.shape[1], counts.shape[1], counts.shape[0], "out")
    if first < 0 or last > counts.shape[1]:
        raise ValueError(f"There are {counts.shape[1]} columns, not {first} to {last}.")
    if counts.shape[0] and last > first:
        with nogil:
            log_shares_of(
                &counts[0, 0], &pseudo[0], &totals[0], counts.shape[0], counts.shape[1],
                first, last, &out[0, 0],
            )


def argmax_rows(const double[:, ::1] scores not None, int32_t[::1] out not None, bint probabilities=False):
    """Write the first place of each row's largest log score, −1 where all are −inf.

    Scores within TIE of the largest, or within TIE_SHARE of its size, count as equal to it: it is
    a tie, decided within rounding, and the first class wins. Of probabilities, those do that are
    less than a share TIE below the largest, which is the same rule.
    """
    check_length(out.shape[0], scores.shape[0], "out")
    if scores.shape[0] and scores.shape[1]:
        with nogil:
            first_largest(
                &scores[0, 0], scores.shape[0], scores.shape[1], probabilities, &out[0]
            )
    else:
        out[:] = -1


cdef _normalize(double[:, ::1] scores, double[::1] log_evidence, bint probabilities):
    cdef Py_ssize_t n = scores.shape[0], K = scores.shape[1], first = 0, rows
    check_length(log_evidence.shape[0], n, "log_evidence")
    if n == 0:
        return
    if K == 0:
        log_evidence[:] = -INFINITY
        return
    cdef Py_ssize_t height = max(1, TILE // K)
    cdef double[::1] scratch = np.empty(height * K)
    with nogil:
        while first < n:
            rows = min(height, n - first)
            normalize_rows(
                &scores[first, 0], rows, K, probabilities, &log_evidence[first], &scratch[0]
            )
            first += rows


cdef _add_products(
    const numeric[:, :] X, const double[:, ::1] weights, bint binary, double threshold, double[:, ::1] out
):
    """Walk over tiles of rows, turned so that rows stand side by side."""
    cdef Py_ssize_t n = X.shape[0], d = X.shape[1], K = out.shape[1], height = PRIORY_TILE_ROWS
    cdef Py_ssize_t width = PRIORY_TILE_COLUMNS, left = 0, columns, first, rows, i, j
    cdef double[:, ::1] tile = np.zeros((width, height))
    with nogil:
        while left < d:
            columns = min(d - left, width)
            first = 0
            while first < n:
                rows = min(n - first, height)
                for i in range(rows):
                    for j in range(columns):
                        tile[j, i] = <double> X[first + i, left + j]
                if binary:
                    presence_tile(
                        &tile[0, 0], columns, rows, K, &weights[left, 0], threshold, &out[first, 0]
                    )
                else:
                    product_tile(&tile[0, 0], columns, rows, K, &weights[left, 0], &out[first, 0])
                first += height
            left += width


cdef _add_densities(
    const floating[:, :] X, const double[:, ::1] mean, const double[:, ::1] b, const double[:, ::1] power,
    const double[:, ::1] log_norm, bint student, double[:, ::1] out,
):
    """Walk over tiles of rows; a Gaussian has no use for power."""
    cdef Py_ssize_t n = X.shape[0], d = X.shape[1], K = out.shape[1], height = PRIORY_TILE_ROWS
    cdef Py_ssize_t width = PRIORY_TILE_COLUMNS
    cdef Py_ssize_t left, columns, first, rows, i, j
    cdef double[:, ::1] tile = np.zeros((width, height))
    cdef double[::1] sums
    check_length(out.shape[0], n, "out")
    check_shape(mean.shape[0], mean.shape[1], K, d, "mean")
    check_shape(b.shape[0], b.shape[1], K, d, "half_precision, or inv_scale,")
    check_shape(power.shape[0], power.shape[1], K, d, "half_dof1")
    check_shape(log_norm.shape[0], log_norm.shape[1], K, d, "log_norm")
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
