"""Split texts into words, or into the n-grams of their words or characters.

Words are parted where Unicode says (UAX 29), and by all punctuation; scripts without spaces give characters and pairs.
Those of scikit-learn's CountVectorizer are the matches of (?u)\\b\\w\\w+\\b in text.lower().

Texts come as UTF-8, as utf8.pyx says.
Bytes that are no UTF-8 part words like a space.
"""

from array import array
from operator import index

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy

from priory.kernels.utf8 cimport Borrowed
from priory.kernels.vocabulary cimport TEXT_LONGEST, TEXT_PADDING, Vocabulary, check_memory, seed_words, text_word, vocabulary

from priory.base.lazy import Lazy

np = Lazy("numpy")  # one message is judged before it is loaded

cdef extern from "Python.h":
    object PyUnicode_FromKindAndData(int, const void*, Py_ssize_t)
    bint Py_UNICODE_ISALNUM(Py_UCS4) nogil
    bint Py_UNICODE_ISSPACE(Py_UCS4) nogil
    Py_UCS4 Py_UNICODE_TOLOWER(Py_UCS4) nogil
    int PyUnicode_4BYTE_KIND
    const char* PyUnicode_AsUTF8AndSize(object, Py_ssize_t*) except NULL

cdef extern from "ngrams.h" nogil:
    void prefetch "PRIORY_PREFETCH"(const void*)

    enum:
        TEXT_PAGES
        TEXT_WORD
        TEXT_SPECIAL
        TEXT_CASED
        TEXT_SPACE
        TEXT_KIND
        TEXT_FLAGS
        TEXT_SHORT
        TEXT_BLOCK
        KIND_WORD

    ctypedef struct word_list:
        text_word* words
        uint8_t* glued
        ptrdiff_t n, room
        int again

    ctypedef struct word_row:
        int64_t count
        int dropped

    ctypedef struct character_row:
        const uint8_t* first
        const uint8_t* at
        const uint8_t* end

    uint8_t text_byte[256]
    uint16_t text_page[]
    int32_t* text_entries
    uint32_t text_short[0x800]
    const uint32_t TEXT_ODD
    const uint32_t word_kinds[]
    const char* WORD_UNICODE

    int32_t text_entry(uint32_t)
    int32_t text_shift(int32_t)
    ptrdiff_t text_code_points(const uint8_t*, const uint8_t*, uint32_t*)
    void text_split(const uint8_t**, const uint8_t*, int, int, int, uint8_t*, word_list*, int*)
    ptrdiff_t text_split_given(const uint8_t**, const uint8_t*, uint8_t*, text_word*, ptrdiff_t)
    ptrdiff_t drop_words(const vocabulary*, text_word*, uint8_t*, ptrdiff_t, int*)
    void word_row_free(word_row*)
    ptrdiff_t word_ngrams(
        word_row*, const text_word*, const uint8_t*, ptrdiff_t, int64_t, int64_t, const vocabulary*, text_word*
    )
    ptrdiff_t text_characters(const uint8_t*, const uint8_t*, int, int, uint8_t*, int*)
    ptrdiff_t character_ngrams(character_row*, int, int64_t, int64_t, text_word*, ptrdiff_t)

cdef enum:
    WORD
    SKLEARN
    CHAR
    CHAR_WB
    GIVEN

UNITS = {"word": WORD, "sklearn": SKLEARN, "char": CHAR, "char_wb": CHAR_WB, "given": GIVEN}
WORDY = ("word", "sklearn", "given")
UNICODE = WORD_UNICODE.decode()
"""The version of Unicode whose words they are."""

cdef class Splitter:
    """How a text is split: into its words, or n-grams of them, or of its characters.

    unit        "word"     letters and digits that Unicode's word boundaries join, with their marks; format
                           characters are left out of them. What Unicode joins by punctuation is parted. Of scripts
                           without spaces every character with its marks, and every two side by side
                "sklearn"  runs of two or more word characters: \\b\\w\\w+\\b
                "char"     n-grams of characters; white space longer than one is one space
                "char_wb"  the same, inside what is between white space, with a space on either side
                "given"    what is between bytes 0xFF (or others that are no UTF-8), as it is
    lowercase   whether words and characters are those of text.lower()
    ngrams      (low, high): n-grams of low to high characters, or of words, joined by a space, but not where
                characters of scripts without spaces are side by side
    stop_words  words to leave out before n-grams are made, as they are after lower-casing
    symbols     whether symbols and punctuation are words too, of the unit "word": each run of the same one, which
                is cut to three

    But for "word" they are those of scikit-learn's CountVectorizer with the same options; in the order of their
    ends, shorter ones first. It never changes, and threads may share it.
    """

    def __init__(self, unit="word", lowercase=True, ngrams=(1, 1), stop_words=None, symbols=False):
        if unit not in UNITS:
            raise ValueError(f"unit must be one of {', '.join(map(repr, UNITS))}, not {unit!r}.")
        low, high = map(index, ngrams)
        if not 1 <= low <= high < BLOCK:
            raise ValueError(f"ngrams must be (low, high) with 1 ≤ low ≤ high < {BLOCK}, not {ngrams!r}.")
        if stop_words is not None and unit not in WORDY:
            raise ValueError(f"stop_words are for words, and the unit is {unit!r}.")
        if isinstance(stop_words, str):
            raise TypeError(f"stop_words must be words, not one str: {stop_words!r}.")
        if symbols and unit != "word":
            raise ValueError(f"symbols are for the unit 'word', and the unit is {unit!r}.")
        self.unit, self.kind, self.lowercase, self.symbols = unit, UNITS[unit], lowercase, symbols
        self.low, self.high = low, high
        if isinstance(stop_words, Vocabulary):
            self.stops = stop_words.copy()
        elif stop_words is not None:
            self.stops = Vocabulary(stop_words)

    @property
    def ngrams(self):
        """(low, high)"""
        return self.low, self.high

    @property
    def stop_words(self):
        """The words left out, or None."""
        return None if self.stops is None else tuple(self.stops.words())

    def __reduce__(self):
        return Splitter, (self.unit, self.lowercase, self.ngrams, self.stops, self.symbols)

    def split(self, text):
        """Split a str, or UTF-8 bytes."""
        cdef bytes data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
        cdef Reader reader = Reader(data, array("q", [0, len(data)]), None, self)
        cdef Py_ssize_t n, i
        cdef list words = []
        reader.open(0)
        while (n := reader.next_words()):
            for i in range(n):
                words.append(
                    PyUnicode_DecodeUTF8(<const char*> reader.words[i].bytes, reader.words[i].size, "surrogatepass")
                )
        return words

    def split_lines(self, str text not None, bytes prefix not None):
        """Split a str into one with a word a line, and a prefix before each; of ASCII without making each."""
        if self.high > 1 or self.stops is not None or self.kind not in (WORD, SKLEARN) or not text.isascii():
            before = prefix.decode("ascii")
            return "\n".join([before + word for word in self.split(text)])
        _prepare()
        cdef const char* tag = PyBytes_AS_STRING(prefix)
        cdef Py_ssize_t size = 0, tag_size = PyBytes_GET_SIZE(prefix), i
        cdef const uint8_t* at = <const uint8_t*> PyUnicode_AsUTF8AndSize(text, &size)
        cdef const uint8_t* end = at + size
        cdef text_word block[BLOCK]
        cdef word_list found
        # Words lie in the first part as in the text; in the second each has the prefix and a byte more.
        cdef Py_ssize_t room = 3 * size + TEXT_BLOCK + 2 * TEXT_PADDING
        cdef uint8_t* low = <uint8_t*> malloc(room + (2 + tag_size) * size + 1)
        cdef uint8_t* out = low + room
        if low == NULL:
            raise MemoryError
        found.words, found.glued, found.room, found.again = block, NULL, BLOCK, False
        try:
            while True:
                found.n = 0
                text_split(&at, end, self.lowercase, self.kind == SKLEARN, self.symbols, low, &found, NULL)
                if found.n == 0:
                    return PyUnicode_DecodeUTF8(<char*> low + room, max(out - low - room - 1, 0), NULL)
                for i in range(found.n):
                    memcpy(out, tag, tag_size)
                    memcpy(out + tag_size, block[i].bytes, block[i].size)
                    out += tag_size + block[i].size
                    out[0] = 10
                    out += 1
        finally:
            free(low)


seed_words()
cdef Splitter WORDS = Splitter()


def character_tables():
    """List what is known of every code point, for the tests.

    Its lower case; whether that is a word character; whether the lower case is special; whether
    the code point itself is a word character; whether it is white space; and its kind, by word_kinds.h.
    """
    _prepare()
    lower, flags = np.empty(0x110000, dtype=np.int32), np.empty(0x110000, dtype=np.int32)
    cdef int32_t[::1] lowered = lower, flags_ = flags
    cdef int32_t entry
    cdef uint32_t c
    for c in range(0x110000):
        entry = text_entry(c)
        flags_[c] = entry & TEXT_FLAGS
        lowered[c] = <int32_t> c + text_shift(entry)
    known = (flags & flag != 0 for flag in (TEXT_WORD, TEXT_SPECIAL, TEXT_CASED, TEXT_SPACE))
    return lower, *known, flags >> TEXT_KIND


def character_stretches():
    """List 8·(first code point) + kind of each stretch of characters of one kind, by word_kinds.h."""
    cdef list found = []
    cdef Py_ssize_t i = 0
    while word_kinds[i] >> 3 < 0x110000:
        found.append(word_kinds[i])
        i += 1
    return found


cdef class Reader:
    # text.pxd says what it keeps.

    def __cinit__(self, data, offsets, missing, Splitter splitter):
        _prepare()
        self.splitter = WORDS if splitter is None else splitter
        if isinstance(data, Borrowed):
            self.borrowed = data
            self.n = len(data)
        elif isinstance(data, bytes) and isinstance(offsets, array):
            self.data, self.offsets, self.n = data, offsets, len(offsets) - 1
        else:
            self.data = np.ascontiguousarray(data, dtype=np.uint8)
            self.offsets = np.asarray(offsets).astype(np.int64, order="C", casting="safe", copy=False)
            self.n = max(self.offsets.shape[0] - 1, 0)
        self.some_missing = missing is not None
        if self.some_missing:
            missing = np.ascontiguousarray(missing).view(np.uint8)
            if missing.shape != (self.n,):
                raise ValueError(f"There are {self.n} texts: missing must be as long.")
            self.missing = missing
        splitter = self.splitter
        self.plain = splitter.high == 1 and splitter.stops is None
        self.room = BLOCK if self.plain else max(1, BLOCK // (max(splitter.high, 2) - splitter.low + 1))
        self.glued = <uint8_t*> calloc(BLOCK, 1)
        self.block = <text_word*> malloc(BLOCK * sizeof(text_word))
        self.ngrams = <text_word*> malloc(BLOCK * sizeof(text_word))
        self.joined = calloc(1, sizeof(word_row))
        self.characters = calloc(1, sizeof(character_row))
        # Words lie there as in the text, and once more those that are not ASCII, where two bytes may become
        # three; pages that nothing reaches stay untouched.
        self.low = <uint8_t*> malloc(3 * self._longest() + TEXT_BLOCK + 2 * TEXT_PADDING)
        if (
            self.block == NULL or self.ngrams == NULL or self.low == NULL or self.glued == NULL
            or self.joined == NULL or self.characters == NULL
        ):
            raise MemoryError

    def __dealloc__(self):
        if self.joined != NULL:
            word_row_free(<word_row*> self.joined)
        free(self.joined)
        free(self.characters)
        free(self.glued)
        free(self.block)
        free(self.ngrams)
        free(self.low)

    cdef Py_ssize_t _longest(self) except -1:
        """Find the size of the longest text; ValueError for texts that are not inside the data."""
        cdef const int64_t[::1] offsets = self.offsets
        cdef int64_t longest = 0, size = 0, i
        if self.borrowed is not None:
            longest = np.max(self.borrowed.sizes, initial=0)
        else:
            size = self.data.shape[0]
        for i in range(self.n if self.borrowed is None else 0):
            if offsets[i] < 0 or offsets[i + 1] < offsets[i] or offsets[i + 1] > size:
                raise ValueError(f"Text {i} is not inside the data of {size} bytes.")
            longest = max(longest, offsets[i + 1] - offsets[i])
        if longest > TEXT_LONGEST:
            raise ValueError(f"A text has at most {TEXT_LONGEST} bytes, not {longest}.")
        return longest

    cdef void prefetch(self, Py_ssize_t i) noexcept nogil:
        """Bring the beginning of text i near."""
        cdef const uint8_t* start
        if self.borrowed is not None:
            start = <const uint8_t*> self.borrowed.addresses[i]
        else:
            start = &self.data[0] + self.offsets[i]
        prefetch(start)
        prefetch(start + 64)
        prefetch(start + 128)

    cdef bint open(self, Py_ssize_t i) noexcept nogil:
        """Go to text i; return whether it is there."""
        if self.some_missing and self.missing[i]:
            return False
        if self.borrowed is not None:
            self.start = <const uint8_t*> self.borrowed.addresses[i]
            self.end = self.start + self.borrowed.sizes[i]
        else:
            self.start = &self.data[0] + self.offsets[i]
            self.end = &self.data[0] + self.offsets[i + 1]
        self.at = self.start
        self.given = self.skip = 0
        self.exact, self.fresh, self.again = False, True, False
        return True

    cdef Py_ssize_t next_words(self) except -1 nogil:
        """Write the next words to self.words, at most BLOCK; return how many, 0 at the end of the text."""
        cdef Py_ssize_t n
        cdef word_row* row = <word_row*> self.joined
        cdef const vocabulary* stops = NULL
        if self.splitter.kind == CHAR or self.splitter.kind == CHAR_WB:
            return self._next_characters()
        if self.plain:
            return self._next_words()
        if self.fresh:
            row.count = row.dropped = 0
            self.fresh = False
        if self.splitter.stops is not None:
            stops = &self.splitter.stops.words_
        while (n := self._next_words()):
            if stops != NULL:
                n = drop_words(stops, self.words, self.marks, n, &row.dropped)
            if self.splitter.high > 1 or self.splitter.kind == WORD:
                n = word_ngrams(
                    row, self.words, self.marks, n, self.splitter.low, self.splitter.high, stops, self.ngrams
                )
                check_memory(n)
                self.words = self.ngrams
            if n > 0:
                return n
        return 0

    cdef Py_ssize_t _next_words(self) except -1 nogil:
        cdef Py_ssize_t n
        cdef int64_t skip
        cdef int special
        cdef word_list found
        self.words, self.marks = self.block, self.glued
        if self.splitter.kind == GIVEN:
            return text_split_given(&self.at, self.end, self.low, self.block, self.room)
        while True:
            special = 0
            found.words, found.glued, found.n, found.room = self.block, self.glued, 0, self.room
            found.again = self.again
            if self.plain:
                found.glued = NULL
            text_split(
                &self.at, self.end, self.splitter.lowercase, self.splitter.kind == SKLEARN, self.splitter.symbols,
                self.low, &found,
                NULL if self.exact else &special,
            )
            n, self.again = found.n, found.again
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
            self.words, self.marks = self.block + self.skip, self.glued + self.skip
            n -= self.skip
            self.skip = 0
            self.given += n
            return n

    cdef Py_ssize_t _next_characters(self) except -1 nogil:
        cdef character_row* row = <character_row*> self.characters
        cdef bint bounded = self.splitter.kind == CHAR_WB
        cdef int special = 0
        cdef Py_ssize_t size
        if self.fresh:
            size = text_characters(self.start, self.end, self.splitter.lowercase, bounded, self.low, &special)
            if special:
                with gil:
                    self._lower()
                size = text_characters(self.start, self.end, False, bounded, self.low, &special)
            row.first = row.at = self.low
            row.end = self.low + size
            self.fresh = False
        self.words = self.block
        return character_ngrams(row, bounded, self.splitter.low, self.splitter.high, self.block, BLOCK)

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
        self.given, self.exact, self.again = 0, True, False
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
    cdef int page, i, stretch = 0
    cdef uint32_t c, lower
    cdef dict places = {}
    cdef bytes key, all_entries
    for page in range(TEXT_PAGES):
        for i in range(256):
            c = page * 256 + i
            lower = Py_UNICODE_TOLOWER(c)
            entries[i] = (TEXT_FLAGS + 1) * (<int32_t> lower - <int32_t> c)
            if Py_UNICODE_ISALNUM(lower) or lower == 95:
                entries[i] |= TEXT_WORD
            if Py_UNICODE_ISALNUM(c) or c == 95:
                entries[i] |= TEXT_CASED
            while word_kinds[stretch + 1] >> 3 <= c:
                stretch += 1
            entries[i] |= (word_kinds[stretch] & 7) << TEXT_KIND
            if Py_UNICODE_ISSPACE(c):
                entries[i] |= TEXT_SPACE
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


cdef void _fill_short():
    cdef uint32_t c, lower, flags
    cdef int32_t entry
    for c in range(0x80, 0x800):
        entry = text_entry(c)
        lower = c + text_shift(entry)
        flags = entry & TEXT_FLAGS
        text_short[c] = (0xC0 | lower >> 6) | (0x80 | (lower & 0x3F)) << 8 | flags << TEXT_SHORT
        if flags & TEXT_SPECIAL or not 0x80 <= lower < 0x800:
            text_short[c] = (c >> 6 | 0xC0) | (0x80 | (c & 0x3F)) << 8 | flags << TEXT_SHORT | TEXT_ODD


cdef int _prepare() except -1:
    """Fill the tables for the first text: that takes longer than a program without texts should wait."""
    if text_entries == NULL:
        _fill_bytes()
        _fill_pages()
        _fill_short()
    return 0
