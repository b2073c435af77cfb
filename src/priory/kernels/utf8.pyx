"""Python strings as UTF-8 bytes, as the kernels of text read them.

Texts come as Arrow keeps them: `data` (uint8) holds their UTF-8 bytes one after another, text i
from offsets[i] to offsets[i + 1] (int32 or int64), and missing[i] says that there is none. The
buffers of an Arrow string array a, sliced or not, are passed as they are:

    _, offsets, data = a.buffers()    # large_string: int64; data is None where there are no bytes
    offsets = numpy.frombuffer(offsets, numpy.int32)[a.offset : a.offset + len(a) + 1]
    data = numpy.frombuffer(data or b"", numpy.uint8)
    missing = a.is_null().to_numpy(zero_copy_only=False) if a.null_count else None

encode_texts makes the three of Python strings, encode_tokens of words that Python code has found;
borrow_texts reads strings where they are.
"""

from functools import partial
from itertools import pairwise

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.unicode cimport PyUnicode_CheckExact
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy

from priory.base.lazy import Lazy
from priory.base.parallel import in_parallel, worthwhile

np = Lazy("numpy")  # one message is judged before it is loaded

cdef extern from "Python.h":
    object PyUnicode_AsEncodedString(object, const char*, const char*)  # of a subclass too, as of a plain str
    bint PyUnicode_IS_COMPACT(object)
    bint PyUnicode_IS_COMPACT_ASCII(object)
    int PyUnicode_KIND(object)
    Py_ssize_t PyUnicode_GET_LENGTH(object)
    const void* PyUnicode_DATA(object)

cdef extern from "text_utf8.h" nogil:
    Py_ssize_t text_encoded_size(const void*, int, Py_ssize_t)
    void text_encode_string(const void*, int, Py_ssize_t, uint8_t*)


cdef class Borrowed:
    """The UTF-8 bytes of Python strings, where they are: those of ASCII strings inside the strings.

    It takes the place of `data`, with offsets of None. The strings are kept as long as it is.
    """

    def __cinit__(self, values):
        cdef Py_ssize_t n, i
        cdef int64_t total = 0
        self.values = values.tolist() if isinstance(values, np.ndarray) else list(values)
        n = len(self.values)
        self.gaps = np.zeros(n, dtype=np.bool_)
        self.addresses, self.sizes = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        cdef uint8_t[::1] gone = self.gaps.view(np.uint8)
        cdef uint8_t[::1] width = np.zeros(n, dtype=np.uint8)  # of those to encode, bytes a character
        for i in range(n):
            value = self.values[i]
            if PyUnicode_CheckExact(value) and PyUnicode_IS_COMPACT(value):
                self.addresses[i], self.sizes[i] = <int64_t> PyUnicode_DATA(value), PyUnicode_GET_LENGTH(value)
                if not PyUnicode_IS_COMPACT_ASCII(value):
                    width[i] = PyUnicode_KIND(value)
                    total += self.sizes[i]
            elif isinstance(value, str):  # asking the str itself for UTF-8 would leave a copy in it
                self.values[i] = value = PyUnicode_AsEncodedString(value, "utf-8", "surrogatepass")
                self.addresses[i], self.sizes[i] = <int64_t> PyBytes_AS_STRING(value), PyBytes_GET_SIZE(value)
            elif _is_missing(value):
                gone[i] = True
            else:
                raise TypeError(i)
        if total:
            self._encode(width, total)

    def _encode(self, uint8_t[::1] width, int64_t characters):
        """Encode those that are not ASCII, in threads: Python would do it one after the other."""
        cdef Py_ssize_t n = len(self.values)
        threads = worthwhile(characters)
        lengths, ends = np.asarray(self.sizes).copy(), np.zeros(n + 1, dtype=np.int64)
        cuts = np.searchsorted(np.cumsum(lengths), lengths.sum() * np.arange(1, threads) // threads)
        shares = list(pairwise([0, *cuts.tolist(), n]))
        in_parallel([partial(self._measure, width, lengths, *share) for share in shares], threads)
        np.cumsum(np.where(width, self.sizes, 0), out=ends[1:])
        self.encoded = np.empty(ends[n], dtype=np.uint8)
        in_parallel([partial(self._write, width, lengths, ends, *share) for share in shares], threads)

    def _measure(self, uint8_t[::1] width, const int64_t[::1] lengths, Py_ssize_t first, Py_ssize_t last):
        cdef Py_ssize_t i
        with nogil:
            for i in range(first, last):
                if width[i]:
                    self.sizes[i] = text_encoded_size(<const void*> self.addresses[i], width[i], lengths[i])

    def _write(
        self, uint8_t[::1] width, const int64_t[::1] lengths, const int64_t[::1] starts, Py_ssize_t first, Py_ssize_t last
    ):
        cdef Py_ssize_t i
        cdef uint8_t* out = <uint8_t*> &self.encoded[0]
        with nogil:
            for i in range(first, last):
                if width[i]:
                    text_encode_string(<const void*> self.addresses[i], width[i], lengths[i], out + starts[i])
                    self.addresses[i] = <int64_t> (out + starts[i])

    def __len__(self):
        return len(self.values)


def borrow_texts(texts):
    """Read str as (data, None, missing), without a copy of those that are ASCII; None, NaN and NA are missing.

    TypeError(position) for anything else.
    """
    cdef Borrowed data = Borrowed(texts)
    return data, None, data.gaps


def encode_texts(texts):
    """Encode str as (data, offsets, missing); None, NaN and NA are missing.

    TypeError(position) for anything else.
    """
    cdef Borrowed borrowed = Borrowed(texts)
    cdef Py_ssize_t i
    offsets = np.concatenate([[0], np.cumsum(borrowed.sizes)])
    data = np.empty(offsets[len(offsets) - 1], dtype=np.uint8)
    cdef const int64_t[::1] starts = offsets
    cdef uint8_t[::1] out = data
    for i in range(len(borrowed.values)):
        if borrowed.sizes[i]:
            memcpy(&out[starts[i]], <const void*> borrowed.addresses[i], borrowed.sizes[i])
    return data, offsets, borrowed.gaps


def text_sizes(list texts):
    """Estimate (offsets, missing): how many bytes each str has in UTF-8, at most; and which are missing.

    None, NaN and NA are missing; TypeError(position) for anything else.
    """
    cdef Py_ssize_t n = len(texts), i, total = 0
    offsets, missing = np.empty(n + 1, dtype=np.int64), np.zeros(n, dtype=np.bool_)
    cdef int64_t[::1] ends = offsets
    cdef uint8_t[::1] gone = missing.view(np.uint8)
    for i in range(n):
        ends[i] = total
        value = texts[i]
        if isinstance(value, str):
            total += PyUnicode_GET_LENGTH(value) * (1 if PyUnicode_IS_COMPACT_ASCII(value) else 3)
        elif _is_missing(value):
            gone[i] = True
        else:
            raise TypeError(i)
    ends[n] = total
    return offsets, missing


def encode_tokens(documents):
    """Encode documents that are words already as (data, offsets, missing), for the unit "given".

    A document is an iterable of str, or None, NaN or NA where it is missing. TypeError(position)
    for anything else, a str too.
    """
    cdef list values = list(documents)
    cdef Py_ssize_t n = len(values), i
    offsets, missing = np.zeros(n + 1, dtype=np.int64), np.zeros(n, dtype=np.bool_)
    cdef int64_t[::1] ends = offsets
    cdef uint8_t[::1] gone = missing.view(np.uint8)
    cdef list tokens
    for i in range(n):
        tokens = []
        if _is_missing(values[i]):
            gone[i] = True
        else:
            if isinstance(values[i], (str, bytes)) or not hasattr(values[i], "__iter__"):
                raise TypeError(i)
            for token in values[i]:
                if not isinstance(token, str):
                    raise TypeError(i)
                tokens.append(PyUnicode_AsEncodedString(token, "utf-8", "surrogatepass"))
        values[i] = b"\xff".join(tokens)
        ends[i + 1] = ends[i] + PyBytes_GET_SIZE(values[i])
    return np.frombuffer(b"".join(values), dtype=np.uint8), offsets, missing


cdef bint _is_missing(value) except -1:
    return (
        value is None
        or type(value).__name__ == "NAType"
        or isinstance(value, (float, np.floating)) and value != value
    )
