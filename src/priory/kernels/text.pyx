"""Split texts into words, number the words, count them per class and score them.

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

from collections import namedtuple

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.unicode cimport PyUnicode_CheckExact
from libc.math cimport log1p
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy

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
        TEXT_PADDING

    ctypedef struct text_word:
        const uint8_t* bytes
        uint32_t size

    ctypedef struct vocabulary:
        int64_t count
        int64_t* starts
        uint8_t* bytes

    ctypedef struct document:
        int32_t* tf
        int32_t* seen
        int64_t n_seen

    ctypedef struct text_count:
        pass

    ctypedef struct count_list:
        text_count* counts
        int64_t count

    ctypedef struct text_pair:
        int32_t word
        int32_t label
        int64_t rows
        double weight
        double count
        double log_tf

    ctypedef struct pair_list:
        text_pair* pairs
        int64_t count
        int32_t* places
        int64_t class_start

    uint8_t text_byte[256]
    uint16_t text_page[]
    int32_t* text_entries
    double text_logs[256]

    void PRIORY_PREFETCH(const void*)
    int32_t text_entry(uint32_t)
    int32_t text_shift(int32_t)
    ptrdiff_t text_code_points(const uint8_t*, const uint8_t*, uint32_t*)
    text_word text_word_of(const uint8_t*, uint32_t)
    ptrdiff_t text_split(const uint8_t**, const uint8_t*, uint8_t*, text_word*, ptrdiff_t, int*)
    int vocabulary_start(vocabulary*)
    void vocabulary_end(vocabulary*)
    int vocabulary_copy(vocabulary*, const vocabulary*)
    int32_t vocabulary_find(const vocabulary*, const text_word*)
    int32_t vocabulary_add(vocabulary*, const text_word*)
    int document_add(document*, vocabulary*, const text_word*, ptrdiff_t)
    int document_find(document*, const vocabulary*, int64_t, const text_word*, ptrdiff_t)
    int document_write(document*, count_list*)
    int pairs_add(pair_list*, const text_count*, int64_t, int32_t, double, double*)
    int pairs_sort(pair_list*, int64_t, int32_t*)
    void score_block(
        const vocabulary*, int64_t, const text_word*, ptrdiff_t, int32_t*, const double*, ptrdiff_t, double*
    )
    void score_document(document*, int, const double*, ptrdiff_t, double*)

ctypedef fused offset:
    int32_t
    int64_t

cdef enum:
    BLOCK = 256  # words split before they are looked up: their bytes are still near

LONGEST = 2**31 - 1
"""A text has at most so many bytes, so that 32 bits number its words."""

WordCounts = namedtuple(
    "WordCounts",
    "word label rows weight count log_tf class_rows class_weight class_words",
    module=__name__,
)
WordCounts.__doc__ = """Sums over texts, per word and class that occur together, and per class.

    word, label   int32: the word's code and the class, in the order of both
    rows          int64: the texts of the class that have the word
    weight        Σ w of them
    count         Σ w·tf, with tf how often the text has the word
    log_tf        Σ w·log(1 + tf) / ‖log(1 + tf)‖₂ over the words of the text
    class_rows    int64: the texts of each class; class_weight: Σ w; class_words: Σ w·tf
"""


cdef class Vocabulary:
    """Words, numbered from 0 in order of first appearance.

    Many threads may read it; none may while another adds to it: that is a RuntimeError.
    """

    cdef vocabulary words_
    cdef Py_ssize_t reading
    cdef bint writing

    def __cinit__(self, words=()):
        if vocabulary_start(&self.words_) < 0:
            raise MemoryError

    def __init__(self, words=()):
        for word in words:
            self.add(word)

    def __dealloc__(self):
        vocabulary_end(&self.words_)

    def __len__(self):
        return self.words_.count

    def __reduce__(self):
        return Vocabulary, (self.words(),)

    def add(self, str word not None):
        """Return the code of a word, taken as it is; a new one if it is new."""
        cdef bytes text = _padded(word)
        cdef int32_t code
        self._start_writing()
        try:
            code = self._add(PyBytes_AS_STRING(text), PyBytes_GET_SIZE(text) - TEXT_PADDING)
        finally:
            self.writing = False
        return code

    def find(self, str word not None):
        """Return the code of a word, taken as it is, or −1."""
        cdef bytes text = _padded(word)
        cdef Py_ssize_t size = PyBytes_GET_SIZE(text) - TEXT_PADDING
        if size > LONGEST:
            return -1
        self._start_reading()
        cdef text_word key = text_word_of(<const uint8_t*> PyBytes_AS_STRING(text), size)
        cdef int32_t code = vocabulary_find(&self.words_, &key)
        self.reading -= 1
        return code

    def words(self):
        """Return all words, in the order of their codes."""
        cdef const int64_t* starts
        cdef const char* text
        cdef int64_t i
        cdef list words = []
        self._start_reading()
        try:
            starts, text = self.words_.starts, <const char*> self.words_.bytes
            for i in range(self.words_.count):
                word = text[starts[i]:starts[i + 1]] if starts[i] < starts[i + 1] else b""
                words.append(word.decode("utf-8", "surrogatepass"))
        finally:
            self.reading -= 1
        return words

    def extend(self, Vocabulary other not None):
        """Add the words of another; return the code here of each of them (int32)."""
        if other is self:
            return np.arange(len(self), dtype=np.int32)
        other._start_reading()
        try:
            self._start_writing()
            try:
                codes = np.empty(len(other), dtype=np.int32)
                self._extend(&other.words_, codes)
            finally:
                self.writing = False
        finally:
            other.reading -= 1
        return codes

    def copy(self):
        """Return an equal vocabulary of its own."""
        cdef Vocabulary copied = Vocabulary()
        self._start_reading()
        try:
            if vocabulary_copy(&copied.words_, &self.words_) < 0:
                raise MemoryError
        finally:
            self.reading -= 1
        return copied

    __copy__ = copy

    def __deepcopy__(self, memo):
        return self.copy()

    cdef int _extend(self, const vocabulary* other, int32_t[::1] codes) except -1:
        cdef int64_t i
        for i in range(other.count):
            codes[i] = self._add(<const char*> other.bytes + other.starts[i], other.starts[i + 1] - other.starts[i])
        return 0

    cdef int32_t _add(self, const char* text, Py_ssize_t size) except -1:
        if size > LONGEST:
            raise ValueError(f"A word has at most {LONGEST} bytes, not {size}.")
        cdef text_word key = text_word_of(<const uint8_t*> text, size)
        cdef int32_t code = vocabulary_add(&self.words_, &key)
        if code < 0:
            raise MemoryError
        return code

    cdef int _start_reading(self) except -1:
        if self.writing:
            raise RuntimeError("Another thread adds words to this vocabulary.")
        self.reading += 1
        return 0

    cdef int _start_writing(self) except -1:
        if self.writing or self.reading:
            raise RuntimeError("Another thread uses this vocabulary: words cannot be added now.")
        self.writing = True
        return 0


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
    if PyBytes_GET_SIZE(data) > LONGEST:
        raise ValueError(f"A text has at most {LONGEST} bytes, not {len(data)}.")
    cdef Reader reader = Reader(PyBytes_GET_SIZE(data))
    cdef Py_ssize_t n, i
    cdef list words = []
    reader.open(<const uint8_t*> PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))
    while True:
        n = reader.next_words()
        if n == 0:
            return words
        for i in range(n):
            words.append((<const char*> reader.words[i].bytes)[:reader.words[i].size].decode("utf-8"))


def count_words(
    const uint8_t[::1] data,
    const offset[::1] offsets,
    missing,
    y,
    weight,
    Vocabulary vocabulary not None,
    Py_ssize_t n_classes=0,
):
    """Return the WordCounts of texts with classes y; words not yet in the vocabulary join it.

    A text that is missing, or whose class is negative, counts for nothing. The arrays per class
    are as long as the largest class asks, and at least `n_classes`.
    """
    cdef Py_ssize_t n = max(offsets.shape[0] - 1, 0), i, j, m
    cdef const uint8_t[::1] gone = _flags(missing, n)
    y = np.ascontiguousarray(y, dtype=np.int32)
    cdef const int32_t[::1] classes = y
    cdef int32_t label = -1
    cdef const double[::1] weights
    cdef bint weighted = weight is not None, some_missing = missing is not None
    if weighted:
        weights = np.ascontiguousarray(weight, dtype=np.float64)
    if classes.shape[0] != n or (weighted and weights.shape[0] != n):
        raise ValueError(f"There are {n} texts: y, and weight if given, must be as long.")
    cdef Reader reader = Reader(_longest(offsets, data.shape[0]))
    for i in range(n):
        n_classes = max(n_classes, <Py_ssize_t> classes[i] + 1)
    class_rows, class_weight, class_words = np.zeros(n_classes, np.int64), np.zeros(n_classes), np.zeros(n_classes)
    cdef int64_t[::1] rows_of = class_rows, starts = np.empty(n + 1, dtype=np.int64)
    cdef double[::1] weight_of = class_weight, words_of = class_words
    vocabulary._start_writing()
    try:
        with nogil:
            for i in range(n):
                starts[i] = reader.counts.count
                if classes[i] < 0 or (some_missing and gone[i]):
                    continue
                reader.open(&data[0] + offsets[i], offsets[i + 1] - offsets[i])
                while True:
                    m = reader.next_words()
                    if m == 0:
                        break
                    if document_add(&reader.counted, &vocabulary.words_, reader.words, m) < 0:
                        _no_memory()
                if document_write(&reader.counted, &reader.counts) < 0:
                    _no_memory()
                rows_of[classes[i]] += 1
                weight_of[classes[i]] += weights[i] if weighted else 1.0
            starts[n] = reader.counts.count
    finally:
        vocabulary.writing = False
    cdef int64_t[::1] order = np.argsort(y, kind="stable")
    reader.pairs.places = <int32_t*> calloc(len(vocabulary) + 1, sizeof(int32_t))
    if reader.pairs.places == NULL:
        raise MemoryError
    with nogil:
        for j in range(n):
            i = order[j]
            if starts[i] == starts[i + 1]:
                continue
            if classes[i] != label:
                label, reader.pairs.class_start = classes[i], reader.pairs.count
            if pairs_add(
                &reader.pairs, reader.counts.counts + starts[i], starts[i + 1] - starts[i], label,
                weights[i] if weighted else 1.0, &words_of[label],
            ) < 0:
                _no_memory()
    return WordCounts(*_sorted_pairs(reader, len(vocabulary)), class_rows, class_weight, class_words)


def score_words(
    const uint8_t[::1] data,
    const offset[::1] offsets,
    missing,
    Vocabulary vocabulary not None,
    const double[:, ::1] weights,
    double[:, ::1] out,
    bint binary=False,
    bint log_tf=False,
):
    """Add Σ tf·weights[word] over the words of text i to out[i].

    Words not in the vocabulary, or beyond the rows of the weights, are dropped. Instead of tf,
    `binary` takes 1, and `log_tf` takes log(1 + tf) / ‖log(1 + tf)‖₂ over the words not dropped.
    """
    cdef Py_ssize_t n = max(offsets.shape[0] - 1, 0), K = weights.shape[1], i, m
    cdef const uint8_t[::1] gone = _flags(missing, n)
    cdef bint counting = binary or log_tf, some_missing = missing is not None
    cdef int64_t known = min(weights.shape[0], len(vocabulary))
    cdef int32_t codes[BLOCK]
    if binary and log_tf:
        raise ValueError("binary and log_tf exclude each other.")
    if out.shape[0] != n or out.shape[1] != K:
        raise ValueError(f"out must be {(n, K)}, not {(out.shape[0], out.shape[1])}.")
    cdef Reader reader = Reader(_longest(offsets, data.shape[0]))
    if n == 0 or K == 0 or known == 0:
        return
    vocabulary._start_reading()
    try:
        with nogil:
            for i in range(n):
                if some_missing and gone[i]:
                    continue
                reader.open(&data[0] + offsets[i], offsets[i + 1] - offsets[i])
                while True:
                    m = reader.next_words()
                    if m == 0:
                        break
                    if not counting:
                        score_block(&vocabulary.words_, known, reader.words, m, codes, &weights[0, 0], K, &out[i, 0])
                    elif document_find(&reader.counted, &vocabulary.words_, known, reader.words, m) < 0:
                        _no_memory()
                if counting:
                    score_document(&reader.counted, log_tf, &weights[0, 0], K, &out[i, 0])
    finally:
        vocabulary.reading -= 1


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
    """Give the words of one text after another, a block at a time, and keep what is counted."""

    cdef text_word* words  # the block
    cdef text_word* block
    cdef uint8_t* low  # its bytes, in lower case
    cdef const uint8_t* start
    cdef const uint8_t* at
    cdef const uint8_t* end
    cdef int64_t given, skip  # words given of this text; words to leave out, having been given
    cdef bint exact  # the text is str.lower()'s
    cdef bytes lowered
    cdef document counted
    cdef count_list counts
    cdef pair_list pairs

    def __cinit__(self, Py_ssize_t longest):
        self.block = <text_word*> malloc(BLOCK * sizeof(text_word))
        self.low = <uint8_t*> malloc(2 * longest + TEXT_PADDING)  # pages that no word reaches stay untouched
        if self.block == NULL or self.low == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.block)
        free(self.low)
        free(self.counted.tf)
        free(self.counted.seen)
        free(self.counts.counts)
        free(self.pairs.pairs)
        free(self.pairs.places)

    cdef void open(self, const uint8_t* text, Py_ssize_t size) noexcept nogil:
        self.start = self.at = text
        self.end = text + size
        self.given = self.skip = 0
        self.exact = False

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
        self.open(<const uint8_t*> PyBytes_AS_STRING(self.lowered), PyBytes_GET_SIZE(self.lowered))
        self.exact = True
        return 0


cdef bytes _padded(str word):
    return word.encode("utf-8", "surrogatepass") + b"\0" * TEXT_PADDING


cdef int _no_memory() except -1 nogil:
    with gil:
        raise MemoryError


cdef const uint8_t[::1] _flags(missing, Py_ssize_t n):
    if missing is None:
        return np.zeros(1, dtype=np.uint8)
    flags = np.ascontiguousarray(missing).view(np.uint8)
    if flags.shape != (n,):
        raise ValueError(f"There are {n} texts: missing must be as long.")
    return flags


cdef Py_ssize_t _longest(const offset[::1] offsets, Py_ssize_t size) except -1:
    """Return the size of the longest text; ValueError for texts that are not inside the data."""
    cdef Py_ssize_t longest = 0, i
    for i in range(offsets.shape[0] - 1):
        if offsets[i] < 0 or offsets[i + 1] < offsets[i] or offsets[i + 1] > size:
            raise ValueError(f"Text {i} is not inside the data of {size} bytes.")
        longest = max(longest, offsets[i + 1] - offsets[i])
    if longest > LONGEST:
        raise ValueError(f"A text has at most {LONGEST} bytes, not {longest}.")
    return longest


cdef tuple _sorted_pairs(Reader reader, int64_t n_words):
    """Return the pairs as arrays, in the order of word and class."""
    cdef int64_t n = reader.pairs.count, i
    cdef int32_t[::1] order = np.empty(n, dtype=np.int32)
    word, label = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
    rows = np.empty(n, dtype=np.int64)
    weight, count, log_tf = np.empty(n), np.empty(n), np.empty(n)
    cdef int32_t[::1] word_ = word, label_ = label
    cdef int64_t[::1] rows_ = rows
    cdef double[::1] weight_ = weight, count_ = count, log_tf_ = log_tf
    cdef const text_pair* pair
    with nogil:
        if pairs_sort(&reader.pairs, n_words, &order[0]) < 0:
            _no_memory()
        for i in range(n):
            PRIORY_PREFETCH(&reader.pairs.pairs[order[min(i + 16, n - 1)]])
            pair = &reader.pairs.pairs[order[i]]
            word_[i], label_[i], rows_[i] = pair.word, pair.label, pair.rows
            weight_[i], count_[i], log_tf_[i] = pair.weight, pair.count, pair.log_tf
    return word, label, rows, weight, count, log_tf


cdef void _fill_bytes():
    cdef int c
    for c in range(256):
        if c >= 0x80:
            text_byte[c] = 128 if 0xC2 <= c <= 0xF4 else 0
        elif Py_UNICODE_ISALNUM(c) or c == 95:  # the underscore
            text_byte[c] = Py_UNICODE_TOLOWER(c)
        else:
            text_byte[c] = 0
        text_logs[c] = log1p(c)


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
