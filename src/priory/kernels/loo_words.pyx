"""Score texts by their words, or rows by their counts, each under the sums of all but itself."""

from collections import namedtuple

from libc.stdint cimport int32_t, int64_t
from priory.kernels.shapes cimport check_starts

import numpy as np

cdef extern from "loo_words.h" nogil:
    enum:
        WITHOUT_BLOCK

    ctypedef struct left_word:
        int64_t start
        int32_t n
        int32_t texts
        double total

    ctypedef struct loo_sums:
        int64_t K
        const left_word* words
        const int32_t* labels
        const int64_t* rows
        const double* n
        int64_t n_words, least
        double everything
        int term, score, pseudo
        double m
        const double* given
        const double* leaves
        const double* deltas
        const double* texts_of
        const double* with_word
        const double* log1p_with_word
        double all_texts

    ctypedef struct left_words:
        int32_t* word
        int64_t* own
        double* x
        double* taken
        double* idf
        double* pseudo
        double* logs
        double* pairs
        int64_t* hits

    ctypedef struct loo_scores:
        double weight, taken, own, pooled, pseudo_gone
        int64_t n_leaving, is_learned

    loo_scores loo_text(
        const loo_sums*, const int32_t*, int64_t, int32_t, double, left_words*, double*, double*
    )

TERMS = ("count", "log", "binary", "unit")
SCORES = ("fixed", "multinomial", "complement")
PSEUDO = ("same", "uniform", "marginal", "given")
SUMS, COUNTS = ("weight", "taken", "own", "pooled", "pseudo_gone"), ("n_leaving", "is_learned")  # of loo_scores

ctypedef fused amount:
    int32_t
    double

LooTexts = namedtuple(
    "LooTexts", "scores gone own pooled weight taken pseudo_gone n_leaving is_learned", module=__name__
)
LooTexts.__doc__ = """What was worked out of texts that were left out, each of its own sums.

    scores        (texts, K) Σ x·log (n + a) of the words that stay; of the own class it means nothing
    gone          (texts, K) what the sums of each class lose with the words that leave
    own           Σ x·log (n + a) of the own class
    pooled        Σ x·log N of all classes together, where the multinomial has no pseudo-counts
    weight        Σ x
    taken         what the words that stay lose in the own class
    pseudo_gone   Σ a of the words that leave, where it is given
    n_leaving     int64: the words that leave
    is_learned    bool: whether the sums can hold the text
"""


cdef class LooSums:
    """The sums of texts per word and class that occur together, by word, then class.

    starts (int64, V + 1), labels (int32), rows (int64), n     the pairs: texts, and what was counted
    total (V), texts (int64, V)     of each word in all classes; texts is 0 where it is not read out
    least         a word that is in fewer texts leaves
    term          x, what a text has of a word: "count", "log" or "binary", as score_words has it; "unit" is 1
                  of a word that was counted as often as the text has it
    score         what other classes than the text's own add for a word: "fixed", x·deltas of the pair;
                  x·log (n + a), "multinomial"; x·log (total − n without the text + a), "complement"
    pseudo        a: m, "same"; m / words, "uniform"; m·(total + 1) / Σ (total + 1), "marginal"; of each
                  word, "given", of which m is the sum
    leaves        of each pair: what its class loses with the word (n where it is None)
    texts_of (K)  texts + a_0, for the own class's texts without the word to be taken from `own`
    with_word (V), all_texts      for idf = 1 + log (1 + all_texts) / (1 + with_word), which weighs x, n and total

    It never changes, and threads may share it.
    """

    cdef loo_sums at
    cdef list held
    cdef Py_ssize_t n_words

    def __init__(
        self, starts, labels, rows, n, total, texts, n_classes, least=1, term="count", score="multinomial",
        pseudo="same", m=1.0, given=None, leaves=None, deltas=None, texts_of=None, with_word=None, all_texts=0.0,
    ):
        starts, texts = (np.asarray(each, dtype=np.int64) for each in (starts, texts))
        rows = np.ascontiguousarray(rows, dtype=np.int64)
        labels = np.ascontiguousarray(labels, dtype=np.int32)
        n, total = (np.ascontiguousarray(each, dtype=np.float64) for each in (n, total))
        leaves, deltas = (n if each is None else np.ascontiguousarray(each, dtype=np.float64) for each in (leaves, deltas))
        if not len(starts) - 1 == len(total) == len(texts):
            raise ValueError(f"There are {len(total)} words: starts must be one longer, texts as long.")
        if not len(labels) == len(rows) == len(n) == len(leaves) == len(deltas):
            raise ValueError(f"There are {len(n)} pairs: labels, rows, leaves and deltas must be as long.")
        if starts[0] != 0 or starts[len(total)] != len(n) or np.diff(starts).min(initial=0) < 0:
            raise ValueError(f"starts must ascend from 0 to {len(n)}.")
        if len(n) and not 0 <= labels.min() <= labels.max() < n_classes:
            raise ValueError(f"labels must be from 0 to {n_classes - 1}.")
        cdef left_word[::1] words = np.zeros(
            len(total), dtype=[("start", "i8"), ("n", "i4"), ("texts", "i4"), ("total", "f8")]
        )
        held = np.asarray(words)  # side by side: a word is looked up once
        held["start"], held["n"], held["total"] = starts[: len(total)], np.diff(starts), total
        held["texts"] = np.minimum(texts, np.iinfo(np.int32).max)
        self.at.K, self.at.least, self.at.n_words = n_classes, least, (texts > 0).sum()
        self.at.everything, self.at.all_texts = total[texts > 0].sum(), all_texts
        self.at.term, self.at.score = TERMS.index(term), SCORES.index(score)
        self.at.pseudo, self.at.m = PSEUDO.index(pseudo), m
        cdef const int64_t[::1] rows_ = rows
        cdef const int32_t[::1] labels_ = labels
        cdef const double[::1] n_ = n, leaves_ = leaves, deltas_ = deltas
        self.at.words, self.at.rows, self.at.labels = &words[0], &rows_[0], &labels_[0]
        self.at.n, self.at.leaves, self.at.deltas = &n_[0], &leaves_[0], &deltas_[0]
        self.n_words = len(total)
        self.held = [words, rows, labels, n, leaves, deltas]
        self.at.given = self.hold(given, len(total))
        self.at.texts_of = self.hold(texts_of, n_classes)
        self.at.with_word = self.hold(with_word, len(total))
        self.at.log1p_with_word = self.hold(None if with_word is None else np.log1p(with_word), len(total))

    cdef const double* hold(self, given, Py_ssize_t size) except? NULL:
        """Keep so many numbers, and find where they are; NULL for None."""
        if given is None:
            return NULL
        self.held.append(np.ascontiguousarray(given, dtype=np.float64))
        cdef const double[::1] numbers = self.held[len(self.held) - 1]
        if numbers.shape[0] != size:
            raise ValueError(f"There must be {size} numbers, not {numbers.shape[0]}.")
        return &numbers[0]

    def without(
        self, const int64_t[::1] indptr not None, const int32_t[::1] words not None, const amount[::1] tf not None,
        const int32_t[::1] y not None, const double[::1] weights not None,
    ):
        """Score each text of a matrix of counts under the sums without it, as LooTexts."""
        cdef Py_ssize_t n = y.shape[0], i, j, a, b, longest, K = self.at.K
        if indptr.shape[0] != n + 1 or weights.shape[0] != n:
            raise ValueError(f"There are {n} classes: indptr must be one longer, weights as long.")
        if words.shape[0] != tf.shape[0] or (words.shape[0] and not 0 <= np.min(words) <= np.max(words) < self.n_words):
            raise ValueError(f"Words must be from 0 to {self.n_words - 1}, and each have a tf.")
        if n and not 0 <= np.min(y) <= np.max(y) < K:
            raise ValueError(f"y must be from 0 to {K - 1}.")
        check_starts(np.asarray(indptr), words.shape[0], "indptr")
        texts = np.empty(n, dtype=[(name, "f8") for name in SUMS] + [(name, "i8") for name in COUNTS])
        scored, lost = np.zeros((n, K)), np.zeros((n, K))
        cdef loo_scores[::1] text = texts
        cdef double[:, ::1] scores = scored, gone = lost
        longest = np.diff(indptr).max(initial=0)
        cdef int32_t[::1] word = np.empty(longest, np.int32)
        cdef int64_t[::1] own_pair = np.empty(longest, np.int64)
        cdef double[:, ::1] room = np.empty((5, longest))
        cdef double[::1] pairs = np.empty(max(WITHOUT_BLOCK, K))
        cdef int64_t[::1] hits = np.zeros(K, np.int64)
        cdef left_words t
        t.word, t.own, t.x, t.taken = &word[0], &own_pair[0], &room[0, 0], &room[1, 0]
        t.idf, t.pseudo, t.logs, t.pairs = &room[2, 0], &room[3, 0], &room[4, 0], &pairs[0]
        t.hits = &hits[0]
        with nogil:
            for i in range(n):
                a, b = indptr[i], indptr[i + 1]
                for j in range(b - a):
                    t.x[j] = tf[a + j]
                text[i] = loo_text(&self.at, &words[a], b - a, y[i], weights[i], &t, &scores[i, 0], &gone[i, 0])
        columns = {name: np.ascontiguousarray(texts[name]) for name in (*SUMS, "n_leaving")}
        return LooTexts(scored, lost, is_learned=texts["is_learned"] != 0, **columns)

