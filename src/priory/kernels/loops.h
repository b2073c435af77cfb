/* The innermost loops, in plain C so that each can be compiled twice: once for every CPU and once
 * for AVX2, chosen when the module is loaded. Cython cannot attach that attribute to its functions.
 * Neither clone may use fma, so both give the same bits. */
#ifndef PRIORY_LOOPS_H
#define PRIORY_LOOPS_H

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Clones need x86-64, a dynamic linker with ifunc (glibc) and a compiler that knows the attribute. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__has_attribute)
#if __has_attribute(target_clones)
#define PRIORY_CLONES __attribute__((target_clones("avx2", "default"), unused))
#endif
#endif
#if defined(__GNUC__)
#define PRIORY_UNUSED __attribute__((unused)) /* each module uses some of the loops */
#define PRIORY_INLINE __attribute__((always_inline)) static inline
#else
#define PRIORY_UNUSED
#define PRIORY_INLINE static inline
#endif
#ifndef PRIORY_CLONES
#define PRIORY_CLONES PRIORY_UNUSED
#endif
/* The arrays of the next loop do not overlap. */
#if defined(__clang__)
#define PRIORY_APART _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define PRIORY_APART _Pragma("GCC ivdep")
#else
#define PRIORY_APART
#endif

#if defined(_MSC_VER)
#define restrict __restrict
#endif
#if defined(__GNUC__)
#define PRIORY_PREFETCH(address) __builtin_prefetch(address)
#else
#define PRIORY_PREFETCH(address) ((void)0)
#endif

/* ---- cells of numbers ----------------------------------------------------------------------- */

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

/* Multiply, fold, multiply: the bits in which keys differ may all be high ones, or all low. */
static inline uint64_t slot_of(int64_t key, int bits)
{
    uint64_t h = (uint64_t)key * 0x9E3779B97F4A7C15u;
    return ((h ^ (h >> 32)) * 0x9E3779B97F4A7C15u) >> (64 - bits);
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

/* ---- counts --------------------------------------------------------------------------------- */

/* Presence of one row: rows and Σw where x > threshold. Returns how many entries are not finite. */
PRIORY_CLONES static int64_t count_present_row(const double *restrict x, ptrdiff_t d, double w,
                                               double threshold, int64_t *restrict rows,
                                               double *restrict total)
{
    int64_t wrong = 0;
    ptrdiff_t j;
    for (j = 0; j < d; j++) {
        wrong += !(fabs(x[j]) <= DBL_MAX);
        rows[j] += x[j] > threshold;
    }
    if (total != NULL)
        for (j = 0; j < d; j++)
            total[j] += x[j] > threshold ? w : 0.0;
    return wrong;
}

/* rows, Σw and Σwx of one row where x > 0. total is NULL when every weight is 1: it equals rows.
 * Returns how many entries are negative, NaN or infinite. */
PRIORY_CLONES static int64_t count_row(const double *restrict x, ptrdiff_t d, double w,
                                       int64_t *restrict rows, double *restrict total,
                                       double *restrict s1)
{
    int64_t wrong = 0;
    ptrdiff_t j;
    for (j = 0; j < d; j++) {
        wrong += !(x[j] >= 0.0 && x[j] <= DBL_MAX);
        rows[j] += x[j] > 0.0;
        s1[j] += w * x[j];
    }
    if (total != NULL)
        for (j = 0; j < d; j++)
            total[j] += x[j] > 0.0 ? w : 0.0;
    return wrong;
}

/* out += x · weights over the entries that are not zero, so that 0 · (−inf) = 0. */
PRIORY_CLONES static void add_products(const double *restrict x, ptrdiff_t d,
                                       const double *restrict weights, ptrdiff_t K,
                                       double *restrict out)
{
    for (ptrdiff_t j = 0; j < d; j++)
        if (x[j] != 0.0)
            for (ptrdiff_t k = 0; k < K; k++)
                out[k] += x[j] * weights[j * K + k];
}

/* out[k] += x · weights[k] for each of the nonzero entries of a sparse row. */
#define PRIORY_ADD_SPARSE_ROW(NAME, DATA, INDEX)                                                  \
    PRIORY_CLONES static void NAME(const DATA *data, const INDEX *indices, ptrdiff_t n,           \
                                   const double *weights, ptrdiff_t K, double *restrict out)      \
    {                                                                                             \
        for (ptrdiff_t at = 0; at < n; at++) {                                                    \
            double x = (double)data[at];                                                          \
            const double *restrict w = weights + (ptrdiff_t)indices[at] * K;                      \
            PRIORY_PREFETCH(weights + (ptrdiff_t)indices[at + 8 < n ? at + 8 : at] * K);          \
            if (x != 0.0)                                                                         \
                for (ptrdiff_t k = 0; k < K; k++)                                                 \
                    out[k] += x * w[k];                                                           \
        }                                                                                         \
    }
PRIORY_ADD_SPARSE_ROW(add_sparse_row_f4_i4, float, int32_t)
PRIORY_ADD_SPARSE_ROW(add_sparse_row_f8_i4, double, int32_t)
PRIORY_ADD_SPARSE_ROW(add_sparse_row_i8_i4, int64_t, int32_t)
PRIORY_ADD_SPARSE_ROW(add_sparse_row_f4_i8, float, int64_t)
PRIORY_ADD_SPARSE_ROW(add_sparse_row_f8_i8, double, int64_t)
PRIORY_ADD_SPARSE_ROW(add_sparse_row_i8_i8, int64_t, int64_t)

/* ---- look-up tables ------------------------------------------------------------------------- */

/* A column of codes, where each code stands in a table, and the table (values, classes); or (values,
 * kinds, classes) with kinds, a number for each row. */
typedef struct {
    const char *codes;
    ptrdiff_t stride; /* bytes from one code to the next */
    int width;        /* bytes of a code: 1, 2, 4 or 8 */
    const int32_t *places;
    const int32_t *kinds; /* NULL if all rows are of one kind */
    const double *log_p;
} lookup;

#define PRIORY_LOOK_UP(TYPE)                                                                      \
    for (ptrdiff_t i = 0; i < rows; i++) {                                                        \
        int64_t code = (int64_t) * (const TYPE *)(codes + i * t->stride);                         \
        ptrdiff_t place = code >= 0 ? t->places[code] : -1;                                       \
        if (place >= 0) {                                                                         \
            const double *restrict found = t->log_p + (place + (kinds ? kinds[i] : 0)) * K;       \
            double *restrict row = out + i * K;                                                   \
            for (ptrdiff_t k = 0; k < K; k++)                                                     \
                row[k] += found[k];                                                               \
        }                                                                                         \
    }

/* Add what all the tables say of some rows; few enough rows stay in the first-level cache. */
PRIORY_CLONES static void look_up(const lookup *tables, ptrdiff_t count, ptrdiff_t first,
                                  ptrdiff_t rows, ptrdiff_t K, double *restrict out)
{
    for (ptrdiff_t j = 0; j < count; j++) {
        const lookup *t = tables + j;
        const char *codes = t->codes + first * t->stride;
        const int32_t *kinds = t->kinds ? t->kinds + first : NULL;
        if (t->width == 1)
            PRIORY_LOOK_UP(int8_t)
        else if (t->width == 2)
            PRIORY_LOOK_UP(int16_t)
        else if (t->width == 4)
            PRIORY_LOOK_UP(int32_t)
        else
            PRIORY_LOOK_UP(int64_t)
    }
}

/* Write one row of numbers as whole codes, `stride` codes apart, NaN as −1, and raise the largest of
 * each column. Returns how many are negative or above the limit. */
#define PRIORY_PACK(NAME, FROM, TO, ISNAN)                                                        \
    PRIORY_CLONES static int64_t NAME(const FROM *restrict x, ptrdiff_t d, FROM limit,            \
                                      TO *restrict out, ptrdiff_t stride,                         \
                                      int64_t *restrict largest)                                  \
    {                                                                                             \
        int64_t wrong = 0;                                                                        \
        for (ptrdiff_t j = 0; j < d; j++) {                                                       \
            int gap = ISNAN(x[j]), fits = x[j] > -1 && x[j] <= limit;                             \
            int64_t c = fits ? (int64_t)x[j] : -1;                                                \
            wrong += !gap && !fits;                                                               \
            largest[j] = c > largest[j] ? c : largest[j];                                         \
            out[j * stride] = (TO)c;                                                              \
        }                                                                                         \
        return wrong;                                                                             \
    }
#define PRIORY_NEVER(x) 0
#define PRIORY_NAN(x) ((x) != (x))
PRIORY_PACK(pack_f4_i1, float, int8_t, PRIORY_NAN)
PRIORY_PACK(pack_f8_i1, double, int8_t, PRIORY_NAN)
PRIORY_PACK(pack_i4_i1, int32_t, int8_t, PRIORY_NEVER)
PRIORY_PACK(pack_i8_i1, int64_t, int8_t, PRIORY_NEVER)
PRIORY_PACK(pack_f4_i4, float, int32_t, PRIORY_NAN)
PRIORY_PACK(pack_f8_i4, double, int32_t, PRIORY_NAN)
PRIORY_PACK(pack_i4_i4, int32_t, int32_t, PRIORY_NEVER)
PRIORY_PACK(pack_i8_i4, int64_t, int32_t, PRIORY_NEVER)

/* Write whole numbers as codes of a byte; returns all their bits together, below 128 if every one fits. */
#define PRIORY_NARROW(NAME, FROM)                                                                 \
    PRIORY_CLONES static int64_t NAME(const FROM *restrict x, ptrdiff_t n, int8_t *restrict out)  \
    {                                                                                             \
        FROM bits = 0;                                                                            \
        for (ptrdiff_t i = 0; i < n; i++) {                                                       \
            bits |= x[i];                                                                         \
            out[i] = (int8_t)x[i];                                                                \
        }                                                                                         \
        return (int64_t)bits;                                                                     \
    }
PRIORY_NARROW(narrow_i4, int32_t)
PRIORY_NARROW(narrow_i8, int64_t)

/* Join codes to the keys of combinations, key × size + code, and note which are gaps: below zero. */
#define PRIORY_JOIN(NAME, CODE, KEY)                                                              \
    PRIORY_CLONES static void NAME(const CODE *restrict codes, ptrdiff_t n, KEY size,             \
                                   KEY *restrict keys, KEY *restrict gaps)                        \
    {                                                                                             \
        for (ptrdiff_t i = 0; i < n; i++) {                                                       \
            keys[i] = (KEY)(keys[i] * size + (KEY)codes[i]);                                      \
            gaps[i] |= (KEY)(sizeof(CODE) > sizeof(KEY) ? -(codes[i] < 0) : codes[i]);            \
        }                                                                                         \
    }
PRIORY_JOIN(join_1_2, int8_t, int16_t)
PRIORY_JOIN(join_2_2, int16_t, int16_t)
PRIORY_JOIN(join_4_2, int32_t, int16_t)
PRIORY_JOIN(join_8_2, int64_t, int16_t)
PRIORY_JOIN(join_1_4, int8_t, int32_t)
PRIORY_JOIN(join_2_4, int16_t, int32_t)
PRIORY_JOIN(join_4_4, int32_t, int32_t)
PRIORY_JOIN(join_8_4, int64_t, int32_t)

/* Count keys into `lanes` (1 or 4) copies of a table of cells + 1, the last one for gaps. */
#define PRIORY_COUNT_KEYS(NAME, KEY)                                                              \
    PRIORY_CLONES static void NAME(KEY *restrict keys, const KEY *restrict gaps, ptrdiff_t n,     \
                                   ptrdiff_t cells, int lanes, int64_t *restrict counted)         \
    {                                                                                             \
        ptrdiff_t step = lanes == 4 ? cells + 1 : 0, i = 0;                                       \
        for (ptrdiff_t j = 0; j < n; j++)                                                         \
            keys[j] = gaps[j] < 0 ? (KEY)cells : keys[j];                                         \
        for (; i + 4 <= n; i += 4) { /* equal neighbours do not wait for each other's store */    \
            counted[keys[i]]++;                                                                   \
            counted[step + keys[i + 1]]++;                                                        \
            counted[2 * step + keys[i + 2]]++;                                                    \
            counted[3 * step + keys[i + 3]]++;                                                    \
        }                                                                                         \
        for (; i < n; i++)                                                                        \
            counted[keys[i]]++;                                                                   \
    }
PRIORY_COUNT_KEYS(count_keys_2, int16_t)
PRIORY_COUNT_KEYS(count_keys_4, int32_t)

/* Count the entries of one sparse row, of class k, into sums (columns, classes) of n, Σw and Σwx side
 * by side, and fetch the places where the next row, of class `later`, will count. Without `weighted`
 * there are two sums, n and Σx. Returns the least column with an entry that is negative, NaN or
 * infinite, or `columns`. */
#define PRIORY_COUNT_SPARSE_ROW(NAME, DATA, INDEX)                                                \
    PRIORY_UNUSED static ptrdiff_t NAME(const DATA *data, const INDEX *indices, ptrdiff_t n,      \
                                        const INDEX *coming, ptrdiff_t next, ptrdiff_t k,         \
                                        ptrdiff_t later, double w,                                \
                                        int weighted, ptrdiff_t columns, ptrdiff_t classes,       \
                                        double *sums)                                             \
    {                                                                                             \
        ptrdiff_t wrong = columns, width = weighted ? 4 : 2, end = n > next ? n : next;           \
        for (ptrdiff_t at = 0; at < end; at++) {                                                  \
            if (at < next)                                                                        \
                PRIORY_PREFETCH(sums + width * ((ptrdiff_t)coming[at] * classes + later));   \
            if (at >= n)                                                                          \
                continue;                                                                         \
            double x = (double)data[at], here = x > 0.0 ? 1.0 : 0.0;                              \
            ptrdiff_t column = (ptrdiff_t)indices[at];                                            \
            double *s = sums + width * (column * classes + k);                                    \
            if (!(x >= 0.0 && x <= DBL_MAX))                                                      \
                wrong = column < wrong ? column : wrong;                                          \
            s[0] += here;                                                                         \
            s[1] += w * x;                                                                        \
            if (weighted)                                                                         \
                s[2] += here * w;                                                                 \
        }                                                                                         \
        return wrong;                                                                             \
    }
PRIORY_COUNT_SPARSE_ROW(count_sparse_row_f4_i4, float, int32_t)
PRIORY_COUNT_SPARSE_ROW(count_sparse_row_f8_i4, double, int32_t)
PRIORY_COUNT_SPARSE_ROW(count_sparse_row_i8_i4, int64_t, int32_t)
PRIORY_COUNT_SPARSE_ROW(count_sparse_row_f4_i8, float, int64_t)
PRIORY_COUNT_SPARSE_ROW(count_sparse_row_f8_i8, double, int64_t)
PRIORY_COUNT_SPARSE_ROW(count_sparse_row_i8_i8, int64_t, int64_t)

/* ---- densities ------------------------------------------------------------------------------ */

#define PRIORY_TILE_ROWS 32     /* rows side by side in registers */
#define PRIORY_TILE_COLUMNS 128 /* a tile stays in the first-level cache */

/* log u for normal u > 0, and what u lost when it was rounded; no branches, so that it vectorises;
 * about 2 ulp.   u = 2^e · m, m in [√½, √2);  log m = 2·artanh(s), s = (m − 1)/(m + 1), |s| < 0.172 */
static inline double log_of(double u, double lost)
{
    const uint64_t sqrt_half = 0x3FE6A09E667F3BCD;
    double m, e, scale;
    uint64_t bits, power, inverse;
    memcpy(&bits, &u, sizeof bits);
    power = (bits - sqrt_half + ((uint64_t)1023 << 52)) >> 52; /* e + 1023, never negative */
    bits -= (power - 1023) << 52;
    inverse = (2046 - power) << 52; /* 2^-e as a float64 */
    power |= 0x4330000000000000;    /* 2^52 + e + 1023 as a float64 */
    memcpy(&m, &bits, sizeof m);
    memcpy(&scale, &inverse, sizeof scale);
    memcpy(&e, &power, sizeof e);
    e -= 4503599627370496.0 + 1023.0;
    double f = m - 1.0, s = f / (m + 1.0), q = s * s;
    double series = q * (1.0 / 3 + q * (1.0 / 5 + q * (1.0 / 7 + q * (1.0 / 9 + q * (1.0 / 11
                  + q * (1.0 / 13 + q * (1.0 / 15 + q * (1.0 / 17 + q * (1.0 / 19 + q / 21)))))))));
    /* What was lost is below half an ulp of u: 1/u = 2^-e / m needs only a few digits. */
    double more = lost * scale * (1.0 - f + f * f);
    return e * 6.93147180369123816490e-01 /* ln 2, its leading 33 bits: e times it is exact */
           + (2.0 * s + (2.0 * s * series + (e * 1.90821492927058770002e-10 + more)));
}

/* log(1 + z) for z >= 0. */
static inline double log1p_of(double z)
{
    double u = 1.0 + z, log_u = log_of(u, z - (u - 1.0));
    return u <= DBL_MAX ? log_u : u;
}

/* out[j, k] = log (counts[k, j] + pseudo[j]) / totals[k] for the columns from `first` to below `last`;
 * a share of zero has the logarithm −inf. */
PRIORY_CLONES static void log_shares_of(const double *counts, const double *pseudo,
                                        const double *totals, ptrdiff_t K, ptrdiff_t d,
                                        ptrdiff_t first, ptrdiff_t last, double *restrict out)
{
    for (ptrdiff_t left = first; left < last; left += 64) {
        ptrdiff_t n = last - left < 64 ? last - left : 64;
        for (ptrdiff_t k = 0; k < K; k++) {
            const double *restrict c = counts + k * d + left, *restrict a = pseudo + left;
            double logs[64], total = totals[k];
            for (ptrdiff_t j = 0; j < n; j++) {
                double share = (c[j] + a[j]) / total;
                double log_share = log_of(share >= DBL_MIN ? share : 1.0, 0.0);
                logs[j] = share >= DBL_MIN ? log_share : -INFINITY;
            }
            for (ptrdiff_t j = 0; j < n; j++)
                out[(left + j) * K + k] = logs[j];
        }
    }
}

/* Add the log densities of a tile to out (rows, classes).
 *   tile      (columns, PRIORY_TILE_ROWS): the rows side by side
 *   a, b      (classes, stride): mean and half precision; or mean and 1/(dof·scale²)
 *   power     (classes, stride): (dof + 1)/2, only for student
 *   log_norm  (classes, stride), and its sums over these columns for a tile without gaps */
PRIORY_INLINE void densities(const double *restrict tile, ptrdiff_t columns, ptrdiff_t rows,
                             ptrdiff_t classes, ptrdiff_t stride, const double *mean,
                             const double *b, const double *power, const double *log_norm,
                             const double *log_norm_sums, int student, double *restrict out)
{
    int64_t gaps = 0;
    for (ptrdiff_t i = 0; i < columns * PRIORY_TILE_ROWS; i++)
        gaps += tile[i] != tile[i];
    for (ptrdiff_t k = 0; k < classes; k++) {
        double sum[PRIORY_TILE_ROWS] = {0.0};
        double first = gaps ? 0.0 : log_norm_sums[k];
        for (ptrdiff_t j = 0; j < columns; j++) {
            const double *restrict x = tile + j * PRIORY_TILE_ROWS;
            ptrdiff_t at = k * stride + j;
            double centre = mean[at], slope = b[at], half = student ? power[at] : 1.0;
            if (gaps) {
                double norm = log_norm[at];
                for (int r = 0; r < PRIORY_TILE_ROWS; r++) {
                    double t = x[r] - centre, z = t * t * slope;
                    double term = norm - (student ? half * log1p_of(z) : z);
                    sum[r] += x[r] == x[r] ? term : 0.0;
                }
            } else {
                for (int r = 0; r < PRIORY_TILE_ROWS; r++) {
                    double t = x[r] - centre, z = t * t * slope;
                    sum[r] -= student ? half * log1p_of(z) : z;
                }
            }
        }
        for (ptrdiff_t r = 0; r < rows; r++)
            out[r * classes + k] += first + sum[r];
    }
}

/* Add x · weights of a tile, rows × columns times columns × classes, all weights finite. With
 * `binary` an entry counts as 1 above the threshold and as 0 below. */
PRIORY_INLINE void products(const double *restrict tile, ptrdiff_t columns, ptrdiff_t rows,
                            ptrdiff_t classes, const double *weights, int binary,
                            double threshold, double *restrict out)
{
    for (ptrdiff_t k = 0; k < classes; k++) {
        double sum[PRIORY_TILE_ROWS] = {0.0};
        for (ptrdiff_t j = 0; j < columns; j++) {
            const double *restrict x = tile + j * PRIORY_TILE_ROWS;
            double w = weights[j * classes + k];
            for (int r = 0; r < PRIORY_TILE_ROWS; r++)
                sum[r] += binary ? (x[r] > threshold ? w : 0.0) : x[r] * w;
        }
        for (ptrdiff_t r = 0; r < rows; r++)
            out[r * classes + k] += sum[r];
    }
}

PRIORY_CLONES static void product_tile(const double *tile, ptrdiff_t columns, ptrdiff_t rows,
                                       ptrdiff_t classes, const double *weights, double *out)
{
    products(tile, columns, rows, classes, weights, 0, 0.0, out);
}

PRIORY_CLONES static void presence_tile(const double *tile, ptrdiff_t columns, ptrdiff_t rows,
                                        ptrdiff_t classes, const double *weights,
                                        double threshold, double *out)
{
    products(tile, columns, rows, classes, weights, 1, threshold, out);
}

/* e^x for x <= 0, without branches so that it vectorises; about 1 ulp, 0 below −708.
 *   x = k·ln 2 + r, |r| <= ½ ln 2;  e^x = 2^k · e^r */
static inline double exp_of(double x)
{
    const double shift = 6755399441055744.0; /* 1.5·2^52: adding it rounds to a whole number */
    double clipped = x > -708.0 ? x : -708.0;
    double k = clipped * 1.44269504088896340736 + shift;
    int64_t bits;
    memcpy(&bits, &k, sizeof bits);
    k -= shift;
    double r = (clipped - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;
    double p = 1.0 + r * (1.0 + r * (1.0 / 2 + r * (1.0 / 6 + r * (1.0 / 24 + r * (1.0 / 120
             + r * (1.0 / 720 + r * (1.0 / 5040 + r * (1.0 / 40320 + r * (1.0 / 362880
             + r * (1.0 / 3628800 + r * (1.0 / 39916800 + r / 479001600)))))))))));
    uint64_t power = ((uint64_t)(bits + 1023)) << 52;
    double scale;
    memcpy(&scale, &power, sizeof scale);
    return x > -708.0 ? p * scale : 0.0;
}

/* Products of the same factors in another order are the same; the sums of their logs differ in the
 * last digits. So scores this little below the largest count as equal to it, and it is a tie. */
#define PRIORY_TIE 1e-12        /* in log space: a part in 10^12 of a probability */
#define PRIORY_TIE_SHARE 1e-14  /* of the largest score, where that is more: long sums are rounded more */

static inline double tie_floor(double largest)
{
    double by_size = PRIORY_TIE_SHARE * fabs(largest);
    double most = by_size < DBL_MAX ? by_size : 0.0; /* an infinite score equals itself alone */
    return largest - (most > PRIORY_TIE ? most : PRIORY_TIE);
}

/* Write the first place of each row's largest score, ties included, −1 where all are −inf. Of
 * probabilities a tie is a share of the largest, which is the same rule. Without branches: which
 * class wins cannot be foretold. */
PRIORY_UNUSED static void first_largest(const double *scores, ptrdiff_t rows, ptrdiff_t K,
                                        int probabilities, int32_t *out)
{
    for (ptrdiff_t i = 0; i < rows; i++, scores += K) {
        double largest = -INFINITY;
        int32_t best = -1;
        for (ptrdiff_t k = 0; k < K; k++)
            largest = scores[k] > largest ? scores[k] : largest;
        double floor = probabilities ? largest - PRIORY_TIE * largest : tie_floor(largest);
        for (ptrdiff_t k = K - 1; k >= 0; k--)
            best = scores[k] >= floor ? (int32_t)k : best;
        out[i] = largest > -INFINITY ? best : -1;
    }
}

/* Turn rows of log scores into log posteriors, or into posteriors, and write log Σ exp of each row.
 * Ties come out equal. A row whose largest score is −inf stays as it is, with −inf; one with NaN
 * alone gets −inf too. */
PRIORY_CLONES static void normalize_rows(double *restrict scores, ptrdiff_t rows, ptrdiff_t K,
                                         int probabilities, double *restrict evidence,
                                         double *restrict scratch)
{
    ptrdiff_t i, k;
    for (i = 0; i < rows; i++) {
        double *row = scores + i * K;
        double largest = -INFINITY;
        for (k = 0; k < K; k++)
            largest = row[k] > largest ? row[k] : largest;
        evidence[i] = largest;
        double from = largest > -INFINITY ? largest : 0.0, floor = tie_floor(from);
        for (k = 0; k < K; k++) {
            row[k] = row[k] >= floor ? from : row[k];
            scratch[i * K + k] = row[k] - from;
        }
    }
    PRIORY_APART
    for (i = 0; i < rows * K; i++)
        scratch[i] = exp_of(scratch[i]);
    for (i = 0; i < rows; i++) {
        double total = 0.0, largest = evidence[i];
        double *row = scores + i * K;
        const double *e = scratch + i * K;
        if (!(largest > -INFINITY))
            continue;
        for (k = 0; k < K; k++)
            total += e[k];
        double log_total = log1p_of(total - 1.0 > 0.0 ? total - 1.0 : 0.0);
        evidence[i] = largest + log_total;
        if (probabilities)
            for (k = 0; k < K; k++)
                row[k] = e[k] / total;
        else
            for (k = 0; k < K; k++)
                row[k] -= evidence[i];
    }
}

PRIORY_CLONES static void gaussian_tile(const double *tile, ptrdiff_t columns, ptrdiff_t rows,
                                        ptrdiff_t classes, ptrdiff_t stride, const double *mean,
                                        const double *half_precision, const double *log_norm,
                                        const double *log_norm_sums, double *out)
{
    densities(tile, columns, rows, classes, stride, mean, half_precision, NULL, log_norm,
              log_norm_sums, 0, out);
}

PRIORY_CLONES static void student_tile(const double *tile, ptrdiff_t columns, ptrdiff_t rows,
                                       ptrdiff_t classes, ptrdiff_t stride, const double *mean,
                                       const double *inv_scale, const double *half_dof1,
                                       const double *log_norm, const double *log_norm_sums,
                                       double *out)
{
    densities(tile, columns, rows, classes, stride, mean, inv_scale, half_dof1, log_norm,
              log_norm_sums, 1, out);
}

#endif
