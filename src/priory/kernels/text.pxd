from libc.stdint cimport int64_t, uint8_t

from priory.kernels.vocabulary cimport text_word


cdef class Reader:
    """Give the words of one text after another, a block at a time."""

    cdef readonly Py_ssize_t n  # texts
    cdef Py_ssize_t most  # words in a block, at most
    cdef text_word* words  # the block
    cdef const uint8_t[::1] data, missing
    cdef const int64_t[::1] offsets
    cdef bint some_missing
    cdef text_word* block
    cdef uint8_t* low  # its bytes, in lower case
    cdef const uint8_t* start
    cdef const uint8_t* at
    cdef const uint8_t* end
    cdef int64_t given, skip  # words given of this text; words to leave out, having been given
    cdef bint exact  # the text is str.lower()'s
    cdef bytes lowered

    cdef bint open(self, Py_ssize_t i) noexcept nogil
    cdef Py_ssize_t next_words(self) except -1 nogil
    cdef Py_ssize_t _longest(self) except -1
    cdef int _lower(self) except -1
