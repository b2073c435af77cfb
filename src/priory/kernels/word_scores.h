/* What the words of a text add to the scores of K classes.
 * A word is dense, with a row of K numbers; or sparse, with numbers for some classes and the rest
 * shared: scale·class_part[k] + constant for every class, summed over the text's words first. */
#ifndef PRIORY_WORD_SCORES_H
#define PRIORY_WORD_SCORES_H

#include "documents.h"

typedef struct {
    int64_t V, K;
    const int32_t *place; /* of each word: its dense row, TEXT_SPARSE or TEXT_DROPPED */
    const double *dense;
    const int64_t *starts; /* of each word's classes, in ascending order */
    const int32_t *labels;
    const double *deltas, *scale, *constant, *class_part;
    int zero; /* a class without a number for a sparse word is impossible */
} word_scores;

typedef struct { /* of one text */
    double scale, constant;
    int64_t words, *hits; /* sparse words; how many of them have a number, per class */
} sparse_sums;

static inline void add_row(double *restrict out, const double *restrict row, ptrdiff_t K, double times)
{
    for (ptrdiff_t k = 0; k < K; k++)
        out[k] += times * row[k];
}

PRIORY_INLINE void prefetch_row(const double *row, ptrdiff_t K)
{
    for (ptrdiff_t k = 0; k < K && k < 64; k += 8)
        PRIORY_PREFETCH(row + k);
}

PRIORY_INLINE void prefetch_sparse(const word_scores *s, int32_t code)
{
    PRIORY_PREFETCH(s->starts + code);
    PRIORY_PREFETCH(s->scale + code);
    PRIORY_PREFETCH(s->constant + code);
}

static inline void add_sparse(const word_scores *s, int32_t code, double times, sparse_sums *sums, double *out)
{
    sums->words++;
    sums->scale += times * s->scale[code];
    sums->constant += times * s->constant[code];
    for (int64_t j = s->starts[code]; j < s->starts[code + 1]; j++) {
        out[s->labels[j]] += times * s->deltas[j];
        if (s->zero)
            sums->hits[s->labels[j]]++;
    }
}

/* Add what the sparse words of a text share, and begin the next text. */
PRIORY_UNUSED static void score_end(const word_scores *s, sparse_sums *sums, double *out)
{
    if (sums->words == 0)
        return;
    for (int64_t k = 0; k < s->K; k++) {
        if (sums->scale != 0.0) /* 0 · −inf is 0 */
            out[k] += sums->scale * s->class_part[k];
        out[k] += sums->constant;
        if (s->zero) {
            if (sums->hits[k] < sums->words)
                out[k] = -INFINITY;
            sums->hits[k] = 0;
        }
    }
    sums->words = 0;
    sums->scale = sums->constant = 0.0;
}

/* Add the scores of words, once for each time they occur; `found` has room for n. */
PRIORY_CLONES PRIORY_UNUSED static void score_block(const vocabulary *v, const word_scores *s, const text_word *words,
                                      ptrdiff_t n, int32_t *found, sparse_sums *sums, double *out)
{
    ptrdiff_t dense = 0, sparse = n; /* rows from the front, sparse words from the back */
    prefetch_words(v, words, n, s->place);
    for (ptrdiff_t i = 0; i < n; i++) {
        int32_t code = vocabulary_find(v, words + i);
        if (code < 0 || code >= s->V)
            continue;
        int32_t place = s->place[code];
        if (place >= 0) {
            found[dense++] = place;
            prefetch_row(s->dense + place * s->K, s->K);
        } else if (place == TEXT_SPARSE) {
            found[--sparse] = code;
            prefetch_sparse(s, code);
        }
    }
    for (ptrdiff_t i = 0; i < dense; i++)
        add_row(out, s->dense + found[i] * s->K, s->K, 1.0);
    for (ptrdiff_t i = sparse; i < n; i++) {
        if (i + TEXT_AHEAD < n) {
            int64_t start = s->starts[found[i + TEXT_AHEAD]];
            PRIORY_PREFETCH(s->labels + start);
            PRIORY_PREFETCH(s->deltas + start);
        }
        add_sparse(s, found[i], 1.0, sums, out);
    }
}

/* Add the scores of a counted document's words, times 1 or log(1 + tf) / length, and clear it. */
PRIORY_CLONES PRIORY_UNUSED static void score_document(document *d, int log_tf, const word_scores *s, sparse_sums *sums,
                                         double *out)
{
    double scale = log_tf ? document_scale(d) : 0.0;
    for (int64_t i = 0; i < d->n_seen; i++) {
        if (i + 2 * TEXT_AHEAD < d->n_seen) {
            int32_t ahead = d->seen[i + 2 * TEXT_AHEAD];
            if (s->place[ahead] >= 0)
                prefetch_row(s->dense + s->place[ahead] * s->K, s->K);
            else
                prefetch_sparse(s, ahead);
        }
        int32_t code = d->seen[i];
        double times = log_tf ? scale * log1p_tf(d->tf[code]) : 1.0;
        if (s->place[code] >= 0)
            add_row(out, s->dense + s->place[code] * s->K, s->K, times);
        else
            add_sparse(s, code, times, sums, out);
    }
    document_clear(d);
}

#endif
