"""Count the words of texts per class.

Texts, and `missing`, are as priory.kernels.text says; a splitter of None finds plain words. Threads
may count at the same time, each into a vocabulary of its own.
"""

from collections import namedtuple
from functools import partial
from itertools import accumulate

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free

from priory.kernels.pairs cimport Arrays, pair_arrays
from priory.kernels.text cimport Reader, Splitter
from priory.kernels.vocabulary cimport Vocabulary, check_memory, seed_words, text_word, vocabulary

import numpy as np

from priory.kernels.pairs import add_pairs, sort_pairs
from priory.base.parallel import in_parallel

cdef extern from "words.h" nogil:
    enum:
        DENSE_MOST
        DENSE_CHUNK

    ctypedef struct document:
        pass

    ctypedef struct text_count:
        int32_t word
        int32_t tf

    ctypedef struct count_list:
        text_count* counts
        int64_t count
        int64_t room

    ctypedef struct text_pair:
        pass

    ctypedef struct pair_list:
        text_pair* pairs
        int64_t count
        int64_t room
        int32_t* places
        int64_t class_start

    ctypedef struct dense_table:
        int64_t K
        int64_t words
        int64_t total

    void free_array(void*, int64_t, size_t)
    int vocabulary_trim(vocabulary*)
    int64_t document_size(const document*)
    void document_lend(document*)
    int64_t dense_size(const dense_table*)
    void dense_lend(dense_table*)
    void dense_restart(dense_table*, int64_t)
    void dense_clear(dense_table*)
    void document_free(document*)
    int document_add(document*, vocabulary*, const text_word*, ptrdiff_t)
    int document_find(document*, const vocabulary*, int64_t, const int32_t*, const text_word*, ptrdiff_t)
    int document_sum(document*, dense_table*, int64_t, int32_t)
    int dense_room(dense_table*, int64_t)
    void dense_mark(dense_table*, const dense_table*, const int32_t*, int64_t, int64_t)
    int dense_fill(dense_table*)
    void dense_merge(dense_table*, const dense_table*, const int32_t*, int64_t, int64_t)
    int64_t dense_pairs(const dense_table*, int64_t, int64_t)
    int document_write(document*, count_list*)
    int pairs_add(pair_list*, const text_count*, int64_t, int32_t, double, double*)
    int pairs_sort(pair_list*, int64_t, int32_t*)
    void pairs_from(const pair_list*, const int32_t*, const pair_arrays*)
    void pairs_of_dense(const dense_table*, int64_t, int64_t, int64_t, const pair_arrays*, double*)
    void fill_logs()

cdef enum:
    MOST = 1 << 21  # words of documents written down (8 bytes each) before they are summed
    TOTAL = 1 << 30  # words counted before 32 bits might not hold them
    KEPT = 32 << 20  # bytes of a counter that are kept for the next, and half of what all keep
    MANY = 1 << 17  # sums that are worth several threads
    SHARES = 32  # parts of them for each thread
    AHEAD = 2  # texts between a prefetch and its use: in the order of classes nobody foresees the next

WordCounts = namedtuple("WordCounts", "pairs class_rows class_weight class_words", module=__name__)
WordCounts.__doc__ = """Sums over texts.

    pairs         per word and class
    class_rows    int64: the texts of each class; class_weight: Σ w; class_words: Σ w·tf
"""


def count_words(
    data, offsets, missing, y, weight, Vocabulary vocabulary not None, Py_ssize_t n_classes=0,
    Splitter splitter=None,
):
    """Count texts with classes y as WordCounts; words not yet in the vocabulary join it.

    A text that is missing, or whose class is negative, counts for nothing. The arrays per class
    are as long as the largest class asks, and at least `n_classes`.
    """
    y = np.ascontiguousarray(y, dtype=np.int32)
    n_classes = max(n_classes, int(y.max(initial=-1)) + 1)
    counter = WordCounter(vocabulary, n_classes)
    counter.add(data, offsets, missing, y, weight, splitter)
    return counter.result()


def count_matrix(data, offsets, missing, Vocabulary vocabulary not None, Splitter splitter=None):
    """Count (indptr, indices, tf): how often each text has which words of the vocabulary.

    Text i has the words indices[indptr[i]:indptr[i + 1]] (int32; indptr is int64), in order of
    first appearance, tf times (int32) each.
    """
    cdef Reader reader = Reader(data, offsets, missing, splitter)
    cdef Tally tally = Tally()
    cdef Py_ssize_t i, m
    indptr = np.zeros(reader.n + 1, dtype=np.int64)
    cdef int64_t[::1] ends = indptr
    vocabulary.start_reading()
    try:
        with nogil:
            for i in range(reader.n):
                if reader.open(i):
                    while (m := reader.next_words()):
                        check_memory(document_find(
                            &tally.counted, &vocabulary.words_, vocabulary.words_.count, NULL, reader.words, m
                        ))
                    check_memory(document_write(&tally.counted, &tally.counts))
                ends[i + 1] = tally.counts.count
    finally:
        vocabulary.end_reading()
    indices, tf = np.empty(tally.counts.count, dtype=np.int32), np.empty(tally.counts.count, dtype=np.int32)
    cdef int32_t[::1] indices_ = indices, tf_ = tf
    for i in range(tally.counts.count):
        indices_[i], tf_[i] = tally.counts.counts[i].word, tally.counts.counts[i].tf
    return indptr, indices, tf


cdef class Tally:
    """What is counted of one document, and of many."""

    cdef document counted
    cdef count_list counts
    cdef pair_list pairs
    cdef int64_t[::1] starts  # of each document among the counts

    def __dealloc__(self):
        document_free(&self.counted)
        free_array(self.counts.counts, self.counts.room, sizeof(text_count))
        free_array(self.pairs.pairs, self.pairs.room, sizeof(text_pair))
        free(self.pairs.places)

    cdef int64_t size(self):
        cdef int64_t lists = self.counts.room * sizeof(text_count) + self.pairs.room * sizeof(text_pair)
        return document_size(&self.counted) + lists

    cdef void rest(self) noexcept:
        """Have nothing of one count that another does not need."""
        free(self.pairs.places)
        self.pairs.places = NULL
        self.starts = None
        document_lend(&self.counted)

    cdef Py_ssize_t write_down(
        self, Reader reader, Vocabulary vocabulary, Py_ssize_t first, y, order, weight, counts
    ) except -1:
        """Write down which words texts have, in this order from the `first` on; return where it stopped."""
        cdef const int32_t[::1] classes = y
        cdef const int64_t[::1] by_class = order
        cdef const double[::1] weights = weight
        cdef bint weighted = weight is not None
        cdef int64_t[::1] rows_of = counts.class_rows
        cdef double[::1] weight_of = counts.class_weight
        cdef Py_ssize_t at = first, i, m
        self.starts = np.empty(reader.n - first + 1, dtype=np.int64)
        self.counts.count = 0
        self.starts[0] = 0
        with nogil:
            while at < reader.n and self.counts.count < MOST:
                i = by_class[at]
                if classes[i] >= 0 and reader.open(i):
                    while (m := reader.next_words()):
                        check_memory(document_add(&self.counted, &vocabulary.words_, reader.words, m))
                    check_memory(document_write(&self.counted, &self.counts))
                    rows_of[classes[i]] += 1
                    weight_of[classes[i]] += weights[i] if weighted else 1.0
                at += 1
                self.starts[at - first] = self.counts.count
        return at

    cdef object summed(self, written, y, weight, int64_t n_words, counts):
        """Sum the texts that are written down, in the order of their classes, to Pairs."""
        cdef const int32_t[::1] classes = y
        cdef const int64_t[::1] texts = written
        cdef const double[::1] weights = weight
        cdef bint weighted = weight is not None
        cdef double[::1] words_of = counts.class_words
        cdef Py_ssize_t i, j
        cdef int32_t label = -1
        free(self.pairs.places)
        self.pairs.places = <int32_t*> calloc(n_words + 1, sizeof(int32_t))
        if self.pairs.places == NULL:
            raise MemoryError
        self.pairs.count = 0
        with nogil:
            for j in range(texts.shape[0]):
                i = texts[j]
                if self.starts[j] == self.starts[j + 1]:
                    continue
                if classes[i] != label:
                    label, self.pairs.class_start = classes[i], self.pairs.count
                check_memory(pairs_add(
                    &self.pairs, self.counts.counts + self.starts[j], self.starts[j + 1] - self.starts[j],
                    label, weights[i] if weighted else 1.0, &words_of[label],
                ))
        cdef int32_t[::1] order = np.empty(self.pairs.count, dtype=np.int32)
        cdef Arrays out = Arrays.empty(self.pairs.count, weighted)
        with nogil:
            check_memory(pairs_sort(&self.pairs, n_words, &order[0]))
            pairs_from(&self.pairs, &order[0], &out.at)
        return out.pairs


cdef list resting = []  # counters whose memory the next ones take


cdef class WordCounter:
    """Count texts that come in pieces; each thread has one, and what they counted is merged.

    While all classes of all words fit into DENSE_MOST sums, and no text has a weight, every text is
    added to them at once. Else the words of many texts are written down first.

    The first touch of memory may take longer than to count what is put there. So a counter that is done
    may `rest`, and `start` begins in its memory, which the system gets in the meantime if it lacks some.
    """

    cdef readonly Vocabulary vocabulary
    cdef object counts
    cdef list parts
    cdef Tally tally
    cdef dense_table dense

    def __init__(self, Vocabulary vocabulary not None, Py_ssize_t n_classes):
        self.vocabulary = vocabulary
        self.counts = _no_counts(n_classes)
        self.parts = []
        self.tally = Tally()
        dense_restart(&self.dense, n_classes)

    def __dealloc__(self):
        dense_clear(&self.dense)

    @staticmethod
    def start(Py_ssize_t n_classes):
        """Make a counter with a vocabulary of its own, in the memory of one that rests if there is one."""
        cdef WordCounter counter
        if not resting:
            return WordCounter(Vocabulary.start(), n_classes)
        counter = resting.pop()
        counter.vocabulary, counter.counts = Vocabulary.start(), _no_counts(n_classes)
        dense_restart(&counter.dense, n_classes)
        return counter

    def rest(self):
        """Keep the memory for another, if it is not too much; this one cannot be used again."""
        self._check_awake()
        self.vocabulary, self.counts, self.parts = None, None, []
        self.tally.rest()
        if self._size() <= KEPT and sum([(<WordCounter> one)._size() for one in resting]) <= KEPT:
            dense_lend(&self.dense)
            resting.append(self)

    cdef int _check_awake(self) except -1:
        if self.counts is None:
            raise RuntimeError("This counter rests, or failed: nothing can be counted with it.")
        return 0

    cdef int64_t _size(self):
        return dense_size(&self.dense) + self.tally.size()

    def add(self, data, offsets, missing, y, weight=None, Splitter splitter=None):
        """Count texts with classes y, each below the number of classes."""
        cdef Reader reader = Reader(data, offsets, missing, splitter)
        cdef Py_ssize_t n = reader.n, first = 0, end = 0
        self._check_awake()
        y = np.ascontiguousarray(y, dtype=np.int32)
        if weight is not None:
            weight = np.ascontiguousarray(weight, dtype=np.float64)
        if y.shape != (n,) or (weight is not None and weight.shape != (n,)):
            raise ValueError(f"There are {n} texts: y, and weight if given, must be as long.")
        if y.max(initial=-1) >= self.dense.K:
            raise ValueError(f"Classes must be below {self.dense.K}, not {y.max()}.")
        order = np.argsort(y, kind="stable")
        self.vocabulary.start_writing()
        try:
            while first < n:
                if weight is None and self._has_room():
                    first = self._sum(reader, first, y, order)
                    continue
                end = self.tally.write_down(reader, self.vocabulary, first, y, order, weight, self.counts)
                self._push(self.tally.summed(order[first:end], y, weight, len(self.vocabulary), self.counts))
                first = end
        except BaseException:  # half a text is counted: nobody may go on from there
            self.tally, self.counts = Tally(), None
            dense_clear(&self.dense)
            raise
        finally:
            self.vocabulary.end_writing()

    def merge(self, WordCounter other not None, int threads=1):
        """Add what another has counted, of as many classes; the other has nothing then."""
        self._check_awake()
        other._check_awake()
        if other.dense.K != self.dense.K:
            raise ValueError("Both must have the same classes.")
        places = self.vocabulary.extend(other.vocabulary)
        if other.dense.words:
            if self.dense.total + other.dense.total >= TOTAL:
                self._spill(threads)
            check_memory(dense_room(&self.dense, len(self.vocabulary)))
            shares = _shares(self.dense.K, threads if self.dense.words * self.dense.K >= MANY else 1)
            in_parallel([partial(self._mark, other, places, *share) for share in shares], threads)
            check_memory(dense_fill(&self.dense))
            in_parallel([partial(self._add, other, places, *share) for share in shares], threads)
            self.dense.total += other.dense.total
            other._let_go()
        for pairs in other.parts:
            self._push(sort_pairs(pairs._replace(word=places[pairs.word]), len(self.vocabulary)))
        other.parts = []
        for mine, theirs in zip(self.counts[1:], other.counts[1:], strict=True):
            mine += theirs

    def _mark(self, WordCounter other, const int32_t[::1] places not None, int64_t first_class, int64_t end_class):
        with nogil:
            dense_mark(&self.dense, &other.dense, &places[0], first_class, end_class)

    def _add(self, WordCounter other, const int32_t[::1] places not None, int64_t first_class, int64_t end_class):
        with nogil:
            dense_merge(&self.dense, &other.dense, &places[0], first_class, end_class)

    def result(self, int threads=1):
        """Sum up to WordCounts."""
        self._check_awake()
        self.vocabulary.start_writing()
        try:
            check_memory(vocabulary_trim(&self.vocabulary.words_))
        finally:
            self.vocabulary.end_writing()
        self._spill(threads)
        part = self.parts.pop() if self.parts else Arrays.empty(0, False).pairs
        while self.parts:
            part = add_pairs(self.parts.pop(), part)
        self.parts.append(part)
        return self.counts._replace(pairs=part)

    cdef bint _has_room(self):
        """Say whether sums of all pairs are worth their memory; hand them over if no longer."""
        cdef int64_t needed = self.vocabulary.words_.count * self.dense.K
        if needed <= DENSE_MOST and self.dense.total < TOTAL:
            return True
        self._spill()
        if needed <= DENSE_MOST:
            return True
        dense_clear(&self.dense)
        return False

    cdef Py_ssize_t _sum(self, Reader reader, Py_ssize_t first, y, order) except -1:
        """Add texts to the sums, in this order from the `first` on; return where it stopped."""
        cdef const int32_t[::1] classes = y
        cdef const int64_t[::1] by_class = order
        cdef int64_t[::1] rows_of = self.counts.class_rows
        cdef double[::1] weight_of = self.counts.class_weight
        cdef vocabulary* words = &self.vocabulary.words_
        cdef document* counted = &self.tally.counted
        cdef Py_ssize_t at = first, m
        cdef int32_t label
        with nogil:
            while at < reader.n and self.dense.total < TOTAL and words.count * self.dense.K <= DENSE_MOST:
                label = classes[by_class[at]]
                if at + AHEAD < reader.n:
                    reader.prefetch(by_class[at + AHEAD])
                if label >= 0 and reader.open(by_class[at]):
                    while (m := reader.next_words()):
                        check_memory(document_add(counted, words, reader.words, m))
                    check_memory(document_sum(counted, &self.dense, words.count, label))
                    rows_of[label] += 1
                    weight_of[label] += 1.0
                at += 1
        return at

    cdef int _spill(self, int threads=1) except -1:
        """Write the sums as pairs, and begin anew."""
        cdef Arrays out
        if self.dense.words == 0:
            return 0
        if self.dense.words * self.dense.K < MANY:
            threads = 1
        chunks = _shares((self.dense.words + DENSE_CHUNK - 1) // DENSE_CHUNK, threads)
        n = in_parallel([partial(self._count_pairs, *some) for some in chunks], threads)
        out = Arrays.empty(sum(n), False)
        starts = accumulate(n, initial=0)
        tasks = [partial(self._write_pairs, out, start, *some) for start, some in zip(starts, chunks)]
        for words in in_parallel(tasks, threads):
            self.counts.class_words[:] += words
        self._let_go()
        self._push(out.pairs)
        return 0

    cdef void _let_go(self) noexcept:
        """Have no sums; their memory is kept for later if it is not too much."""
        if dense_size(&self.dense) > KEPT:
            dense_clear(&self.dense)
        else:
            dense_restart(&self.dense, self.dense.K)

    def _count_pairs(self, int64_t first, int64_t end):
        cdef int64_t n
        with nogil:
            n = dense_pairs(&self.dense, first, end)
        return n

    def _write_pairs(self, Arrays out, int64_t start, int64_t first, int64_t end):
        words = np.zeros(self.dense.K)
        cdef double[::1] words_of = words
        with nogil:
            pairs_of_dense(&self.dense, first, end, start, &out.at, &words_of[0])
        return words

    cdef int _push(self, part) except -1:
        # Lists of like size are added, so that a pair is copied no more than log(parts) times.
        while self.parts and len(self.parts[len(self.parts) - 1].word) < 2 * len(part.word):
            part = add_pairs(self.parts.pop(), part)
        self.parts.append(part)
        return 0


cdef object _no_counts(Py_ssize_t n_classes):
    return WordCounts(None, np.zeros(n_classes, np.int64), np.zeros(n_classes), np.zeros(n_classes))


cdef list _shares(Py_ssize_t n, int threads):
    """Part n things into (first, end). Each thread does many: some have much more to do."""
    parts = min(n, SHARES * threads) if threads > 1 else 1
    return [(n * i // parts, n * (i + 1) // parts) for i in range(parts)]


fill_logs()
seed_words()
