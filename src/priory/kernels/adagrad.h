/* One pass of AdaGrad (Duchi, Hazan & Singer 2011) over texts, for the numbers that words add to the
 * scores of classes. Each number has a step of its own, eta / √(sum of its squared slopes). */
#ifndef PRIORY_ADAGRAD_H
#define PRIORY_ADAGRAD_H

#include "clones.h"

#define ADAGRAD_AHEAD 12
#define LEAST_SQUARES 1e-6f

/* Texts are lists of words, and a word below 0 has no numbers. The numbers of a word are in a row of
 * `wide`, as many as there are scores and some zeros, so that whole registers are worked on; behind them
 * are as many sums of squared slopes. With `slots` each number has a place of its own, with its sum. */
typedef struct {
    const int64_t *indptr;
    const int32_t *words;
    const float *x;
    const int32_t *slots; /* entries × wide, or NULL */
    const float *decay;   /* of each word */
    float *numbers;
    int64_t wide;
} adagrad;

PRIORY_INLINE void prefetch_numbers(const adagrad *a, int64_t q, int64_t end)
{
    if (q >= end)
        return;
    if (a->slots != NULL) {
        for (int64_t m = 0; m < a->wide; m++)
            PRIORY_PREFETCH(a->numbers + 2 * (int64_t)a->slots[q * a->wide + m]);
    } else if (a->words[q] >= 0) {
        const float *row = a->numbers + 2 * a->words[q] * a->wide;
        for (int64_t m = 0; m < 2 * a->wide; m += 16)
            PRIORY_PREFETCH(row + m);
    }
}

/* Add what the words from `first` to `end` say. Where `wide` is known to the compiler, the scores stay in
 * registers from word to word. */
PRIORY_INLINE void add_numbers(const adagrad *a, int64_t first, int64_t end, float *restrict p, int64_t wide)
{
    for (int64_t q = first; q < end; q++) {
        prefetch_numbers(a, q + ADAGRAD_AHEAD, end);
        if (a->words[q] < 0)
            continue;
        const float *restrict v = a->numbers + 2 * a->words[q] * wide;
        float x = a->x[q];
        for (int64_t m = 0; m < wide; m++)
            p[m] += x * v[m];
    }
}

/* 1 / √h: a first guess by its bits and a step of Newton's method, both tuned (Kadlec 2010) so that it is
 * right to .07 %, which is enough for the length of a step. Only products, so it is the same everywhere
 * and a fraction of the time of a root and a quotient. */
PRIORY_INLINE float inverse_root(float h)
{
    union {
        float number;
        uint32_t bits;
    } guess = {.number = h};
    guess.bits = 0x5f1ffff9u - (guess.bits >> 1);
    float y = guess.number;
    return 0.703952253f * y * (2.38924456f - h * y * y);
}

PRIORY_INLINE void step_numbers(float *restrict v, float *restrict h, const float *restrict p, int64_t wide, float x,
                                float decay, float eta)
{
    for (int64_t m = 0; m < wide; m++) {
        float slope = p[m] * x + decay * v[m];
        h[m] += slope * slope;
        v[m] -= eta * slope * inverse_root(h[m] + LEAST_SQUARES);
    }
}

PRIORY_INLINE void step_words(const adagrad *a, int64_t first, int64_t end, const float *restrict p, int64_t wide,
                              float eta)
{
    for (int64_t q = first; q < end; q++) {
        if (a->words[q] < 0)
            continue;
        float *v = a->numbers + 2 * a->words[q] * wide;
        step_numbers(v, v + wide, p, wide, a->x[q], a->decay[a->words[q]], eta);
    }
}

/* Add what the words of text d say to its scores. */
PRIORY_CLONES PRIORY_UNUSED static void adagrad_scores(const adagrad *a, int64_t d, float *restrict p)
{
    int64_t wide = a->wide, first = a->indptr[d], end = a->indptr[d + 1];
    for (int64_t q = first; q < first + ADAGRAD_AHEAD; q++)
        prefetch_numbers(a, q, end);
    if (a->slots != NULL) {
        for (int64_t q = first; q < end; q++) {
            prefetch_numbers(a, q + ADAGRAD_AHEAD, end);
            if (a->words[q] < 0)
                continue;
            const int32_t *slots = a->slots + q * wide;
            for (int64_t m = 0; m < wide; m++)
                p[m] += a->x[q] * a->numbers[2 * (int64_t)slots[m]];
        }
    } else if (wide == 1) {
        add_numbers(a, first, end, p, 1);
    } else if (wide == 8) {
        add_numbers(a, first, end, p, 8);
    } else if (wide == 24) {
        add_numbers(a, first, end, p, 24);
    } else {
        add_numbers(a, first, end, p, wide);
    }
}

/* Step against the slopes, given the residuals of text d. */
PRIORY_CLONES PRIORY_UNUSED static void adagrad_step(const adagrad *a, int64_t d, const float *restrict p, float eta)
{
    int64_t wide = a->wide, first = a->indptr[d], end = a->indptr[d + 1];
    if (a->slots != NULL) {
        for (int64_t q = first; q < end; q++) {
            if (a->words[q] < 0)
                continue;
            const int32_t *slots = a->slots + q * wide;
            for (int64_t m = 0; m < wide; m++) {
                float *v = a->numbers + 2 * (int64_t)slots[m];
                step_numbers(v, v + 1, p + m, 1, a->x[q], a->decay[a->words[q]], eta);
            }
        }
    } else if (wide == 1) {
        step_words(a, first, end, p, 1, eta);
    } else if (wide == 8) {
        step_words(a, first, end, p, 8, eta);
    } else if (wide == 24) {
        step_words(a, first, end, p, 24, eta);
    } else {
        step_words(a, first, end, p, wide, eta);
    }
}

/* Turn the scores of one text into w (P − [k = y]), in place; `rest` is the log of Σ e^score over all other
 * classes, and w P of those together is given. */
PRIORY_UNUSED static float adagrad_residuals(float *p, int64_t S, int64_t own, float w, float rest)
{
    if (S == 1) {
        p[0] = w * (1.0f / (1.0f + expf(-p[0])) - (own == 1 ? 1.0f : 0.0f));
        return 0.0f;
    }
    float top = p[0];
    for (int64_t m = 1; m < S; m++)
        top = p[m] > top ? p[m] : top;
    float others = expf(rest - top), total = others;
    for (int64_t m = 0; m < S; m++) {
        p[m] = expf(p[m] - top);
        total += p[m];
    }
    for (int64_t m = 0; m < S; m++)
        p[m] *= w / total;
    if (own >= 0)
        p[own] -= w;
    return others * (w / total);
}

#endif
