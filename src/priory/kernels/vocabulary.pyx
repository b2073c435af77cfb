"""Words, numbered in order of first appearance."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memset

from priory.base.lazy import Lazy

np = Lazy("numpy")  # one message is judged before it is loaded

cdef extern from "Python.h":
    bint PyUnicode_IS_COMPACT_ASCII(object)
    Py_ssize_t PyUnicode_GET_LENGTH(object)
    const void* PyUnicode_DATA(object)
    object PyUnicode_AsEncodedString(object, const char*, const char*)

cdef extern from "text_utf8.h" nogil:
    int text_valid(const uint8_t*, const uint8_t*)

cdef extern from "vocabulary.h" nogil:
    int vocabulary_start(vocabulary*)
    void vocabulary_end(vocabulary*)
    int64_t vocabulary_size(const vocabulary*)
    void vocabulary_lend(vocabulary*)
    void vocabulary_clear(vocabulary*)
    int vocabulary_copy(vocabulary*, const vocabulary*)
    int32_t vocabulary_add(vocabulary*, const text_word*)
    int vocabulary_extend(vocabulary*, const vocabulary*, int32_t*)
    int64_t vocabulary_take(vocabulary*, const vocabulary*, const int32_t*, int64_t)
    int64_t vocabulary_fill(vocabulary*, const uint8_t*, const int64_t*, int64_t)
    int vocabulary_order(const vocabulary*, int32_t*)


cdef enum:
    KEPT = 32 << 20  # bytes of vocabularies that nobody has any more, for the next ones
    WORTH_KEEPING = 1 << 20

cdef vocabulary kept[8]
cdef int n_kept = 0
cdef int64_t kept_size = 0


cdef class Vocabulary:
    """Words, numbered from 0 in order of first appearance; each is taken as it is.

    Many threads may read it; none may while another adds to it: that is a RuntimeError.
    """

    def __cinit__(self, words=()):
        check_memory(vocabulary_start(&self.words_))

    def __init__(self, words=()):
        for word in words:
            self.add(word)

    @staticmethod
    def from_buffers(data, offsets):
        """Make a vocabulary of words as `buffers` gives them, or Arrow.

        ValueError for words that are not inside the data, are no UTF-8 or are there twice.
        """
        cdef const uint8_t[::1] text = np.ascontiguousarray(data, dtype=np.uint8)
        offsets = np.asarray(offsets).astype(np.int64, order="C", casting="safe", copy=False)
        cdef const int64_t[::1] starts = offsets
        cdef int64_t n = max(starts.shape[0] - 1, 0), i
        cdef Vocabulary filled = Vocabulary()
        if n == 0:
            return filled
        cdef int64_t valid = n, inside = n, done = 0
        with nogil:
            for i in range(n):
                if starts[i] < 0 or starts[i + 1] < starts[i] or starts[i + 1] > text.shape[0]:
                    inside = i
                    break
                if starts[i + 1] - starts[i] > TEXT_LONGEST or not text_valid(&text[0] + starts[i], &text[0] + starts[i + 1]):
                    valid = i
                    break
            if inside == n and valid == n:
                done = vocabulary_fill(&filled.words_, &text[0], &starts[0], n)
        if inside < n:
            raise ValueError(f"Word {inside} is not inside the data of {text.shape[0]} bytes.")
        if valid < n:
            raise ValueError(f"Word {valid} is no UTF-8 of at most {TEXT_LONGEST} bytes.")
        check_memory(done)
        if done < n:
            word = bytes(text[starts[done]:starts[done + 1]]).decode("utf-8", "surrogatepass")
            raise ValueError(f"The word {word!r} is there twice.")
        return filled

    def __dealloc__(self):
        global n_kept, kept_size
        cdef int64_t size = vocabulary_size(&self.words_)
        if size < WORTH_KEEPING or kept_size + size > KEPT or n_kept == sizeof(kept) // sizeof(vocabulary):
            vocabulary_end(&self.words_)
            return
        vocabulary_lend(&self.words_)
        kept[n_kept] = self.words_
        n_kept += 1
        kept_size += size

    @staticmethod
    cdef Vocabulary start():
        """Make one for many words, in the memory of another if some is kept.

        The first touch of memory may take longer than to find a place for what is put there.
        """
        global n_kept, kept_size
        cdef Vocabulary started = Vocabulary()
        if n_kept:
            vocabulary_end(&started.words_)
            n_kept -= 1
            started.words_ = kept[n_kept]
            kept_size -= vocabulary_size(&started.words_)
            vocabulary_clear(&started.words_)
        return started

    def __len__(self):
        return self.words_.count

    def __reduce__(self):
        return Vocabulary.from_buffers, self.buffers()

    def add(self, word):
        """Find the code of a word; add it if it is new."""
        cdef Key key = Key()
        cdef int32_t code
        key.write(word)
        self.start_writing()
        try:
            code = vocabulary_add(&self.words_, &key.word)
        finally:
            self.end_writing()
        check_memory(code)
        return code

    def find(self, word):
        """Find the code of a word, or −1."""
        return int(self.find_all([word])[0])

    def find_all(self, list words not None):
        """Find the code of each word (int32), −1 where there is none."""
        cdef Py_ssize_t n = len(words), i
        codes = np.empty(n, dtype=np.int32)
        cdef int32_t[::1] out = codes
        cdef Key key = Key()
        self.start_reading()
        try:
            for i in range(n):
                key.write(words[i])
                out[i] = vocabulary_find(&self.words_, &key.word)
        finally:
            self.end_reading()
        return codes

    def words(self):
        """List all words, in the order of their codes."""
        cdef const int64_t* starts
        cdef const char* text
        cdef int64_t i
        cdef list words = []
        self.start_reading()
        try:
            starts, text = self.words_.starts, <const char*> self.words_.bytes
            for i in range(self.words_.count):
                word = text[starts[i]:starts[i + 1]] if starts[i] < starts[i + 1] else b""
                words.append(word.decode("utf-8", "surrogatepass"))
        finally:
            self.end_reading()
        return words

    def buffers(self):
        """Copy (data, offsets): the words' bytes one after another, word i from offsets[i] (int64)."""
        cdef int64_t n, size
        cdef uint8_t[::1] text
        cdef int64_t[::1] starts
        self.start_reading()
        try:
            n = self.words_.count
            size = self.words_.starts[n]
            data, offsets = np.empty(size, dtype=np.uint8), np.empty(n + 1, dtype=np.int64)
            text, starts = data, offsets
            memcpy(&starts[0], self.words_.starts, (n + 1) * sizeof(int64_t))
            if size:
                memcpy(&text[0], self.words_.bytes, size)
        finally:
            self.end_reading()
        return data, offsets

    def order(self):
        """Sort the codes (int32) by the words' UTF-8 bytes, an order which is that of their code points."""
        cdef int32_t[::1] out
        self.start_reading()
        try:
            codes = np.empty(len(self), dtype=np.int32)
            out = codes
            with nogil:
                check_memory(vocabulary_order(&self.words_, &out[0]))
        finally:
            self.end_reading()
        return codes

    def extend(self, Vocabulary other not None):
        """Add the words of another; return the code here of each of them (int32)."""
        cdef int32_t[::1] out
        if other is self:
            return np.arange(len(self), dtype=np.int32)
        other.start_reading()
        try:
            self.start_writing()
            try:
                codes = np.empty(len(other), dtype=np.int32)
                out = codes
                with nogil:
                    check_memory(vocabulary_extend(&self.words_, &other.words_, &out[0]))
            finally:
                self.end_writing()
        finally:
            other.end_reading()
        return codes

    def take(self, codes):
        """Make a vocabulary of the words with these codes, numbered in this order.

        ValueError for a code that is not here or is there twice.
        """
        cdef const int32_t[::1] chosen = np.ascontiguousarray(codes, dtype=np.int32)
        cdef int64_t n = chosen.shape[0], i, done = 0
        cdef Vocabulary taken = Vocabulary()
        self.start_reading()
        try:
            for i in range(n):
                if not 0 <= chosen[i] < self.words_.count:
                    raise ValueError(f"There is no word {chosen[i]} among {self.words_.count}.")
            with nogil:
                done = vocabulary_take(&taken.words_, &self.words_, &chosen[0], n)
        finally:
            self.end_reading()
        check_memory(done)
        if done < n:
            raise ValueError(f"Code {chosen[done]} is there twice.")
        return taken

    def copy(self):
        """Make an equal vocabulary of its own."""
        cdef Vocabulary copied = Vocabulary()
        self.start_reading()
        try:
            check_memory(vocabulary_copy(&copied.words_, &self.words_))
        finally:
            self.end_reading()
        return copied

    __copy__ = copy

    def __deepcopy__(self, memo):
        return self.copy()

    cdef int start_reading(self) except -1:
        if self.writing:
            raise RuntimeError("Another thread adds words to this vocabulary.")
        self.reading += 1
        return 0

    cdef void end_reading(self) noexcept:
        self.reading -= 1

    cdef int start_writing(self) except -1:
        if self.writing or self.reading:
            raise RuntimeError("Another thread uses this vocabulary: words cannot be added now.")
        self.writing = True
        return 0

    cdef void end_writing(self) noexcept:
        self.writing = False


cdef class Key:
    """One str after another as UTF-8, hashed."""

    cdef text_word word
    cdef uint8_t* text
    cdef Py_ssize_t room

    def __dealloc__(self):
        free(self.text)

    cdef int write(self, word) except -1:
        cdef const void* source
        cdef Py_ssize_t size
        if not isinstance(word, str):
            raise TypeError(f"A word is a str, not {word!r}.")
        if PyUnicode_IS_COMPACT_ASCII(word):
            source, size = PyUnicode_DATA(word), PyUnicode_GET_LENGTH(word)
        else:  # asking the str itself for UTF-8 would leave a copy in it
            encoded = PyUnicode_AsEncodedString(word, "utf-8", "surrogatepass")
            source, size = PyBytes_AS_STRING(encoded), PyBytes_GET_SIZE(encoded)
        if size > TEXT_LONGEST:
            raise ValueError(f"A word has at most {TEXT_LONGEST} bytes, not {size}.")
        if size + TEXT_PADDING > self.room:
            text = <uint8_t*> realloc(self.text, 2 * size + TEXT_PADDING)
            if text == NULL:
                raise MemoryError
            self.text, self.room = text, 2 * size + TEXT_PADDING
        memcpy(self.text, source, size)
        memset(self.text + size, 0, TEXT_PADDING)
        self.word = text_word_of(self.text, size)
        return 0


seed_words()
