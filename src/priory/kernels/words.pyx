"""Count the words of texts per class, and score texts by their words.

Texts, and `missing`, are as priory.kernels.text says.
"""

from collections import namedtuple

from libc.math cimport log1p
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free

from priory.kernels.text cimport Reader
from priory.kernels.vocabulary cimport Vocabulary, text_word, vocabulary

import numpy as np

cdef extern from "words.h" nogil:
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

    double text_logs[256]

    void PRIORY_PREFETCH(const void*)
    int document_add(document*, vocabulary*, const text_word*, ptrdiff_t)
    int document_find(document*, const vocabulary*, int64_t, const text_word*, ptrdiff_t)
    int document_write(document*, count_list*)
    int pairs_add(pair_list*, const text_count*, int64_t, int32_t, double, double*)
    int pairs_sort(pair_list*, int64_t, int32_t*)
    void score_block(
        const vocabulary*, int64_t, const text_word*, ptrdiff_t, int32_t*, const double*, ptrdiff_t, double*
    )
    void score_document(document*, int, const double*, ptrdiff_t, double*)

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


def count_words(
    data,
    offsets,
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
    cdef Reader reader = Reader(data, offsets, missing, None)
    cdef Tally tally = Tally()
    cdef Py_ssize_t n = reader.n, i, j, m
    y = np.ascontiguousarray(y, dtype=np.int32)
    cdef const int32_t[::1] classes = y
    cdef int32_t label = -1
    cdef const double[::1] weights
    cdef bint weighted = weight is not None
    if weighted:
        weights = np.ascontiguousarray(weight, dtype=np.float64)
    if classes.shape[0] != n or (weighted and weights.shape[0] != n):
        raise ValueError(f"There are {n} texts: y, and weight if given, must be as long.")
    for i in range(n):
        n_classes = max(n_classes, <Py_ssize_t> classes[i] + 1)
    class_rows, class_weight, class_words = np.zeros(n_classes, np.int64), np.zeros(n_classes), np.zeros(n_classes)
    cdef int64_t[::1] rows_of = class_rows, starts = np.empty(n + 1, dtype=np.int64)
    cdef double[::1] weight_of = class_weight, words_of = class_words
    vocabulary.start_writing()
    try:
        with nogil:
            for i in range(n):
                starts[i] = tally.counts.count
                if classes[i] < 0 or not reader.open(i):
                    continue
                while True:
                    m = reader.next_words()
                    if m == 0:
                        break
                    if document_add(&tally.counted, &vocabulary.words_, reader.words, m) < 0:
                        _no_memory()
                if document_write(&tally.counted, &tally.counts) < 0:
                    _no_memory()
                rows_of[classes[i]] += 1
                weight_of[classes[i]] += weights[i] if weighted else 1.0
            starts[n] = tally.counts.count
    finally:
        vocabulary.end_writing()
    cdef int64_t[::1] order = np.argsort(y, kind="stable")
    tally.pairs.places = <int32_t*> calloc(len(vocabulary) + 1, sizeof(int32_t))
    if tally.pairs.places == NULL:
        raise MemoryError
    with nogil:
        for j in range(n):
            i = order[j]
            if starts[i] == starts[i + 1]:
                continue
            if classes[i] != label:
                label, tally.pairs.class_start = classes[i], tally.pairs.count
            if pairs_add(
                &tally.pairs, tally.counts.counts + starts[i], starts[i + 1] - starts[i], label,
                weights[i] if weighted else 1.0, &words_of[label],
            ) < 0:
                _no_memory()
    return WordCounts(*_sorted_pairs(tally, len(vocabulary)), class_rows, class_weight, class_words)


def score_words(
    data,
    offsets,
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
    cdef Reader reader = Reader(data, offsets, missing, None)
    cdef Tally tally = Tally()
    cdef Py_ssize_t n = reader.n, K = weights.shape[1], i, m
    cdef bint counting = binary or log_tf
    cdef int64_t known = min(weights.shape[0], len(vocabulary))
    cdef int32_t codes[256]
    if binary and log_tf:
        raise ValueError("binary and log_tf exclude each other.")
    if out.shape[0] != n or out.shape[1] != K:
        raise ValueError(f"out must be {(n, K)}, not {(out.shape[0], out.shape[1])}.")
    if n == 0 or K == 0 or known == 0:
        return
    vocabulary.start_reading()
    try:
        with nogil:
            for i in range(n):
                if not reader.open(i):
                    continue
                while True:
                    m = reader.next_words()
                    if m == 0:
                        break
                    if not counting:
                        score_block(&vocabulary.words_, known, reader.words, m, codes, &weights[0, 0], K, &out[i, 0])
                    elif document_find(&tally.counted, &vocabulary.words_, known, reader.words, m) < 0:
                        _no_memory()
                if counting:
                    score_document(&tally.counted, log_tf, &weights[0, 0], K, &out[i, 0])
    finally:
        vocabulary.end_reading()


cdef class Tally:
    """What is counted of one document, and of all."""

    cdef document counted
    cdef count_list counts
    cdef pair_list pairs

    def __dealloc__(self):
        free(self.counted.tf)
        free(self.counted.seen)
        free(self.counts.counts)
        free(self.pairs.pairs)
        free(self.pairs.places)


cdef int _no_memory() except -1 nogil:
    with gil:
        raise MemoryError


cdef tuple _sorted_pairs(Tally tally, int64_t n_words):
    """Return the pairs as arrays, in the order of word and class."""
    cdef int64_t n = tally.pairs.count, i
    cdef int32_t[::1] order = np.empty(n, dtype=np.int32)
    word, label = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
    rows = np.empty(n, dtype=np.int64)
    weight, count, log_tf = np.empty(n), np.empty(n), np.empty(n)
    cdef int32_t[::1] word_ = word, label_ = label
    cdef int64_t[::1] rows_ = rows
    cdef double[::1] weight_ = weight, count_ = count, log_tf_ = log_tf
    cdef const text_pair* pair
    with nogil:
        if pairs_sort(&tally.pairs, n_words, &order[0]) < 0:
            _no_memory()
        for i in range(n):
            PRIORY_PREFETCH(&tally.pairs.pairs[order[min(i + 16, n - 1)]])
            pair = &tally.pairs.pairs[order[i]]
            word_[i], label_[i], rows_[i] = pair.word, pair.label, pair.rows
            weight_[i], count_[i], log_tf_[i] = pair.weight, pair.count, pair.log_tf
    return word, label, rows, weight, count, log_tf


cdef void _fill_logs():
    cdef int tf
    for tf in range(256):
        text_logs[tf] = log1p(tf)


_fill_logs()
