"""Split texts into words.

Words are those of scikit-learn's CountVectorizer: the matches of (?u)\\b\\w\\w+\\b in text.lower().

Texts come as Arrow keeps them: `data` (uint8) holds their UTF-8 bytes one after another, text i
from offsets[i] to offsets[i + 1] (int32 or int64), and missing[i] says that there is none. The
buffers of an Arrow string array a, sliced or not, are passed as they are:

    _, offsets, data = a.buffers()    # large_string: int64; data is None where there are no bytes
    offsets = numpy.frombuffer(offsets, numpy.int32)[a.offset : a.offset + len(a) + 1]
    data = numpy.frombuffer(data or b"", numpy.uint8)
    missing = a.is_null().to_numpy(zero_copy_only=False) if a.null_count else None

encode_texts makes the three of Python strings. Bytes that are no UTF-8 part words like a space.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.unicode cimport PyUnicode_CheckExact
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from priory.kernels.vocabulary cimport TEXT_LONGEST, TEXT_PADDING, text_word

import numpy as np

cdef extern from "Python.h":
    object PyUnicode_FromKindAndData(int, const void*, Py_ssize_t)
    object PyUnicode_FromObject(object)  # the plain str of a subclass
    bint PyUnicode_IS_COMPACT_ASCII(object)
    Py_ssize_t PyUnicode_GET_LENGTH(object)
    const void* PyUnicode_DATA(object)
    bint Py_UNICODE_ISALNUM(Py_UCS4) nogil
    Py_UCS4 Py_UNICODE_TOLOWER(Py_UCS4) nogil
    int PyUnicode_4BYTE_KIND

cdef extern from "text.h" nogil:
    enum:
        TEXT_PAGES
        TEXT_WORD
        TEXT_SPECIAL

    uint8_t text_byte[256]
    uint16_t text_page[]
    int32_t* text_entries

    int32_t text_entry(uint32_t)
    int32_t text_shift(int32_t)
    ptrdiff_t text_code_points(const uint8_t*, const uint8_t*, uint32_t*)
    ptrdiff_t text_split(const uint8_t**, const uint8_t*, uint8_t*, text_word*, ptrdiff_t, int*)

cdef enum:
    BLOCK = 256  # words split before they are looked up: their bytes are still near


def encode_texts(texts):
    """Return (data, offsets, missing) of str; None, NaN and NA are missing.

    TypeError(position) for anything else.
    """
    cdef list values = texts.tolist() if isinstance(texts, np.ndarray) else list(texts)
    cdef Py_ssize_t n = len(values), i, total = 0
    offsets, missing = np.empty(n + 1, dtype=np.int64), np.zeros(n, dtype=np.bool_)
    cdef int64_t[::1] ends = offsets
    cdef uint8_t[::1] gone = missing.view(np.uint8)
    for i in range(n):
        ends[i] = total
        value = values[i]
        if not PyUnicode_CheckExact(value):
            if isinstance(value, str):
                value = PyUnicode_FromObject(value)
            elif value is None or type(value).__name__ == "NAType" or isinstance(value, (float, np.floating)) and value != value:
                gone[i] = True
                continue
            else:
                raise TypeError(i)
        if PyUnicode_IS_COMPACT_ASCII(value):
            total += PyUnicode_GET_LENGTH(value)
        else:  # asking the str itself for UTF-8 would leave a copy in it
            value = value.encode("utf-8", "surrogatepass")
            total += PyBytes_GET_SIZE(value)
        values[i] = value
    ends[n] = total
    data = np.empty(total, dtype=np.uint8)
    cdef uint8_t[::1] out = data
    for i in range(n):
        if ends[i + 1] == ends[i]:
            continue
        value = values[i]
        if isinstance(value, bytes):
            memcpy(&out[ends[i]], PyBytes_AS_STRING(value), ends[i + 1] - ends[i])
        else:
            memcpy(&out[ends[i]], PyUnicode_DATA(value), ends[i + 1] - ends[i])
    return data, offsets, missing


def split_words(text):
    """Return the words of a str, or of UTF-8 bytes, in their order."""
    cdef bytes data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    cdef Reader reader = Reader(np.frombuffer(data, np.uint8), np.array([0, len(data)]), None)
    cdef Py_ssize_t n, i
    cdef list words = []
    reader.open(0)
    while True:
        n = reader.next_words()
        if n == 0:
            return words
        for i in range(n):
            words.append((<const char*> reader.words[i].bytes)[:reader.words[i].size].decode("utf-8", "surrogatepass"))


def character_tables():
    """Return (is a word character, lower case, is special) of every code point, for the tests."""
    word, lower = np.empty(0x110000, dtype=np.bool_), np.empty(0x110000, dtype=np.int32)
    special = np.empty(0x110000, dtype=np.bool_)
    cdef uint8_t[::1] is_word = word.view(np.uint8), is_special = special.view(np.uint8)
    cdef int32_t[::1] lowered = lower
    cdef int32_t entry
    cdef uint32_t c
    for c in range(0x110000):
        entry = text_entry(c)
        is_word[c] = entry & TEXT_WORD
        is_special[c] = (entry & TEXT_SPECIAL) != 0
        lowered[c] = <int32_t> c + text_shift(entry)
    return word, lower, special


cdef class Reader:
    # text.pxd says what it keeps.

    def __cinit__(self, data, offsets, missing):
        self.data = np.ascontiguousarray(data, dtype=np.uint8)
        self.offsets = np.asarray(offsets).astype(np.int64, order="C", casting="safe", copy=False)
        self.n = max(self.offsets.shape[0] - 1, 0)
        self.some_missing = missing is not None
        if self.some_missing:
            missing = np.ascontiguousarray(missing).view(np.uint8)
            if missing.shape != (self.n,):
                raise ValueError(f"There are {self.n} texts: missing must be as long.")
            self.missing = missing
        self.most = BLOCK
        self.block = <text_word*> malloc(BLOCK * sizeof(text_word))
        # Two bytes may become three in lower case; pages that no word reaches stay untouched.
        self.low = <uint8_t*> malloc(2 * self._longest() + TEXT_PADDING)
        if self.block == NULL or self.low == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.block)
        free(self.low)

    cdef Py_ssize_t _longest(self) except -1:
        """Return the size of the longest text; ValueError for texts that are not inside the data."""
        cdef const int64_t[::1] offsets = self.offsets
        cdef int64_t longest = 0, size = self.data.shape[0], i
        for i in range(self.n):
            if offsets[i] < 0 or offsets[i + 1] < offsets[i] or offsets[i + 1] > size:
                raise ValueError(f"Text {i} is not inside the data of {size} bytes.")
            longest = max(longest, offsets[i + 1] - offsets[i])
        if longest > TEXT_LONGEST:
            raise ValueError(f"A text has at most {TEXT_LONGEST} bytes, not {longest}.")
        return longest

    cdef bint open(self, Py_ssize_t i) noexcept nogil:
        """Go to text i; return whether it is there."""
        if self.some_missing and self.missing[i]:
            return False
        self.start = self.at = &self.data[0] + self.offsets[i]
        self.end = &self.data[0] + self.offsets[i + 1]
        self.given = self.skip = 0
        self.exact = False
        return True

    cdef Py_ssize_t next_words(self) except -1 nogil:
        """Return how many words are in self.words: 0 at the end of the text."""
        cdef Py_ssize_t n
        cdef int64_t skip
        cdef int special
        while True:
            special = 0
            n = text_split(&self.at, self.end, self.low, self.block, BLOCK, NULL if self.exact else &special)
            self.words = self.block
            if special:
                # What comes before is as it would be; the rest is read from what str.lower() gives.
                skip = self.given + n
                with gil:
                    self._lower()
                self.skip = skip
                if n:
                    return n
                continue
            if n == 0:
                return 0
            if self.skip >= n:
                self.skip -= n
                continue
            self.words = self.block + self.skip
            n -= self.skip
            self.skip = 0
            self.given += n
            return n

    cdef int _lower(self) except -1:
        cdef uint32_t* text = <uint32_t*> malloc((self.end - self.start + 1) * sizeof(uint32_t))
        if text == NULL:
            raise MemoryError
        try:
            size = text_code_points(self.start, self.end, text)
            lowered = PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, text, size).lower()
        finally:
            free(text)
        self.lowered = lowered.encode("utf-8", "surrogatepass")
        self.start = self.at = <const uint8_t*> PyBytes_AS_STRING(self.lowered)
        self.end = self.start + PyBytes_GET_SIZE(self.lowered)
        self.given, self.exact = 0, True
        return 0


cdef void _fill_bytes():
    cdef int c
    for c in range(256):
        if c >= 0x80:
            text_byte[c] = 128 if 0xC2 <= c <= 0xF4 else 0
        elif Py_UNICODE_ISALNUM(c) or c == 95:  # the underscore
            text_byte[c] = Py_UNICODE_TOLOWER(c)
        else:
            text_byte[c] = 0


cdef int _fill_pages() except -1:
    """Ask Python about every code point; pages that are equal are kept once."""
    global text_entries
    cdef int32_t entries[256]
    cdef int page, i
    cdef uint32_t c, lower
    cdef dict places = {}
    cdef bytes key, all_entries
    for page in range(TEXT_PAGES):
        for i in range(256):
            c = page * 256 + i
            lower = Py_UNICODE_TOLOWER(c)
            entries[i] = 4 * (<int32_t> lower - <int32_t> c)
            if Py_UNICODE_ISALNUM(lower) or lower == 95:
                entries[i] |= TEXT_WORD
            # Σ is ς at a word's end; İ is two code points.
            if lower != c and (c == 0x3A3 or len(chr(c).lower()) != 1):
                entries[i] |= TEXT_SPECIAL
        key = (<const char*> entries)[:sizeof(entries)]
        text_page[page] = places.setdefault(key, len(places))
    all_entries = b"".join(places)
    text_entries = <int32_t*> malloc(PyBytes_GET_SIZE(all_entries))
    if text_entries == NULL:
        raise MemoryError
    memcpy(text_entries, PyBytes_AS_STRING(all_entries), PyBytes_GET_SIZE(all_entries))
    return 0


_fill_bytes()
_fill_pages()
