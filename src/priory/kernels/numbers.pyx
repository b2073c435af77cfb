"""Moments and cells of columns of numbers, per class."""

from libc.math cimport fabs
from libc.stdint cimport int8_t, int32_t, int64_t, uint64_t

import numpy as np

from priory.kernels.tiles cimport TILE, floating
from priory.kernels.shapes cimport check_length, check_shape

cdef extern from "moments.h" nogil:
    ctypedef struct dd:
        double hi, lo
    ctypedef struct moments:
        ptrdiff_t classes
        const int8_t *rounded
        int64_t *block
        int64_t *rows
        double *total
        double *total_lo
        double *s1_hi
        double *s1_lo
        double *s2_hi
        double *s2_lo
    double PRIORY_LARGEST
    int PRIORY_LANES
    int PRIORY_GROWTH
    void add_row_exactly(
        const double*, ptrdiff_t, int64_t*, double*, double*, double*, double*, double*, double*
    )
    int LANE_SIZE
    int whole_by_row(moments*, const double*, ptrdiff_t, ptrdiff_t, const int32_t*, const double*)
    int moments_by_row(moments*, const double*, ptrdiff_t, ptrdiff_t, const int32_t*, const double*)
    int moments_by_column(
        moments*, const double*, ptrdiff_t, const int32_t*, const double*, ptrdiff_t, double*, int,
        int8_t*,
    )
    int start_moments(moments*, ptrdiff_t, ptrdiff_t)
    void free_moments(moments*)
    void flush_class(moments*, ptrdiff_t)
    void finish_moments(moments*)
    dd dd_add(dd, dd)
    void about_mean(dd, dd, dd, double*, double*)

cdef extern from "cells.h" nogil:
    void seed_hashes(uint64_t, uint64_t)
    int64_t ordered_bits(double)
    ctypedef struct cells:
        int level, bits
        ptrdiff_t classes, count
        int32_t *slots
        int64_t *keys
        int64_t *rows
        double *total
    void count_into_cells(cells*, const double*, ptrdiff_t, const int32_t*, const double*, ptrdiff_t)

cdef enum:
    SHORT_ROW = 1024  # columns of a row that is added exactly
    MANY_CLASSES = 128  # above it, copies of the table would leave the cache
    SAMPLED = 128  # rows of each class that show whether its numbers have all their bits
    FULL = 32  # so many of them do: their squares add up to more than 2^109 times the last bit


cdef double TINY = 1e-140  # squares of smaller numbers lose their last bits to underflow


def class_moments(
    const floating[:, :] X not None, y, weight, int64_t[:, ::1] rows not None, double[:, ::1] total not None, double[:, ::1] s1_hi not None,
    double[:, ::1] s1_lo not None, double[:, ::1] s2_hi not None, double[:, ::1] s2_lo not None, double[:, ::1] total_lo=None,
):
    """Add Σw, Σwx, Σwx² to (hi, lo); return −1, or the first column with |x| > 1e150.

    Without total_lo, Σw is rounded to float64. That is exact for integer weights; for others the
    variance is then exact only to about 1e-16 · (mean² + variance).
    """
    cdef const int32_t[::1] classes = np.ascontiguousarray(y)
    cdef const double[::1] weights
    cdef const double* w = NULL
    cdef Py_ssize_t n = X.shape[0], d = X.shape[1], K = rows.shape[0]
    cdef moments m
    cdef int found
    if n == 0 or d == 0:
        return -1
    check_length(classes.shape[0], n, "y")
    if weight is not None:
        weights = np.ascontiguousarray(weight)
        check_length(weights.shape[0], n, "weight")
        w = &weights[0]
    check_shape(rows.shape[0], rows.shape[1], K, d, "rows")
    _check_sums(K, d, total, total if total_lo is None else total_lo, s1_hi, s1_lo, s2_hi, s2_lo)
    cdef int8_t[:, ::1] rounded = np.zeros((K, d), dtype=np.int8)
    cdef int8_t[::1] whole = np.ones(d, dtype=np.int8)
    m.rounded = &rounded[0, 0]
    m.rows, m.total = &rows[0, 0], &total[0, 0]
    m.total_lo = NULL if total_lo is None else &total_lo[0, 0]
    m.s1_hi, m.s1_lo, m.s2_hi, m.s2_lo = &s1_hi[0, 0], &s1_lo[0, 0], &s2_hi[0, 0], &s2_lo[0, 0]
    cdef bint by_column = d < 4 or abs(X.strides[0]) < abs(X.strides[1])
    cdef double[::1] tile = np.empty(max(TILE, d))
    cdef int lanes = PRIORY_LANES if K <= MANY_CLASSES else 1
    cdef double[::1] table = np.zeros(lanes * K * LANE_SIZE)
    cdef int32_t[:, ::1] seen = np.zeros((K, 1 if by_column else d), dtype=np.int32)
    cdef Py_ssize_t first, k
    try:
        if start_moments(&m, K, d) < 0:
            raise MemoryError
        with nogil:
            if by_column:
                found = _by_column(
                    X, &classes[0], w, &m, &tile[0], &table[0], lanes, whole, rounded, seen
                )
            else:
                first = _whole_rows(X, &classes[0], w, &m, &tile[0])
                for k in range(K):
                    m.block[k] = PRIORY_GROWTH
                if first < n:
                    _find_full_rows(X, classes, w, first, seen, rounded)
                found = _by_row(X, &classes[0], w, &m, &tile[0], first)
            if not found:
                finish_moments(&m)
    finally:
        free_moments(&m)
    return _first_large(X) if found else -1


def add_rows(
    const double[:, :] X not None, const int32_t[:] y not None, int64_t[:, ::1] rows not None, double[:, ::1] n_hi not None, double[:, ::1] n_lo not None,
    double[:, ::1] s1_hi not None, double[:, ::1] s1_lo not None, double[:, ::1] s2_hi not None, double[:, ::1] s2_lo not None,
):
    """Add a few rows of weight 1, exactly; return False, with nothing added, unless all are finite.

    For many rows class_moments is faster; for one it would spend its time on getting ready.
    """
    cdef Py_ssize_t n = X.shape[0], d = X.shape[1], i, j, k
    cdef double row[SHORT_ROW]
    check_length(y.shape[0], n, "y")
    check_shape(rows.shape[0], rows.shape[1], rows.shape[0], d, "rows")
    _check_sums(rows.shape[0], d, n_hi, n_lo, s1_hi, s1_lo, s2_hi, s2_lo)
    if d > SHORT_ROW:
        return False
    for i in range(n):
        for j in range(d):
            if not fabs(X[i, j]) <= PRIORY_LARGEST:
                return False
    for i in range(n):
        k = y[i]
        for j in range(d):
            row[j] = X[i, j]
        add_row_exactly(
            row, d, &rows[k, 0], &n_hi[k, 0], &n_lo[k, 0], &s1_hi[k, 0], &s1_lo[k, 0],
            &s2_hi[k, 0], &s2_lo[k, 0],
        )
    return True


def central_moments(
    const double[:, :] n_hi not None, const double[:, :] n_lo not None, const double[:, :] s1_hi not None, const double[:, :] s1_lo not None,
    const double[:, :] s2_hi not None, const double[:, :] s2_lo not None, double[:, ::1] mean not None, double[:, ::1] squares not None,
):
    """Write Σx / n and Σx² − (Σx)²/n, zero where n is; rounding may leave the latter below zero."""
    cdef Py_ssize_t i, j
    cdef dd n, s1, s2
    check_shape(squares.shape[0], squares.shape[1], mean.shape[0], mean.shape[1], "squares")
    _check_sums(mean.shape[0], mean.shape[1], n_hi, n_lo, s1_hi, s1_lo, s2_hi, s2_lo)
    with nogil:
        for i in range(mean.shape[0]):
            for j in range(mean.shape[1]):
                n.hi, n.lo = n_hi[i, j], n_lo[i, j]
                s1.hi, s1.lo = s1_hi[i, j], s1_lo[i, j]
                s2.hi, s2.lo = s2_hi[i, j], s2_lo[i, j]
                mean[i, j] = squares[i, j] = 0.0
                if n.hi > 0.0:
                    about_mean(n, s1, s2, &mean[i, j], &squares[i, j])


def add_up(const double[:, :] hi not None, const double[:, :] lo not None, double[::1] total_hi not None, double[::1] total_lo not None):
    """Add double-doubles over the first axis to those of the totals."""
    cdef Py_ssize_t i, j
    cdef dd total, term
    check_shape(lo.shape[0], lo.shape[1], hi.shape[0], hi.shape[1], "lo")
    check_length(total_hi.shape[0], hi.shape[1], "total_hi")
    check_length(total_lo.shape[0], hi.shape[1], "total_lo")
    with nogil:
        for i in range(hi.shape[0]):
            for j in range(hi.shape[1]):
                total.hi, total.lo = total_hi[j], total_lo[j]
                term.hi, term.lo = hi[i, j], lo[i, j]
                total = dd_add(total, term)
                total_hi[j], total_lo[j] = total.hi, total.lo


def count_cells(const floating[:] x not None, y, weight, int K, int level, int limit):
    """Count (level, keys, rows, total) of at most `limit` cells: a float64 without its last bits."""
    cdef const int32_t[::1] classes = np.ascontiguousarray(y)
    cdef const double[::1] weights
    cdef const double* w = NULL
    cdef Py_ssize_t n = x.shape[0], first = 0, size
    cdef double[::1] tile = np.empty(TILE)
    cdef cells table
    check_length(classes.shape[0], n, "y")
    if K < 0 or not 0 <= level < 64 or not 0 < limit < 1 << 28:
        raise ValueError(f"K, level and limit must not be {(K, level, limit)}.")
    table.level, table.bits, table.classes, table.count = level, 4, K, 0
    while (1 << table.bits) < 2 * (limit + 1):
        table.bits += 1
    keys = np.empty(limit + 1, dtype=np.int64)
    rows = np.zeros((limit + 1, K), dtype=np.int64)
    total = np.zeros((limit + 1, K)) if weight is not None else None
    cdef int32_t[::1] slots = np.full(1 << table.bits, -1, dtype=np.int32)
    cdef int64_t[::1] keys_view = keys
    cdef int64_t[:, ::1] rows_view = rows
    cdef double[:, ::1] total_view = total
    table.slots, table.keys, table.rows = &slots[0], &keys_view[0], &rows_view[0, 0]
    table.total = NULL
    if weight is not None and n > 0:
        weights = np.ascontiguousarray(weight)
        check_length(weights.shape[0], n, "weight")
        w = &weights[0]
        table.total = &total_view[0, 0]
    with nogil:
        while first < n:
            size = min(n - first, TILE)
            count_into_cells(
                &table, _adjacent(x[first : first + size], &tile[0]), size, &classes[first],
                w + first if w != NULL else NULL, limit,
            )
            first += size
    order = np.argsort(keys[: table.count])
    rows = np.ascontiguousarray(rows[order].T)
    total = rows.astype(np.float64) if total is None else np.ascontiguousarray(total[order].T)
    return table.level, keys[order], rows, total


cdef int _check_sums(
    Py_ssize_t K, Py_ssize_t d, const double[:, :] n_hi, const double[:, :] n_lo, const double[:, :] s1_hi,
    const double[:, :] s1_lo, const double[:, :] s2_hi, const double[:, :] s2_lo,
) except -1:
    """Check that sums have a place for each class and column."""
    check_shape(n_hi.shape[0], n_hi.shape[1], K, d, "n_hi")
    check_shape(n_lo.shape[0], n_lo.shape[1], K, d, "n_lo")
    check_shape(s1_hi.shape[0], s1_hi.shape[1], K, d, "s1_hi")
    check_shape(s1_lo.shape[0], s1_lo.shape[1], K, d, "s1_lo")
    check_shape(s2_hi.shape[0], s2_hi.shape[1], K, d, "s2_hi")
    check_shape(s2_lo.shape[0], s2_lo.shape[1], K, d, "s2_lo")
    return 0


cdef Py_ssize_t _whole_rows(
    const floating[:, :] X, const int32_t* y, const double* w, moments* m, double* tile
) noexcept nogil:
    """Sum integers from the first row on; return at which row other numbers begin."""
    cdef Py_ssize_t n = X.shape[0], d = X.shape[1], first = 0, done = 0, rows, stride, c
    # Few enough that no sum grows large, many enough that the classes' sums are not the work.
    cdef Py_ssize_t tall = max(2048, 128 * m.classes)
    cdef const double* x
    while first < n:
        x = _rows_at(X, first, min(tall, n - first), tile, &rows, &stride)
        if not whole_by_row(m, x, stride, rows, y + first, w + first if w != NULL else NULL):
            break
        first += rows
        if first - done >= tall or first == n:
            for c in range(m.classes):
                flush_class(m, c)
            done = first
    return done


cdef int _by_row(
    const floating[:, :] X, const int32_t* y, const double* w, moments* m, double* tile, Py_ssize_t first
) noexcept nogil:
    cdef Py_ssize_t n = X.shape[0], rows, stride
    cdef const double* x
    while first < n:
        x = _rows_at(X, first, n - first, tile, &rows, &stride)
        if moments_by_row(m, x, stride, rows, y + first, w + first if w != NULL else NULL):
            return 1
        first += rows
    return 0


cdef inline const double* _rows_at(
    const floating[:, :] X, Py_ssize_t first, Py_ssize_t most, double* tile, Py_ssize_t* rows,
    Py_ssize_t* stride,
) noexcept nogil:
    """Find some rows, at most so many, where they are if they can be read there, else copied."""
    cdef Py_ssize_t d = X.shape[1], i, j, size = sizeof(double)
    if floating is double:
        if X.strides[1] == size and X.strides[0] % size == 0:
            rows[0], stride[0] = most, X.strides[0] // size
            return &X[first, 0]
    rows[0], stride[0] = min(most, max(1, TILE // d)), d
    for i in range(rows[0]):
        for j in range(d):
            tile[i * d + j] = X[first + i, j]
    return tile


cdef int _by_column(
    const floating[:, :] X, const int32_t* y, const double* w, moments* m, double* tile,
    double* table, int lanes, int8_t[::1] whole, int8_t[:, ::1] rounded, int32_t[:, ::1] seen,
) noexcept nogil:
    cdef Py_ssize_t n = X.shape[0], d = X.shape[1], j, first = 0, rows, block = 16
    # Short enough to sum accurately, long enough that the classes' sums are not the work.
    cdef Py_ssize_t longest = min(max(1024, 8 * m.classes), TILE)
    cdef int8_t was_whole
    while first < n:
        rows = min(block, n - first)
        block = min(2 * block, longest)
        for j in range(d):
            was_whole = whole[j]
            if moments_by_column(
                m, _adjacent(X[first : first + rows, j], tile), rows, y + first,
                w + first if w != NULL else NULL, j, table, lanes, &whole[j],
            ):
                return 1
            if was_whole and not whole[j]:
                _find_full(X, y, w, first + rows, j, j + 1, seen, rounded)
        first += rows
    return 0


cdef inline const double* _adjacent(const floating[:] x, double* tile) noexcept nogil:
    """Find numbers where they are if they can be read there, else copied."""
    cdef Py_ssize_t i
    if floating is double:
        if x.strides[0] == sizeof(double):
            return &x[0]
    for i in range(x.shape[0]):
        tile[i] = x[i]
    return tile


cdef void _find_full_rows(
    const floating[:, :] X, const int32_t[::1] y, const double* w, Py_ssize_t first,
    int32_t[:, ::1] seen, int8_t[:, ::1] rounded,
) noexcept nogil:
    """Mark the classes whose numbers have all their bits in every column."""
    cdef Py_ssize_t k, j, d = X.shape[1], full
    _find_full(X, &y[0], w, first, 0, d, seen, rounded)
    for k in range(rounded.shape[0]):
        full = 0
        for j in range(d):
            full += rounded[k, j]
        for j in range(d):
            rounded[k, j] = full == d


cdef void _find_full(
    const floating[:, :] X, const int32_t* y, const double* w, Py_ssize_t first,
    Py_ssize_t left, Py_ssize_t right, int32_t[:, ::1] seen, int8_t[:, ::1] rounded,
) noexcept nogil:
    """Mark the classes and columns of numbers that have all their bits, by some of the rows left.

    A float64 that is odd in its last bit is at least 2^52 of those, and its square 2^104.
    """
    cdef Py_ssize_t n = X.shape[0], K = rounded.shape[0], i, j, k, step
    cdef double x
    if floating is double:
        step = max(1, (n - first) // (SAMPLED * K))
        for k in range(K):
            for j in range(right - left):
                seen[k, j] = 0
        i = first
        while i < n:
            for j in range(left, right):
                x = X[i, j]
                if TINY < fabs(x) <= PRIORY_LARGEST and (w == NULL or w[i] > 0.0):
                    seen[y[i], j - left] += ordered_bits(fabs(x)) & 1
            i += step
        for k in range(K):
            for j in range(left, right):
                rounded[k, j] = seen[k, j - left] >= FULL


cdef Py_ssize_t _first_large(const floating[:, :] X) noexcept nogil:
    cdef Py_ssize_t i, j
    for j in range(X.shape[1]):
        for i in range(X.shape[0]):
            if fabs(X[i, j]) > PRIORY_LARGEST:
                return j
    return -1


seed_hashes(<uint64_t> <Py_ssize_t> hash("priory"), <uint64_t> <Py_ssize_t> hash("hashes"))
