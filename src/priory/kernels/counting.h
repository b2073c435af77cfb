/* Rows of a matrix of counts added up: how many entries, their weights and their sums. */
#ifndef PRIORY_COUNTING_H
#define PRIORY_COUNTING_H

#include "clones.h"

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

#endif
