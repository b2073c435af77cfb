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

#endif
