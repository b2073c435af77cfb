"""Map labels to codes in order of first appearance, and count codes per class."""

from cpython.dict cimport PyDict_GetItemWithError
from cpython.float cimport PyFloat_CheckExact
from cpython.long cimport PyLong_CheckExact
from cpython.object cimport PyObject
from cpython.unicode cimport PyUnicode_CheckExact
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

cimport numpy as cnp
from priory.kernels.shapes cimport check_length, check_shape

from math import prod

import numpy as np

cnp.import_array()

cdef extern from "codes.h" nogil:
    # Macros that choose by the types of their pointers.
    int64_t pack_row(const void*, ptrdiff_t, int64_t, void*, ptrdiff_t, int64_t*)
    int64_t narrow(const void*, ptrdiff_t, int8_t*)
    void join_2(const char*, int, ptrdiff_t, int16_t, int16_t*, int16_t*)
    void join_4(const char*, int, ptrdiff_t, int32_t, int32_t*, int32_t*)
    void count_keys_2(int16_t*, const int16_t*, ptrdiff_t, ptrdiff_t, int, int64_t*)
    void count_keys_4(int32_t*, const int32_t*, ptrdiff_t, ptrdiff_t, int, int64_t*)

cdef extern from "hashing.h" nogil:
    void seed_hashes(uint64_t, uint64_t)
    uint64_t hash_of(uint64_t, uint64_t)

cdef extern from "Python.h":
    object PyUnicode_FromObject(object)  # the plain str of a subclass, whatever its __str__ says

ctypedef fused code:
    int8_t
    int16_t
    int32_t
    int64_t

ctypedef fused packed:
    int8_t
    int32_t

ctypedef fused integer:
    int32_t
    int64_t

ctypedef fused numeric:
    float
    double
    int32_t
    int64_t

cdef enum:
    REMEMBERED = 1024  # objects met lately, by address
    SMALL_TABLE = 2048  # cells per copy when counting into four copies
    TOGETHER = 2048  # rows whose keys are joined, then counted
    NARROW_KEYS = 32767  # cells of a table whose keys have two bytes


def encode_objects(cnp.ndarray values not None):
    """Code an object array as (codes, labels); TypeError(position) for what is no label."""
    if cnp.PyArray_NDIM(values) != 1 or cnp.PyArray_TYPE(values) != cnp.NPY_OBJECT:
        raise TypeError(f"values must be a 1-D array of objects, not {values.ndim}-D of {values.dtype}.")
    cdef Py_ssize_t n = values.shape[0], stride = values.strides[0] if n else 0, i
    cdef const char* at = <const char*> cnp.PyArray_BYTES(values)
    codes = np.empty(n, dtype=np.int32)
    cdef int32_t[::1] out = codes
    cdef list labels = []
    # 1 == 1.0 == True in Python: floats are made ints first, booleans have a dict of their own.
    cdef dict known = {}, booleans = {}
    # Rows often share their objects: the array keeps them alive, so an address is a good key.
    cdef const PyObject* addresses[REMEMBERED]
    cdef int32_t remembered[REMEMBERED]
    cdef const PyObject* pointer
    cdef size_t place
    cdef int32_t code

    memset(addresses, 0, sizeof(addresses))
    for i in range(n):
        pointer = (<const PyObject* const*> (at + i * stride))[0]
        place = ((<size_t> pointer) >> 4) % REMEMBERED
        if pointer != NULL and addresses[place] == pointer:
            out[i] = remembered[place]
            continue
        value = None if pointer == NULL else <object> <PyObject*> pointer
        if PyUnicode_CheckExact(value) or PyLong_CheckExact(value):
            code = _code(value, known, labels)
        else:
            try:
                value = _label(value)
            except TypeError:
                raise TypeError(i) from None
            if value is None:
                code = -1
            elif value is True or value is False:
                code = _code(value, booleans, labels)
            else:
                code = _code(value, known, labels)
        addresses[place] = pointer
        remembered[place] = code
        out[i] = code
    return codes, labels


def encode_integers(values):
    """Code an int64 array as (codes, uniques)."""
    cdef const int64_t[::1] x = np.ascontiguousarray(values)
    cdef Py_ssize_t n = x.shape[0], i
    codes = np.empty(n, dtype=np.int32)
    if n == 0:
        return codes, np.empty(0, dtype=np.int64)
    cdef int32_t[::1] out = codes
    return codes, _encode_by_hash(&x[0], n, &out[0])


def encode_range(const int64_t[::1] x not None, int64_t low, int32_t[::1] codes not None, uint8_t[::1] seen not None):
    """Write how far each integer is above the least as its code, and mark the codes seen."""
    cdef Py_ssize_t i
    cdef int32_t code
    check_length(codes.shape[0], x.shape[0], "codes")
    with nogil:
        for i in range(x.shape[0]):
            code = <int32_t> (x[i] - low)
            codes[i] = code
            seen[code] = 1


def narrow_codes(const integer[::1] x not None, int8_t[::1] codes not None):
    """Write integers from 0 to 127 as codes of a byte; return whether all of them are such."""
    cdef Py_ssize_t n = x.shape[0], i = 0
    cdef int64_t bits = 0
    check_length(codes.shape[0], n, "codes")
    with nogil:
        while i < n and 0 <= bits <= 127:
            bits |= narrow(&x[i], min(n - i, <Py_ssize_t> TOGETHER), &codes[i])
            i += TOGETHER
    return 0 <= bits <= 127


def pack_codes(const numeric[:, ::1] X not None, packed[:, ::1] out not None, Py_ssize_t first, int64_t[::1] largest not None):
    """Write each column of X as a stretch of a row of `out`, from `first` on; NaN becomes −1.

    Entries are cut to integers, and the largest of each column is raised in `largest`.
    Return −1, or the first column with an entry that is negative or does not fit.
    """
    cdef Py_ssize_t n = X.shape[0], d = X.shape[1], stride = out.shape[1], i, j
    cdef int64_t limit = (<int64_t> 1 << (8 * sizeof(packed) - 1)) - 1, wrong = 0
    if n == 0 or d == 0:
        return -1
    check_length(out.shape[0], d, "out")
    check_length(largest.shape[0], d, "largest")
    if not 0 <= first <= stride - n:
        raise ValueError(f"There are {n} rows from {first} on, and out has {stride}.")
    with nogil:
        for i in range(n):
            wrong += pack_row(&X[i, 0], d, limit, &out[0, first + i], stride, &largest[0])
            if wrong:
                break
        if wrong:
            for j in range(d):
                for i in range(n):
                    if X[i, j] == X[i, j] and not (X[i, j] > -1 and X[i, j] <= <numeric> limit):
                        with gil:
                            return j
    return -1


def count_joint(columns, sizes, int64_t[::1] rows not None):
    """Add one to rows[combination] for each row without a missing value; return how many have one.

    Combinations are numbered in mixed radix, the last column's codes next to each other. Codes must
    be below their column's size, and there must be fewer than 2^31 combinations.
    """
    arrays = [np.ascontiguousarray(column) for column in columns]
    if not arrays or len(sizes) != len(arrays):
        raise ValueError(f"There are {len(arrays)} columns and {len(sizes)} sizes.")
    for column in arrays:
        if column.dtype.kind != "i" or column.ndim != 1 or len(column) != len(arrays[0]):
            raise ValueError("columns must be 1-D arrays of signed integers, equally long.")
    if rows.shape[0] != prod(map(int, sizes)) or min(sizes) < 0:
        raise ValueError(f"rows must have a place for each combination of {tuple(sizes)}.")
    cdef Py_ssize_t n = len(arrays[0]), cells = rows.shape[0], i = 0, j, count, d = len(arrays)
    cdef int lanes = 4 if cells < SMALL_TABLE else 1, lane
    cdef bint narrow_keys = cells < NARROW_KEYS
    cdef int64_t* counted = <int64_t*> calloc(lanes * (cells + 1), sizeof(int64_t))
    cdef const char** codes = <const char**> malloc(d * sizeof(char*))
    cdef int32_t* radix = <int32_t*> malloc(d * sizeof(int32_t))
    cdef int32_t* widths = <int32_t*> malloc(d * sizeof(int32_t))
    cdef int32_t[TOGETHER] keys
    cdef int32_t[TOGETHER] gaps
    cdef int64_t left_out = 0
    try:
        if counted == NULL or codes == NULL or radix == NULL or widths == NULL:
            raise MemoryError
        for j in range(d):
            codes[j] = cnp.PyArray_BYTES(arrays[j])
            widths[j] = arrays[j].itemsize
            radix[j] = min(<int64_t> sizes[j], <int64_t> (cells + 1))
        with nogil:
            while i < n:
                count = min(n - i, <Py_ssize_t> TOGETHER)
                memset(keys, 0, sizeof(keys))
                memset(gaps, 0, sizeof(gaps))
                if narrow_keys:
                    for j in range(d):
                        join_2(codes[j] + i * widths[j], widths[j], count, radix[j], <int16_t*> keys, <int16_t*> gaps)
                    count_keys_2(<int16_t*> keys, <int16_t*> gaps, count, cells, lanes, counted)
                else:
                    for j in range(d):
                        join_4(codes[j] + i * widths[j], widths[j], count, radix[j], keys, gaps)
                    count_keys_4(keys, gaps, count, cells, lanes, counted)
                i += TOGETHER
            for lane in range(lanes):
                for i in range(cells):
                    rows[i] += counted[lane * (cells + 1) + i]
                left_out += counted[lane * (cells + 1) + cells]
    finally:
        free(counted)
        free(codes)
        free(radix)
        free(widths)
    return left_out


def count_labels(const code[:] c not None, y, weight, int64_t[:, ::1] rows not None, double[:, ::1] total not None):
    """Add one to rows[y, code] and the weight to total[y, code]."""
    cdef const int32_t[::1] k = np.ascontiguousarray(y)
    cdef const double[::1] w
    cdef Py_ssize_t n = c.shape[0], K = rows.shape[0], V = rows.shape[1], i, j, size = K * (V + 1)
    cdef int64_t* counted
    cdef int lane
    check_length(k.shape[0], n, "y")
    check_shape(total.shape[0], total.shape[1], K, V, "total")
    if weight is not None:
        w = np.ascontiguousarray(weight)
        check_length(w.shape[0], n, "weight")
        with nogil:
            for i in range(n):
                if c[i] >= 0:
                    rows[k[i], c[i]] += 1
                    total[k[i], c[i]] += w[i]
        return
    # Four copies of a small table: equal neighbours do not wait for each other's store. Missing
    # codes are counted in a last column, not branched around.
    cdef int lanes = 4 if size <= SMALL_TABLE else 1
    counted = <int64_t*> calloc(max(lanes * size, 1), sizeof(int64_t))
    if counted == NULL:
        raise MemoryError
    with nogil:
        if lanes == 4:
            for i in range(n):
                j = c[i] if c[i] >= 0 else V
                counted[(i & 3) * size + k[i] * (V + 1) + j] += 1
            for lane in range(1, 4):
                for i in range(size):
                    counted[i] += counted[lane * size + i]
        else:
            for i in range(n):
                j = c[i] if c[i] >= 0 else V
                counted[k[i] * (V + 1) + j] += 1
        for i in range(K):
            for j in range(V):
                rows[i, j] += counted[i * (V + 1) + j]
                total[i, j] += <double> counted[i * (V + 1) + j]
        free(counted)


cdef inline int32_t _code(object label, dict known, list labels) except -2:
    cdef PyObject* found = PyDict_GetItemWithError(known, label)
    if found != NULL:
        return <int32_t> <object> found
    code = len(labels)
    known[label] = code
    labels.append(label)
    return code


cdef object _label(object value):
    """Make None (missing), a bool, int, float or str of a value; TypeError for anything else."""
    cdef double number
    if value is None or value is True or value is False:
        return value
    if PyFloat_CheckExact(value):
        number = value
        if number != number:
            return None
        return int(value) if value.is_integer() else value
    if isinstance(value, np.generic):
        if value.dtype.kind in "mM" and value == value:  # a date would become its nanoseconds
            _refuse()
        item = value.item()
        if isinstance(item, np.generic):  # longdouble has no Python counterpart
            item = float(item) if isinstance(item, np.floating) else _refuse()
        return _label(item)
    if isinstance(value, str):
        return PyUnicode_FromObject(value)
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, float):
        return _label(float.__float__(value))
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    from decimal import Decimal

    if isinstance(value, Decimal):
        if value.is_nan():
            return None
        return int(value) if value.is_finite() and value == value.to_integral_value() else float(value)
    _refuse()


cdef object _refuse():
    raise TypeError


cdef object _encode_by_hash(const int64_t* x, Py_ssize_t n, int32_t* out):
    """Encode by open addressing: slots hold codes, codes point at the values seen."""
    cdef int bits = 10
    cdef Py_ssize_t capacity = 1 << bits, i, count = 0, room = capacity // 2
    cdef uint64_t slot
    cdef int32_t code
    cdef int32_t* slots = _empty_slots(capacity)
    cdef object uniques = np.empty(room, dtype=np.int64)
    cdef int64_t[::1] seen = uniques
    try:
        for i in range(n):
            slot = _hash(x[i], bits)
            while True:
                code = slots[slot]
                if code < 0:
                    if count == room:  # half full: double, and look again
                        bits += 1
                        capacity *= 2
                        room *= 2
                        free(slots)
                        slots = NULL
                        slots = _empty_slots(capacity)
                        uniques = np.resize(uniques, room)
                        seen = uniques
                        _place_all(&seen[0], count, slots, bits)
                        slot = _hash(x[i], bits)
                        continue
                    code = count
                    slots[slot] = code
                    seen[count] = x[i]
                    count += 1
                    break
                if seen[code] == x[i]:
                    break
                slot = (slot + 1) & (capacity - 1)
            out[i] = code
    finally:
        free(slots)
    return uniques[:count].copy()


cdef inline uint64_t _hash(int64_t key, int bits) noexcept nogil:
    return hash_of(<uint64_t> key, 0) >> (64 - bits)


cdef int32_t* _empty_slots(Py_ssize_t capacity) except NULL:
    cdef Py_ssize_t i
    cdef int32_t* slots = <int32_t*> malloc(capacity * sizeof(int32_t))
    if slots == NULL:
        raise MemoryError
    for i in range(capacity):
        slots[i] = -1
    return slots


cdef void _place_all(const int64_t* seen, Py_ssize_t count, int32_t* slots, int bits) noexcept nogil:
    cdef Py_ssize_t i
    cdef uint64_t slot
    for i in range(count):
        slot = _hash(seen[i], bits)
        while slots[slot] >= 0:
            slot = (slot + 1) & ((<uint64_t> 1 << bits) - 1)
        slots[slot] = <int32_t> i


seed_hashes(<uint64_t> <Py_ssize_t> hash("priory"), <uint64_t> <Py_ssize_t> hash("hashes"))
