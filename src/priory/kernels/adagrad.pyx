"""Numbers that words add to the scores of classes, learned text by text.

Texts are rows of words with what each has of them: row i from indptr[i] to indptr[i + 1] of words
and x. A word below 0 is skipped.
"""

from libc.math cimport log1p, sqrt
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free, malloc

from priory.kernels.shapes cimport check_length, check_shape, check_starts

import numpy as np

cdef extern from "adagrad.h" nogil:
    ctypedef struct adagrad:
        const int64_t* indptr
        const int32_t* words
        const float* x
        const int32_t* slots
        const float* decay
        float* numbers
        int64_t wide

    void adagrad_scores(const adagrad*, int64_t, float*)
    void adagrad_step(const adagrad*, int64_t, const float*, float)
    float adagrad_residuals(float*, int64_t, int64_t, float, float)


def add_pairs_csr(
    const int64_t[::1] indptr not None, const int32_t[::1] words not None, const float[::1] x not None,
    const int32_t[::1] group not None, const int64_t[::1] starts not None, const int32_t[::1] labels not None,
    const float[:, ::1] values not None, float[:, ::1] out not None,
):
    """Add x·values[group of the row, j] to out[i, labels[j]] for the pairs j of each word of row i.

    The pairs of word w are those from starts[w] to starts[w + 1], in ascending order of labels.

    group (n,), labels (P,), values (groups, P), out (n, K)
    """
    cdef Py_ssize_t n = group.shape[0], K = out.shape[1], i, q, j, k
    cdef const float* of_group
    cdef float* row
    cdef float times
    check_rows(indptr, words, x, n, starts.shape[0] - 1)
    check_starts(np.asarray(starts), labels.shape[0], "starts")
    check_length(values.shape[1], labels.shape[0], "values")
    check_length(out.shape[0], n, "out")
    check_codes(np.asarray(group), values.shape[0], "group", 0)
    check_codes(np.asarray(labels), out.shape[1], "labels", 0)
    if labels.shape[0] == 0 or n == 0:
        return
    with nogil:
        for i in range(n):
            of_group = &values[group[i], 0]
            row = &out[i, 0]
            for q in range(indptr[i], indptr[i + 1]):
                if words[q] < 0:
                    continue
                times, j = x[q], starts[words[q]]
                if starts[words[q] + 1] - j == K:  # all classes, in their order
                    for k in range(K):
                        row[k] += times * of_group[j + k]
                else:
                    for j in range(j, starts[words[q] + 1]):
                        row[labels[j]] += times * of_group[j]


def take_groups(
    const int64_t[::1] indptr not None, const int32_t[::1] words not None, const int32_t[::1] tf not None,
    const int32_t[::1] y not None, const double[::1] own not None, const int32_t[::1] group not None,
    const int64_t[::1] starts not None, const int32_t[::1] labels not None,
    double[:, ::1] left not None, double[:, ::1] having not None, int32_t first, int32_t last,
):
    """Take each row of the groups from `first` to `last` − 1 out of its group's sums.

    Of its words and its class that is own·x, and own of its words.

    x is log(1 + tf) / ‖log(1 + tf)‖₂. The pairs of word w are those from starts[w] to starts[w + 1], in
    ascending order of labels; a pair that is not there has nothing to lose.

    left (groups, pairs), having (groups, words)
    """
    cdef Py_ssize_t n = y.shape[0], i, q
    cdef int64_t low, high, middle
    cdef double length
    check_rows(indptr, words, None, n, starts.shape[0] - 1)
    check_starts(np.asarray(starts), labels.shape[0], "starts")
    check_length(tf.shape[0], words.shape[0], "tf")
    check_length(own.shape[0], n, "own")
    check_length(group.shape[0], n, "group")
    check_codes(np.asarray(group), left.shape[0], "group", 0)
    check_length(left.shape[1], labels.shape[0], "left")
    check_shape(having.shape[0], having.shape[1], left.shape[0], starts.shape[0] - 1, "having")
    with nogil:
        for i in range(n):
            if not first <= group[i] < last:
                continue
            length = 0.0
            for q in range(indptr[i], indptr[i + 1]):
                length += log1p_of(tf[q]) ** 2
            length = own[i] / sqrt(length) if length > 0.0 else 0.0
            for q in range(indptr[i], indptr[i + 1]):
                if words[q] < 0:
                    continue
                having[group[i], words[q]] -= own[i]
                low, high = starts[words[q]], starts[words[q] + 1]
                if y[i] >= 0 and y[i] < high - low and labels[low + y[i]] == y[i]:  # it has all classes
                    low = high = low + y[i]
                while low < high:
                    middle = (low + high) // 2
                    if labels[middle] < y[i]:
                        low = middle + 1
                    else:
                        high = middle
                if low < starts[words[q] + 1] and labels[low] == y[i]:
                    left[group[i], low] -= length * log1p_of(tf[q])


def known_words(
    const int64_t[::1] indptr not None, int32_t[::1] words not None, const int32_t[::1] tf not None,
    const int32_t[::1] group not None, const uint8_t[:, ::1] known not None, float[::1] x not None,
):
    """Put −1 for the words that are not known without the row's group, and write x of the others.

    x is log(1 + tf) / ‖log(1 + tf)‖₂ over the words that are known, and 0 of the others.

    known (groups, words)
    """
    cdef Py_ssize_t n = group.shape[0], i, q
    cdef double length
    check_rows(indptr, words, x, n, known.shape[1])
    check_length(tf.shape[0], words.shape[0], "tf")
    check_codes(np.asarray(group), known.shape[0], "group", 0)
    with nogil:
        for i in range(n):
            length = 0.0
            for q in range(indptr[i], indptr[i + 1]):
                if words[q] >= 0 and not known[group[i], words[q]]:
                    words[q] = -1
                if words[q] >= 0:
                    length += log1p_of(tf[q]) ** 2
            length = 1.0 / sqrt(length) if length > 0.0 else 0.0
            for q in range(indptr[i], indptr[i + 1]):
                x[q] = <float> (length * log1p_of(tf[q])) if words[q] >= 0 else 0.0


cdef inline double log1p_of(int32_t tf) noexcept nogil:
    return LOGS[tf] if 0 <= tf < 256 else log1p(tf)


cdef double LOGS[256]
for _tf in range(256):
    LOGS[_tf] = log1p(_tf)


def pair_slots(
    const int64_t[::1] indptr not None, const int32_t[::1] words not None, const int32_t[:, ::1] active not None,
    int32_t[:, ::1] slots not None,
):
    """Number the pairs of each entry's word and its row's active classes; return their keys.

    A key is word · 2³² + class. Pairs are numbered as they come.

    active (n, M), slots (entries, M)
    """
    cdef Py_ssize_t n = active.shape[0], M = active.shape[1], i, q, m
    cdef PairTable table = PairTable()
    check_rows(indptr, words, None, n, 1 << 31)
    check_shape(slots.shape[0], slots.shape[1], words.shape[0], M, "slots")
    check_codes(np.asarray(active), 1 << 31, "active", 0)
    table.resize(1 << 16)
    with nogil:
        for i in range(n):
            for q in range(indptr[i], indptr[i + 1]):
                for m in range(M):
                    slots[q, m] = 0
                    if words[q] < 0:
                        continue
                    if 2 * (table.count + 1) > table.size:
                        with gil:
                            table.resize(4 * table.size)
                    slots[q, m] = table.place(<uint64_t> words[q] << 32 | <uint64_t> active[i, m])
    return table.keys()


cdef class PairTable:
    """Pairs and their numbers, by open addressing."""

    cdef uint64_t* pairs
    cdef int32_t* numbers
    cdef uint64_t size
    cdef uint64_t count

    def __dealloc__(self):
        free(self.pairs)
        free(self.numbers)

    cdef int resize(self, uint64_t size) except -1:
        cdef uint64_t* pairs = <uint64_t*> malloc(size * sizeof(uint64_t))
        cdef int32_t* numbers = <int32_t*> calloc(size, sizeof(int32_t))
        cdef uint64_t i, at
        if pairs == NULL or numbers == NULL:
            free(pairs)
            free(numbers)
            raise MemoryError
        for i in range(self.size):
            if self.numbers[i]:
                at = hashed(self.pairs[i]) & (size - 1)
                while numbers[at]:
                    at = (at + 1) & (size - 1)
                pairs[at], numbers[at] = self.pairs[i], self.numbers[i]
        free(self.pairs)
        free(self.numbers)
        self.pairs, self.numbers, self.size = pairs, numbers, size
        return 0

    cdef int32_t place(self, uint64_t key) noexcept nogil:
        cdef uint64_t at = hashed(key) & (self.size - 1)
        while self.numbers[at]:
            if self.pairs[at] == key:
                return self.numbers[at] - 1
            at = (at + 1) & (self.size - 1)
        self.pairs[at] = key
        self.count += 1
        self.numbers[at] = <int32_t> self.count
        return <int32_t> (self.count - 1)

    cdef object keys(self):
        found = np.empty(self.count, dtype=np.int64)
        cdef int64_t[::1] out = found
        cdef uint64_t i
        for i in range(self.size):
            if self.numbers[i]:
                out[self.numbers[i] - 1] = <int64_t> self.pairs[i]
        return found


cdef inline uint64_t hashed(uint64_t key) noexcept nogil:
    key = (key ^ (key >> 30)) * <uint64_t> 0xBF58476D1CE4E5B9
    key = (key ^ (key >> 27)) * <uint64_t> 0x94D049BB133111EB
    return key ^ (key >> 31)


def learn_words(
    const int32_t[::1] order not None, const int64_t[::1] indptr not None, const int32_t[::1] words not None,
    const float[::1] x not None, const int32_t[::1] own not None, const float[::1] weight not None,
    const float[:, ::1] offset not None, const float[:, ::1] evidence not None, const float[:, ::1] rest not None,
    const int32_t[:, ::1] active, const int32_t[:, ::1] slots, float[:, :, ::1] numbers not None,
    const float[::1] decay not None, double[:, ::1] bias not None, double[::1] trust not None,
    double eta, double bias_rate, double trust_rate,
):
    """Take one step for each text, in an order.

        score = offset + trust[0]·evidence + bias[0] + Σ x·number

    own (n,)            the place of the row's class among its S scores; of two classes with S = 1, its code
    offset, evidence (n, S)
    rest (n, 2)         of the classes that have no score here: log Σ e^offset, and their mean evidence
    numbers             and the sums of their squared slopes: (words, 2, at least S), beyond S zeros
    active, slots       None: the S scores are of all classes; else the class of each score (n, S), and
                        which of numbers (·, 2, 1) is that of each entry and score (entries, S)
    decay               of each word: how strongly each of its numbers is held to 0 at each step
    bias (2, K), trust (2,)   with the sums of their squared slopes
    """
    cdef Py_ssize_t n = offset.shape[0], S = offset.shape[1], i, m, k, K = bias.shape[1], wide
    cdef int64_t d
    cdef adagrad a
    cdef double slope, r
    check_rows(indptr, words, x, n, decay.shape[0])
    check_codes(np.asarray(order), n, "order", 0)
    check_length(own.shape[0], n, "own")
    check_codes(np.asarray(own), max(S, 2), "own", -1)
    check_length(weight.shape[0], n, "weight")
    check_shape(rest.shape[0], rest.shape[1], n, 2, "rest")
    check_shape(evidence.shape[0], evidence.shape[1], n, S, "evidence")
    check_length(numbers.shape[1], 2, "numbers")
    check_length(bias.shape[0], 2, "bias")
    check_length(trust.shape[0], 2, "trust")
    if (active is None) != (slots is None):
        raise ValueError("active and slots must both be given, or neither.")
    if active is None:
        check_length(K, S, "bias")
        check_length(numbers.shape[0], decay.shape[0], "numbers")
        if numbers.shape[2] < S:
            raise ValueError(f"numbers must be at least {S} wide, not {numbers.shape[2]}.")
    else:
        check_shape(active.shape[0], active.shape[1], n, S, "active")
        check_shape(slots.shape[0], slots.shape[1], words.shape[0], S, "slots")
        check_codes(np.asarray(active), K, "active", 0)
        check_length(numbers.shape[2], 1, "numbers")
        check_codes(np.asarray(slots), numbers.shape[0], "slots", 0)
    if n == 0 or S == 0 or words.shape[0] == 0 or numbers.shape[0] == 0 or order.shape[0] == 0:
        return
    wide = S if slots is not None else numbers.shape[2]
    cdef float[::1] p = np.zeros(wide, dtype=np.float32)
    a.indptr, a.words, a.x, a.wide = &indptr[0], &words[0], &x[0], wide
    a.decay, a.numbers = &decay[0], &numbers[0, 0, 0]
    a.slots = NULL if slots is None else &slots[0, 0]
    with nogil:
        for i in range(order.shape[0]):
            d = order[i]
            for m in range(S, wide):
                p[m] = 0.0
            for m in range(S):
                k = m if active is None else active[d, m]
                p[m] = <float> (offset[d, m] + trust[0] * evidence[d, m] + bias[0, k])
            adagrad_scores(&a, d, &p[0])
            slope = rest[d, 1] * adagrad_residuals(
                &p[0], S, own[d], weight[d], <float> (rest[d, 0] + trust[0] * rest[d, 1])
            )
            for m in range(S):
                k = m if active is None else active[d, m]
                r = p[m]
                slope += r * evidence[d, m]
                bias[1, k] += r * r
                bias[0, k] -= bias_rate * r / sqrt(bias[1, k] + 1.0)
            trust[1] += slope * slope
            trust[0] -= trust_rate * slope / sqrt(trust[1] + 0.05 * n)
            adagrad_step(&a, d, &p[0], <float> eta)


cdef int check_rows(
    const int64_t[::1] indptr, const int32_t[::1] words, const float[::1] x, Py_ssize_t n, Py_ssize_t size
) except -1:
    """Check rows of words, each below a size."""
    check_length(indptr.shape[0], n + 1, "indptr")
    check_starts(np.asarray(indptr), words.shape[0], "indptr")
    if x is not None:
        check_length(x.shape[0], words.shape[0], "x")
    return check_codes(np.asarray(words), size, "words", -1)


cdef int check_codes(codes, Py_ssize_t size, str name, int least) except -1:
    if codes.size and (codes.min() < least or codes.max() >= size):
        raise ValueError(f"{name} must be from {least} to {size - 1}.")
    return 0
