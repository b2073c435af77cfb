/* Scores to the most probable class, and to posteriors; and when two scores are a tie. */
#ifndef PRIORY_POSTERIORS_H
#define PRIORY_POSTERIORS_H

#include "elementary.h"

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

#endif
