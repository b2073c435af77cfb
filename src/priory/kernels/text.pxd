from libc.stdint cimport int64_t, uint8_t

from priory.kernels.utf8 cimport Borrowed
from priory.kernels.vocabulary cimport Vocabulary, text_word

cdef enum:
    BLOCK = 256  # words split before they are looked up: their bytes are still near


cdef class Splitter:
    cdef readonly str unit
    cdef readonly bint lowercase, symbols
    cdef Py_ssize_t low, high  # words or characters of an n-gram
    cdef Vocabulary stops
    cdef int kind  # a number for the unit


cdef class Reader:
    """Give the words of one text after another, a block at a time."""

    cdef readonly Py_ssize_t n  # texts
    cdef text_word* words  # the block

    cdef Splitter splitter
    cdef const uint8_t[::1] data, missing
    cdef const int64_t[::1] offsets
    cdef Borrowed borrowed  # in their place
    cdef bint some_missing, plain  # words as they come: no stop words, no n-grams
    cdef Py_ssize_t room  # for words of the text itself, before n-grams
    cdef text_word* block
    cdef text_word* ngrams
    cdef uint8_t* glued  # of each word of the block, whether nothing parts it from the one before
    cdef uint8_t* marks  # the same, of `words`
    cdef uint8_t* low  # the bytes of the block, or of the whole text's characters
    cdef void* joined  # word_row of text.h, whose tables text.pyx alone fills
    cdef void* characters  # its character_row
    cdef const uint8_t* start
    cdef const uint8_t* at
    cdef const uint8_t* end
    cdef int64_t given, skip  # words given of this text; words to leave out, having been given
    cdef bint exact, fresh  # the text is str.lower()'s; nothing of it was read
    cdef bint again  # the character to go on from was given
    cdef bytes lowered

    cdef void prefetch(self, Py_ssize_t i) noexcept nogil
    cdef bint open(self, Py_ssize_t i) noexcept nogil
    cdef Py_ssize_t next_words(self) except -1 nogil
    cdef Py_ssize_t _next_words(self) except -1 nogil
    cdef Py_ssize_t _next_characters(self) except -1 nogil
    cdef Py_ssize_t _longest(self) except -1
    cdef int _lower(self) except -1
