/* Labels as codes: packed, narrowed, and joined to the keys of combinations, which are counted. */
#ifndef PRIORY_CODES_H
#define PRIORY_CODES_H

#include "clones.h"

/* Write one row of numbers as whole codes, `stride` codes apart, NaN as −1, and raise the largest of
 * each column. Returns how many are negative or above the limit. */
#define PRIORY_PACK(NAME, FROM, TO, ISNAN)                                                        \
    PRIORY_CLONES static int64_t NAME(const FROM *restrict x, ptrdiff_t d, int64_t limit,         \
                                      TO *restrict out, ptrdiff_t stride,                         \
                                      int64_t *restrict largest)                                  \
    {                                                                                             \
        const FROM most = (FROM)limit;                                                            \
        int64_t wrong = 0;                                                                        \
        for (ptrdiff_t j = 0; j < d; j++) {                                                       \
            int gap = ISNAN(x[j]), fits = x[j] > -1 && x[j] <= most;                              \
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
#define pack_row(x, d, limit, out, stride, largest)                                               \
    _Generic((out),                                                                               \
        int8_t *: _Generic((x), const float *: pack_f4_i1, const double *: pack_f8_i1,            \
                           const int32_t *: pack_i4_i1, const int64_t *: pack_i8_i1),             \
        int32_t *: _Generic((x), const float *: pack_f4_i4, const double *: pack_f8_i4,           \
                            const int32_t *: pack_i4_i4, const int64_t *: pack_i8_i4))            \
    (x, d, limit, out, stride, largest)

/* Write integers as codes of a byte; returns all their bits together, below 128 if every one fits. */
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
#define narrow(x, n, out) _Generic((x), const int32_t *: narrow_i4, const int64_t *: narrow_i8)(x, n, out)

/* Join codes of `width` bytes to the keys of combinations, key × size + code, and note which are missing: below
 * zero. */
#define PRIORY_JOIN_CODES(CODE, KEY)                                                              \
    for (ptrdiff_t i = 0; i < n; i++) {                                                           \
        CODE code = ((const CODE *)codes)[i];                                                     \
        keys[i] = (KEY)(keys[i] * size + (KEY)code);                                              \
        gaps[i] |= (KEY)(sizeof(CODE) > sizeof(KEY) ? -(code < 0) : code);                        \
    }
#define PRIORY_JOIN(NAME, KEY)                                                                    \
    PRIORY_CLONES static void NAME(const char *restrict codes, int width, ptrdiff_t n, KEY size,  \
                                   KEY *restrict keys, KEY *restrict gaps)                        \
    {                                                                                             \
        if (width == 1)                                                                           \
            PRIORY_JOIN_CODES(int8_t, KEY)                                                        \
        else if (width == 2)                                                                      \
            PRIORY_JOIN_CODES(int16_t, KEY)                                                       \
        else if (width == 4)                                                                      \
            PRIORY_JOIN_CODES(int32_t, KEY)                                                       \
        else                                                                                      \
            PRIORY_JOIN_CODES(int64_t, KEY)                                                       \
    }
PRIORY_JOIN(join_2, int16_t)
PRIORY_JOIN(join_4, int32_t)

/* Count keys into `lanes` (1 or 4) copies of a table of cells + 1, the last one for missing values. */
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

#endif
