"""Score texts by their words.

Texts, and `missing`, are as priory.kernels.text says; a splitter of None finds plain words. Threads
may score with the same vocabulary and the same scores.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport calloc, free

from priory.kernels.text cimport BLOCK, Reader, Splitter
from priory.kernels.vocabulary cimport Vocabulary, check_memory, seed_words, text_word, vocabulary
from priory.kernels.shapes cimport check_length

import numpy as np

cdef extern from "documents.h" nogil:
    enum:
        TEXT_SPARSE
        TEXT_DROPPED

    ctypedef struct document:
        pass

    void document_free(document*)
    int document_find(document*, const vocabulary*, int64_t, const int32_t*, const text_word*, ptrdiff_t)
    void fill_logs()

cdef extern from "word_scores.h" nogil:
    ctypedef struct word_scores:
        int64_t V, K
        const int32_t* place
        const double* dense
        const int64_t* starts
        const int32_t* labels
        const double* deltas
        const double* scale
        const double* constant
        const double* class_part
        int zero

    ctypedef struct sparse_sums:
        int64_t* hits

    void score_block(const vocabulary*, const word_scores*, const text_word*, ptrdiff_t, int32_t*, sparse_sums*, double*)
    void score_document(document*, int, const word_scores*, sparse_sums*, double*)
    void score_end(const word_scores*, sparse_sums*, double*)


cdef class WordScores:
    """What words add to the scores of K classes; x is what a text has of a word.

    place (int32, V)                     what kind of word each is:
        r ≥ 0   dense: x·dense[r] is added; dense is (R, K)
        −1      sparse: x·deltas[j] is added for class labels[j], j from starts[word] to
                starts[word + 1], and for every class k  x·(scale[word]·class_part[k] + constant[word])
        −2      dropped: as if it were not known
    starts (int64, V + 1), labels (int32, ascending for each word), deltas;
    scale, constant (V), class_part (K)
    zero                                 a class without an entry for a sparse word of the text gets −inf

    It never changes, and threads may share it.
    """

    cdef word_scores at
    cdef readonly object place, dense, starts, labels, deltas, scale, constant, class_part
    cdef readonly bint zero

    def __init__(self, place, dense, starts, labels, deltas, scale, constant, class_part, zero=False):
        # Those that are checked are copied, so that nobody can change them afterwards.
        self.place = _frozen(np.array(place, dtype=np.int32, order="C"))
        self.starts = _frozen(np.array(starts, dtype=np.int64, order="C"))
        self.labels = _frozen(np.array(labels, dtype=np.int32, order="C"))
        self.dense, self.deltas, self.scale = _float64(dense), _float64(deltas), _float64(scale)
        self.constant, self.class_part, self.zero = _float64(constant), _float64(class_part), zero
        cdef const int32_t[::1] place_ = self.place, labels_ = self.labels
        cdef const int64_t[::1] starts_ = self.starts
        cdef const double[:, ::1] dense_ = self.dense
        cdef const double[::1] deltas_ = self.deltas, scale_ = self.scale
        cdef const double[::1] constant_ = self.constant, class_part_ = self.class_part
        cdef Py_ssize_t V = place_.shape[0], K = class_part_.shape[0], i, j
        if starts_.shape[0] != V + 1 or scale_.shape[0] != V or constant_.shape[0] != V:
            raise ValueError(f"There are {V} places: starts must be one longer, scale and constant as long.")
        if dense_.shape[1] != K:
            raise ValueError(f"dense must be for {K} classes, as class_part is, not {dense_.shape[1]}.")
        if deltas_.shape[0] != labels_.shape[0]:
            raise ValueError(f"There are {labels_.shape[0]} labels and {deltas_.shape[0]} deltas.")
        for i in range(V):
            if not TEXT_DROPPED <= place_[i] < dense_.shape[0]:
                raise ValueError(f"place[{i}] must be from -2 to {dense_.shape[0] - 1}, not {place_[i]}.")
            if not 0 <= starts_[i] <= starts_[i + 1] <= labels_.shape[0]:
                raise ValueError(f"starts[{i}] and the next are not in order within {labels_.shape[0]} labels.")
            for j in range(starts_[i], starts_[i + 1]):
                if not 0 <= labels_[j] < K or (j > starts_[i] and labels_[j] <= labels_[j - 1]):
                    raise ValueError(f"The labels of word {i} must ascend from 0 to {K - 1} at most.")
        self.at.V, self.at.K, self.at.zero = V, K, zero
        self.at.place, self.at.starts, self.at.labels = &place_[0], &starts_[0], &labels_[0]
        self.at.dense, self.at.deltas, self.at.scale = &dense_[0, 0], &deltas_[0], &scale_[0]
        self.at.constant, self.at.class_part = &constant_[0], &class_part_[0]

    def __reduce__(self):
        return WordScores, (
            self.place, self.dense, self.starts, self.labels, self.deltas, self.scale, self.constant,
            self.class_part, self.zero,
        )


def place_pairs(
    const int32_t[::1] word not None, const int32_t[::1] label not None, const double[::1] deltas not None, const int32_t[::1] place not None,
    const double[::1] scale not None, const double[::1] constant not None, const double[::1] class_part not None, double[:, ::1] rows not None,
    int32_t[::1] labels_out not None, double[::1] deltas_out not None,
):
    """Put each pair where WordScores wants it; return how many had words without a row.

    A pair whose word has a row: constant + scale·class_part + delta, into the row. A pair of a word
    that is sparse: its label and its delta, one after another.
    """
    cdef Py_ssize_t i, n = word.shape[0], sparse = 0, room = min(labels_out.shape[0], deltas_out.shape[0])
    cdef int32_t row
    if label.shape[0] != n or deltas.shape[0] != n:
        raise ValueError("word, label and deltas must be equally long.")
    check_length(scale.shape[0], place.shape[0], "scale")
    check_length(constant.shape[0], place.shape[0], "constant")
    check_length(class_part.shape[0], rows.shape[1], "class_part")
    with nogil:
        for i in range(n):
            row = place[word[i]]
            if row >= 0:
                rows[row, label[i]] = constant[word[i]] + scale[word[i]] * class_part[label[i]] + deltas[i]
            elif row == TEXT_SPARSE:
                if sparse == room:
                    with gil:
                        raise ValueError(f"There are more than {room} pairs of words without a row.")
                labels_out[sparse] = label[i]
                deltas_out[sparse] = deltas[i]
                sparse += 1
    return sparse


def score_words(
    data, offsets, missing, Vocabulary vocabulary not None, WordScores scores not None, double[:, ::1] out not None,
    str tf="count", Splitter splitter=None,
):
    """Add Σ x·(scores of the word) over the words of text i to out[i].

    x is, by `tf`: "count", how often the text has the word; "binary", 1; "log",
    log(1 + tf) / ‖log(1 + tf)‖₂ over its words that are known and not dropped. Words that are not
    in the vocabulary, or beyond the places of the scores, are not known.
    """
    cdef Reader reader = Reader(data, offsets, missing, splitter)
    cdef Scored scored = Scored()
    cdef const word_scores* s = &scores.at
    cdef Py_ssize_t n = reader.n, i, m
    cdef bint counting = tf != "count", log_tf = tf == "log"
    cdef int32_t found[BLOCK]
    if tf not in ("count", "binary", "log"):
        raise ValueError(f"tf must be 'count', 'binary' or 'log', not {tf!r}.")
    if out.shape[0] != n or out.shape[1] != s.K:
        raise ValueError(f"out must be {(n, s.K)}, not {(out.shape[0], out.shape[1])}.")
    if n == 0 or s.K == 0 or s.V == 0:
        return
    scored.sums.hits = <int64_t*> calloc(s.K, sizeof(int64_t))
    if scored.sums.hits == NULL:
        raise MemoryError
    vocabulary.start_reading()
    try:
        with nogil:
            for i in range(n):
                if not reader.open(i):
                    continue
                while (m := reader.next_words()):
                    if not counting:
                        score_block(&vocabulary.words_, s, reader.words, m, found, &scored.sums, &out[i, 0])
                    else:
                        check_memory(document_find(&scored.counted, &vocabulary.words_, s.V, s.place, reader.words, m))
                if counting:
                    score_document(&scored.counted, log_tf, s, &scored.sums, &out[i, 0])
                score_end(s, &scored.sums, &out[i, 0])
    finally:
        vocabulary.end_reading()


cdef class Scored:
    """What is counted of one text, and the sums of its sparse words."""

    cdef document counted
    cdef sparse_sums sums

    def __dealloc__(self):
        document_free(&self.counted)
        free(self.sums.hits)


cdef object _float64(array):
    """View an array as float64 that cannot be written to."""
    return _frozen(np.ascontiguousarray(array, dtype=np.float64).view())


cdef object _frozen(array):
    array.flags.writeable = False
    return array


fill_logs()
seed_words()
