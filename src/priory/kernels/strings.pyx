"""Map columns of strings to codes in order of first appearance, where the strings lie in memory."""

from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free

cimport numpy as cnp

import numpy as np

cnp.import_array()

cdef extern from "Python.h":
    enum: PyUnicode_4BYTE_KIND
    object PyUnicode_FromKindAndData(int, const void*, Py_ssize_t)

cdef extern from "string_codes.h" nogil:
    void seed_hashes(uint64_t, uint64_t)
    enum: OFFSETS_32
    enum: OFFSETS_64
    enum: VIEWS
    enum: ONE_WIDTH
    enum: STRINGS_NO_MEMORY
    enum: STRING_VIEW

    ctypedef struct known_string:
        const uint8_t* bytes
        int64_t size

    ctypedef struct string_table:
        int64_t count
        known_string* strings

    ctypedef struct string_column:
        int layout
        int64_t n_rows, first
        const uint8_t* valid
        const uint8_t* rows
        int64_t stride, width
        int64_t n_buffers
        const uint8_t** buffers
        int64_t* sizes

    int strings_start(string_table*)
    void strings_end(string_table*)
    int encode_column(string_table*, const string_column*, int64_t, int64_t, int32_t*)

cdef enum:
    TOGETHER = 2048  # rows coded before their codes are written in the width they need


def encode_strings(pieces):
    """Code a column of Arrow strings, given in pieces, as (codes, labels).

    A piece is (width of its offsets in bits, 0 for views; rows; first row; its buffers). Codes are
    int8, int16 or int32, whichever is the first that holds them; −1 is a missing string.
    ValueError for a string that is not inside its buffer.
    """
    cdef _Encoder encoder = _Encoder(sum(n_rows for _, n_rows, _, _ in pieces))
    for bits, n_rows, first, buffers in pieces:
        encoder.add_arrow(bits, n_rows, first, buffers)
    return encoder.codes, encoder.utf8_labels()


def encode_fixed_strings(cnp.ndarray values not None):
    """Code an aligned array of NumPy's strings of one width, in native order, as (codes, labels)."""
    if values.ndim != 1 or values.dtype.kind != "U" or not values.dtype.isnative or not values.flags.aligned:
        raise TypeError(f"values must be a 1-D array of strings, not {values.ndim}-D of {values.dtype}.")
    cdef _Encoder encoder = _Encoder(values.shape[0])
    cdef string_column column
    column.layout = ONE_WIDTH
    column.n_rows, column.first, column.valid = values.shape[0], 0, NULL
    column.rows = <const uint8_t*> cnp.PyArray_BYTES(values)
    column.stride, column.width = values.strides[0], cnp.PyArray_ITEMSIZE(values)
    encoder.add(&column)
    return encoder.codes, encoder.ucs4_labels()


cdef class _Encoder:
    """Codes as they grow: as narrow as their number allows."""

    cdef string_table table
    cdef object codes
    cdef int64_t done

    def __cinit__(self, n_rows):
        if strings_start(&self.table) < 0:
            raise MemoryError
        self.codes = np.empty(n_rows, dtype=np.int8)
        self.done = 0

    def __dealloc__(self):
        strings_end(&self.table)

    cdef add_arrow(self, bits, n_rows, first, buffers):
        """Take a piece with all its buffers checked: each must hold what its rows need."""
        cdef const uint8_t[::1] view
        cdef string_column column
        cdef Py_ssize_t i
        if not n_rows:
            return
        if bits not in (0, 32, 64) or n_rows < 0 or first < 0:
            raise ValueError(f"There is no piece of {n_rows} rows from {first} on with offsets of {bits} bits.")
        valid, rows, *data = buffers
        last = first + n_rows
        needed = last * STRING_VIEW if bits == 0 else (last + 1) * (bits // 8)
        if rows is None or len(rows) < needed or (valid is not None and 8 * len(valid) < last):
            raise ValueError("The offsets, or the marks of what is missing, end before the rows do.")
        data = [b"" if buffer is None else buffer for buffer in data]
        column.layout = VIEWS if bits == 0 else OFFSETS_32 if bits == 32 else OFFSETS_64
        column.n_rows, column.first, column.valid = n_rows, first, NULL
        if valid is not None:
            view = np.frombuffer(valid, np.uint8)
            column.valid = &view[0]
        view = np.frombuffer(rows, np.uint8)
        column.rows = &view[0]
        column.n_buffers = len(data)
        column.buffers = <const uint8_t**> calloc(len(data) + 1, sizeof(void*))
        column.sizes = <int64_t*> calloc(len(data) + 1, sizeof(int64_t))
        try:
            if column.buffers == NULL or column.sizes == NULL:
                raise MemoryError
            for i in range(len(data)):
                view = np.frombuffer(data[i], np.uint8)
                column.buffers[i] = &view[0] if view.shape[0] else column.rows  # not to be read
                column.sizes[i] = view.shape[0]
            self.add(&column)
        finally:
            free(column.buffers)
            free(column.sizes)

    cdef add(self, const string_column* column):
        cdef int32_t block[TOGETHER]
        cdef int64_t i = 0, n, size
        cdef int wrong = 0, width = self.codes.itemsize
        cdef char* out = <char*> cnp.PyArray_BYTES(self.codes)
        with nogil:
            while i < column.n_rows:
                n = min(column.n_rows - i, <int64_t> TOGETHER)
                wrong = encode_column(&self.table, column, i, i + n, block)
                if wrong < 0:
                    break
                if self.table.count > <int64_t> 1 << (8 * width - 1):
                    with gil:
                        self.widen()
                        width = self.codes.itemsize
                        out = <char*> cnp.PyArray_BYTES(self.codes)
                _write(block, n, out + self.done * width, width)
                self.done += n
                i += n
        if wrong == STRINGS_NO_MEMORY:
            raise MemoryError
        if wrong < 0:
            raise ValueError("A string is not inside its buffer.")

    cdef widen(self):
        """Make room for larger codes; most columns never need it."""
        kind = np.int16 if self.table.count <= 2**15 else np.int32
        wider = np.empty(len(self.codes), dtype=kind)
        wider[:self.done] = self.codes[:self.done]
        self.codes = wider

    cdef list utf8_labels(self):
        cdef const known_string* known = self.table.strings
        cdef int64_t i
        return [PyUnicode_DecodeUTF8(<const char*> known[i].bytes, known[i].size, NULL) for i in range(self.table.count)]

    cdef list ucs4_labels(self):
        cdef const known_string* known = self.table.strings
        cdef int64_t i, size
        cdef list labels = []
        for i in range(self.table.count):
            size = known[i].size // 4
            while size > 0 and (<const int32_t*> known[i].bytes)[size - 1] == 0:
                size -= 1  # zeros at the end only fill it up
            labels.append(PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, known[i].bytes, size))
        return labels


cdef void _write(const int32_t* codes, int64_t n, char* out, int width) noexcept nogil:
    cdef int64_t i
    if width == 1:
        for i in range(n):
            (<int8_t*> out)[i] = <int8_t> codes[i]
    elif width == 2:
        for i in range(n):
            (<int16_t*> out)[i] = <int16_t> codes[i]
    else:
        for i in range(n):
            (<int32_t*> out)[i] = codes[i]


seed_hashes(<uint64_t> <Py_ssize_t> hash("priory"), <uint64_t> <Py_ssize_t> hash("hashes"))
