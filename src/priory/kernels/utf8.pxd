from libc.stdint cimport int64_t, uint8_t


cdef class Borrowed:
    cdef list values  # each str, or its UTF-8 as bytes
    cdef const uint8_t[::1] encoded  # the UTF-8 of those that are not ASCII
    cdef object gaps
    cdef int64_t[::1] addresses, sizes
