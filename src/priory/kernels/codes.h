/* Labels as codes: packed, narrowed, and joined to the keys of combinations, which are counted. */
#ifndef PRIORY_CODES_H
#define PRIORY_CODES_H

#include "clones.h"

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

#endif
