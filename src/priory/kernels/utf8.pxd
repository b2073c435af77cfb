from libc.stdint cimport int64_t


cdef class Borrowed:
    cdef list values  # each str, or its UTF-8 as bytes
    cdef object gaps
    cdef int64_t[::1] addresses, sizes
