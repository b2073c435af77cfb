/* Numbers counted in cells: the distinct values, or what is left of them when bits are dropped. */
#ifndef PRIORY_CELLS_H
#define PRIORY_CELLS_H

#include "hashing.h"

/* Distinct keys in order of arrival, found by open addressing, with counts per key and class. */
typedef struct {
    int level, bits; /* bits dropped from a float64; log2 of the slots */
    ptrdiff_t classes, count;
    int32_t *slots; /* (1 << bits,) the place of a key, or −1 */
    int64_t *keys, *rows;
    double *total; /* NULL when every weight is 1 */
} cells;

/* The bits of a float64 as an integer of the same order; −0.0 counts as 0.0. */
static inline int64_t ordered_bits(double x)
{
    int64_t bits;
    x += 0.0;
    memcpy(&bits, &x, sizeof bits);
    return bits ^ ((bits >> 63) & INT64_MAX);
}

static inline uint64_t slot_of(int64_t key, int bits)
{
    return hash_of((uint64_t)key, 0) >> (64 - bits);
}

/* The place of a key; a new one, with counts of zero, if it was not there. */
static inline ptrdiff_t place_of(cells *t, int64_t key)
{
    uint64_t slot = slot_of(key, t->bits), last = ((uint64_t)1 << t->bits) - 1;
    for (;; slot = (slot + 1) & last) {
        int32_t place = t->slots[slot];
        if (place < 0) {
            t->slots[slot] = (int32_t)t->count;
            t->keys[t->count] = key;
            return t->count++;
        }
        if (t->keys[place] == key)
            return place;
    }
}

/* Drop the last bit of every key and merge the cells that meet. */
PRIORY_UNUSED static void halve_cells(cells *t)
{
    ptrdiff_t before = t->count, K = t->classes, i, k;
    memset(t->slots, 0xFF, sizeof(int32_t) << t->bits); /* every slot −1 */
    t->count = 0;
    t->level++;
    for (i = 0; i < before; i++) {
        /* Never beyond i, so no key is overwritten before it is read. */
        ptrdiff_t into = place_of(t, t->keys[i] >> 1);
        if (into == i)
            continue;
        for (k = 0; k < K; k++) {
            t->rows[into * K + k] += t->rows[i * K + k];
            t->rows[i * K + k] = 0;
            if (t->total != NULL) {
                t->total[into * K + k] += t->total[i * K + k];
                t->total[i * K + k] = 0.0;
            }
        }
    }
}

/* Count adjacent doubles; NaN is skipped. */
PRIORY_UNUSED static void count_into_cells(cells *t, const double *x, ptrdiff_t n, const int32_t *y,
                                           const double *weight, ptrdiff_t limit)
{
    const int32_t *slots = t->slots;
    const int64_t *keys = t->keys;
    int64_t *rows = t->rows;
    double *total = t->total;
    ptrdiff_t K = t->classes;
    int level = t->level, bits = t->bits;
    for (ptrdiff_t i = 0; i < n; i++) {
        if (x[i] != x[i])
            continue;
        int64_t key = ordered_bits(x[i]) >> level;
        ptrdiff_t place = slots[slot_of(key, bits)];
        if (place < 0 || keys[place] != key) {
            place = place_of(t, key);
            while (t->count > limit && t->level < 63) {
                halve_cells(t);
                level = t->level;
                place = place_of(t, ordered_bits(x[i]) >> level);
            }
        }
        rows[place * K + y[i]] += 1;
        if (weight != NULL)
            total[place * K + y[i]] += weight[i];
    }
}

#endif
