/* Sums per (word, class) as six arrays, by word, then class: sorted, added and subtracted. */
#ifndef PRIORY_PAIRS_H
#define PRIORY_PAIRS_H

#include "clones.h"

typedef struct {
    int32_t *word, *label;
    int64_t *rows;
    double *weight, *count, *log_tf; /* no weight: that of each row is 1 */
    int64_t n;
} pair_arrays;

static inline double pair_weight(const pair_arrays *p, int64_t i)
{
    return p->weight ? p->weight[i] : (double)p->rows[i];
}

static inline uint64_t pair_key(const pair_arrays *p, int64_t i)
{
    return (uint64_t)(uint32_t)p->word[i] << 32 | (uint32_t)p->label[i];
}

static inline void pair_copy(const pair_arrays *to, int64_t i, const pair_arrays *from, int64_t j)
{
    to->word[i] = from->word[j];
    to->label[i] = from->label[j];
    to->rows[i] = from->rows[j];
    if (to->weight)
        to->weight[i] = pair_weight(from, j);
    to->count[i] = from->count[j];
    to->log_tf[i] = from->log_tf[j];
}

/* Return the first pair that does not come after the one before it, or n. */
PRIORY_UNUSED static int64_t pairs_ordered(const pair_arrays *p)
{
    for (int64_t i = 1; i < p->n; i++)
        if (pair_key(p, i) <= pair_key(p, i - 1))
            return i;
    return p->n;
}

/* Write the order of n keys, each below `keys`; of equal ones, that of `before`, or as they come. */
static int counting_order(const int32_t *key, int64_t n, int64_t keys, const int64_t *before, int64_t *order)
{
    int64_t *next = (int64_t *)calloc((size_t)keys + 1, sizeof(int64_t));
    if (next == NULL)
        return -1;
    for (int64_t i = 0; i < n; i++)
        next[key[i] + 1]++;
    for (int64_t k = 0; k < keys; k++)
        next[k + 1] += next[k];
    for (int64_t i = 0; i < n; i++) {
        int64_t at = before ? before[i] : i;
        order[next[key[at]]++] = at;
    }
    free(next);
    return 0;
}

/* Write the pairs by word, then class; codes are below `words` and `labels`. */
PRIORY_UNUSED static int pairs_arrange(const pair_arrays *p, int64_t words, int64_t labels, const pair_arrays *out)
{
    int64_t *order = (int64_t *)malloc((size_t)(p->n + 1) * sizeof(int64_t));
    int64_t *before = NULL;
    int failed = order == NULL || counting_order(p->word, p->n, words, NULL, order) < 0;
    for (int64_t i = 1; !failed && i < p->n; i++) {
        int64_t a = order[i - 1], b = order[i];
        if (p->word[a] != p->word[b] || p->label[a] < p->label[b])
            continue;
        before = (int64_t *)malloc((size_t)p->n * sizeof(int64_t)); /* classes first, then words */
        failed = before == NULL || counting_order(p->label, p->n, labels, NULL, before) < 0
                 || counting_order(p->word, p->n, words, before, order) < 0;
        break;
    }
    for (int64_t i = 0; !failed && i < p->n; i++) {
        if (i + 16 < p->n) {
            PRIORY_PREFETCH(p->rows + order[i + 16]);
            if (p->weight)
                PRIORY_PREFETCH(p->weight + order[i + 16]);
            PRIORY_PREFETCH(p->count + order[i + 16]);
            PRIORY_PREFETCH(p->log_tf + order[i + 16]);
        }
        pair_copy(out, i, p, order[i]);
    }
    free(before);
    free(order);
    return failed ? -1 : 0;
}

/* Return how many pairs are in a, in b or in both. */
PRIORY_UNUSED static int64_t pairs_union(const pair_arrays *a, const pair_arrays *b)
{
    int64_t i = 0, j = 0, n = 0;
    for (; i < a->n && j < b->n; n++) {
        uint64_t p = pair_key(a, i), q = pair_key(b, j);
        i += p <= q;
        j += q <= p;
    }
    return n + (a->n - i) + (b->n - j);
}

PRIORY_UNUSED static void pairs_sum(const pair_arrays *a, const pair_arrays *b, const pair_arrays *out)
{
    int64_t i = 0, j = 0, n = 0;
    for (; i < a->n && j < b->n; n++) {
        uint64_t p = pair_key(a, i), q = pair_key(b, j);
        if (p > q) {
            pair_copy(out, n, b, j++);
            continue;
        }
        pair_copy(out, n, a, i++);
        if (p == q) {
            out->rows[n] += b->rows[j];
            if (out->weight)
                out->weight[n] += pair_weight(b, j);
            out->count[n] += b->count[j];
            out->log_tf[n] += b->log_tf[j++];
        }
    }
    for (; i < a->n; i++)
        pair_copy(out, n++, a, i);
    for (; j < b->n; j++)
        pair_copy(out, n++, b, j);
}

/* Return a − b, 0 where it is below by no more than rounding; `*bad` is set where it is below. */
static inline double sum_less(double a, double b, int *bad)
{
    double left = a - b;
    if (left >= 0.0)
        return left;
    if (!(left >= -1e-9 * a))
        *bad = 1;
    return 0.0;
}

/* Write a − b without the pairs that have no rows left, if there is an `out`; return how many they
 * are. Else return −1 where a has too few rows, −2 where it has too little of another sum, with the
 * place in b in `*at` and that in a, or −1, in `*in_a`. */
PRIORY_UNUSED static int64_t pairs_difference(const pair_arrays *a, const pair_arrays *b, const pair_arrays *out,
                                              int64_t *at, int64_t *in_a)
{
    int64_t i = 0, n = 0;
    for (int64_t j = 0; j < b->n; j++) {
        uint64_t q = pair_key(b, j);
        for (; i < a->n && pair_key(a, i) < q; i++, n++)
            if (out)
                pair_copy(out, n, a, i);
        *at = j;
        *in_a = -1;
        if (i == a->n || pair_key(a, i) > q)
            return -1;
        *in_a = i;
        if (b->rows[j] > a->rows[i])
            return -1;
        int bad = 0;
        double weight = sum_less(pair_weight(a, i), pair_weight(b, j), &bad);
        double count = sum_less(a->count[i], b->count[j], &bad);
        double log_tf = sum_less(a->log_tf[i], b->log_tf[j], &bad);
        if (bad)
            return -2;
        if (a->rows[i] > b->rows[j]) {
            if (out) {
                pair_copy(out, n, a, i);
                out->rows[n] -= b->rows[j];
                if (out->weight)
                    out->weight[n] = weight;
                out->count[n] = count;
                out->log_tf[n] = log_tf;
            }
            n++;
        }
        i++;
    }
    for (; i < a->n; i++, n++)
        if (out)
            pair_copy(out, n, a, i);
    return n;
}

#endif
