from libc.stdint cimport int32_t, int64_t

cdef extern from "pairs.h" nogil:
    ctypedef struct pair_arrays:
        int32_t* word
        int32_t* label
        int64_t* rows
        double* weight
        double* count
        double* log_tf
        int64_t n


cdef class Arrays:
    """Pairs, and where their six arrays are."""

    cdef object pairs
    cdef pair_arrays at

    @staticmethod
    cdef Arrays empty(Py_ssize_t n, bint weighted)
    cdef int check_order(self) except -1
