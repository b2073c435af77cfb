/* What tables say of the codes of labels. */
#ifndef PRIORY_LOOKUPS_H
#define PRIORY_LOOKUPS_H

#include "clones.h"

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

#endif
