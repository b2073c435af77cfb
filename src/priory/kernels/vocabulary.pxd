from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

cdef extern from "vocabulary.h" nogil:
    enum:
        TEXT_PADDING
        TEXT_LONGEST

    ctypedef struct text_word:
        const uint8_t* bytes
        uint32_t size

    ctypedef struct vocabulary:
        int64_t count
        int64_t* starts
        uint8_t* bytes

    void seed_hashes(uint64_t, uint64_t)
    text_word text_word_of(const uint8_t*, uint32_t)
    int32_t vocabulary_find(const vocabulary*, const text_word*)


cdef inline int check_memory(int64_t code) except -1 nogil:
    """Raise MemoryError for what a function returns that got none."""
    if code < 0:
        with gil:
            raise MemoryError
    return 0


cdef inline void seed_words():
    """Let this module hash words as all others of the process do."""
    seed_hashes(<uint64_t> <Py_ssize_t> hash("priory"), <uint64_t> <Py_ssize_t> hash("hashes"))


cdef class Vocabulary:
    cdef vocabulary words_
    cdef Py_ssize_t reading
    cdef bint writing

    @staticmethod
    cdef Vocabulary start()
    cdef int start_reading(self) except -1
    cdef void end_reading(self) noexcept
    cdef int start_writing(self) except -1
    cdef void end_writing(self) noexcept
