"""Sums per word and class that occur together: sorted, added and subtracted."""

from collections import namedtuple

from libc.math cimport log
from libc.stdint cimport int32_t, int64_t

import numpy as np

cdef extern from "pairs.h" nogil:
    int64_t pairs_ordered(const pair_arrays*)
    int pairs_arrange(const pair_arrays*, int64_t, int64_t, const pair_arrays*)
    int64_t pairs_union(const pair_arrays*, const pair_arrays*)
    void pairs_sum(const pair_arrays*, const pair_arrays*, const pair_arrays*)
    int64_t pairs_difference(const pair_arrays*, const pair_arrays*, const pair_arrays*, int64_t*, int64_t*)

cdef enum:
    SMALL = 256

Pairs = namedtuple("Pairs", "word label rows weight count log_tf", module=__name__)
Pairs.__doc__ = """Sums over texts, per word and class that occur together.

    word, label   int32: the word's code and the class, in the order of both
    rows          int64: the texts of the class that have the word
    weight        Σ w of them; the very array of `rows` where each weighs 1
    count         Σ w·tf, with tf how often the text has the word
    log_tf        Σ w·log(1 + tf) / ‖log(1 + tf)‖₂ over the words of the text
"""


def sort_pairs(pairs, int64_t n_words):
    """Sort pairs, whose words may have been numbered anew, by word and class.

    ValueError for a word that is not below `n_words`, a negative class, or a pair that is there twice.
    """
    cdef Arrays given = Arrays(pairs), sorted_ = Arrays.empty(given.at.n, given.at.weight != NULL)
    cdef int64_t n_labels = 0, at
    cdef int failed
    if given.at.n:
        if given.pairs.word.min() < 0 or given.pairs.word.max() >= n_words:
            raise ValueError(f"Words must be from 0 to {n_words - 1}.")
        if given.pairs.label.min() < 0:
            raise ValueError("Classes must be 0 or more.")
        n_labels = given.pairs.label.max() + 1
    if given.at.n < n_words // 16:  # few: do not walk through all the words
        order = np.lexsort((given.pairs.label, given.pairs.word))
        sorted_ = Arrays(take_pairs(given.pairs, order))
    else:
        with nogil:
            failed = pairs_arrange(&given.at, n_words, n_labels, &sorted_.at)
        if failed:
            raise MemoryError
    at = pairs_ordered(&sorted_.at)
    if at < given.at.n:
        raise ValueError(f"Word {sorted_.at.word[at]} of class {sorted_.at.label[at]} is there twice.")
    return sorted_.pairs


def take_pairs(pairs, where):
    """Take pairs by an index or a mask."""
    arrays = [array[where] for array in pairs[:3]]
    weight = arrays[2] if pairs.weight is pairs.rows else pairs.weight[where]
    return Pairs(*arrays, weight, *(array[where] for array in pairs[4:]))


def add_pairs(a, b):
    """Add two lists of pairs, each in the order of word and class."""
    cdef Arrays left = Arrays(a), right = Arrays(b), out
    cdef int64_t n
    left.check_order()
    right.check_order()
    with nogil:
        n = pairs_union(&left.at, &right.at)
    out = Arrays.empty(n, left.at.weight != NULL or right.at.weight != NULL)
    with nogil:
        pairs_sum(&left.at, &right.at, &out.at)
    return out.pairs


def subtract_pairs(a, b):
    """Subtract b from a, two lists of pairs, each in the order of word and class.

    Pairs without rows left are dropped. ValueError(word, class, rows in a, rows in b) where b has
    more rows; ValueError(word, class) where it has more of another sum, by more than rounding:
    1e-9 of what there was.
    """
    cdef Arrays left = Arrays(a), right = Arrays(b), out
    cdef int64_t n, at = 0, in_a = 0
    left.check_order()
    right.check_order()
    with nogil:
        n = pairs_difference(&left.at, &right.at, NULL, &at, &in_a)
    if n == -1:
        raise ValueError(
            right.at.word[at], right.at.label[at], left.at.rows[in_a] if in_a >= 0 else 0, right.at.rows[at]
        )
    if n == -2:
        raise ValueError(right.at.word[at], right.at.label[at])
    out = Arrays.empty(n, left.at.weight != NULL or right.at.weight != NULL)
    with nogil:
        pairs_difference(&left.at, &right.at, &out.at, &at, &in_a)
    return out.pairs


def sum_by(const int32_t[::1] codes not None, const double[::1] values not None, Py_ssize_t size):
    """Sum the values of each code below `size`: np.bincount without a copy of the codes."""
    cdef Py_ssize_t n = codes.shape[0], i
    cdef int32_t below = 0, most = -1
    if values.shape[0] != n:
        raise ValueError(f"There are {n} codes and {values.shape[0]} values.")
    sums = np.zeros(size)
    cdef double[::1] out = sums
    with nogil:
        for i in range(n):
            below, most = min(below, codes[i]), max(most, codes[i])
        if below < 0 or most >= size:
            with gil:
                raise ValueError(f"Codes must be from 0 to {size - 1}, not {below if below < 0 else most}.")
        for i in range(n):
            out[codes[i]] += values[i]
    return sums


def log_plus(const double[::1] n not None, double a):
    """Take log(n + a) of each n ≥ 0. Most counts are small: their logarithms are taken once."""
    logs = np.empty(n.shape[0])
    cdef double[::1] out = logs
    cdef double known[SMALL]
    cdef Py_ssize_t i
    with nogil:
        for i in range(SMALL):
            known[i] = log(i + a)
        for i in range(n.shape[0]):
            if 0 <= n[i] < SMALL and n[i] == <int> n[i]:
                out[i] = known[<int> n[i]]
            else:
                out[i] = log(n[i] + a)
    return logs


cdef class Arrays:
    # pairs.pxd says what it keeps.

    def __init__(self, pairs):
        types = (np.int32, np.int32, np.int64, np.float64, np.float64, np.float64)
        arrays = [None if i == 3 and pairs[3] is pairs[2] else np.ascontiguousarray(pairs[i], type_)
                  for i, type_ in enumerate(types)]
        cdef const int32_t[::1] word = arrays[0], label = arrays[1]
        cdef const int64_t[::1] rows = arrays[2]
        cdef const double[::1] weight = arrays[3], count = arrays[4], log_tf = arrays[5]
        if len({len(array) for array in arrays if array is not None}) > 1:
            raise ValueError("The six arrays of pairs must be equally long.")
        # Those that are only read may be read-only.
        self.at.word, self.at.label, self.at.rows = <int32_t*> &word[0], <int32_t*> &label[0], <int64_t*> &rows[0]
        self.at.weight, self.at.count = NULL if weight is None else <double*> &weight[0], <double*> &count[0]
        self.at.log_tf, self.at.n = <double*> &log_tf[0], word.shape[0]
        arrays[3] = arrays[2] if arrays[3] is None else arrays[3]
        self.pairs = Pairs(*arrays)

    @staticmethod
    cdef Arrays empty(Py_ssize_t n, bint weighted):
        # One piece of memory: NumPy asks for large pages where it is large.
        memory = np.empty(((5 if weighted else 4) * n), dtype=np.int64)
        count, log_tf = memory[:n].view(np.float64), memory[n:2 * n].view(np.float64)
        codes, rows = memory[2 * n:3 * n].view(np.int32), memory[3 * n:4 * n]
        weight = memory[4 * n:].view(np.float64) if weighted else rows
        return Arrays((codes[:n], codes[n:], rows, weight, count, log_tf))

    cdef int check_order(self) except -1:
        cdef int64_t at
        with nogil:
            at = pairs_ordered(&self.at)
        if at < self.at.n:
            raise ValueError(f"Pairs must be in the order of word and class; pair {at} is not.")
        return 0
