"""Rows of any layout and type, seen as adjacent rows of float64."""

from libc.stdint cimport int32_t, int64_t

ctypedef fused index:
    int32_t
    int64_t

ctypedef fused floating:
    float
    double

ctypedef fused numeric:
    float
    double
    int64_t

cdef enum:
    TILE = 4096  # float64 values converted at a time: they stay in the first-level cache


cdef inline Py_ssize_t tile_rows(Py_ssize_t columns) noexcept nogil:
    return max(1, TILE // max(columns, 1))


cdef inline const double* rows_of(
    const numeric[:, :] X, Py_ssize_t first, Py_ssize_t rows, double* tile
) noexcept nogil:
    """Find rows first .. first + rows: where they are if they can be read there, else copied."""
    cdef Py_ssize_t d = X.shape[1], i, j
    if numeric is double:
        if X.strides[1] == sizeof(double) and X.strides[0] == d * <Py_ssize_t> sizeof(double):
            return &X[first, 0]
    if X.strides[0] < X.strides[1]:
        for j in range(d):
            for i in range(rows):
                tile[i * d + j] = <double> X[first + i, j]
    else:
        for i in range(rows):
            for j in range(d):
                tile[i * d + j] = <double> X[first + i, j]
    return tile
