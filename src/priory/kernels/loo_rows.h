/* Gaussian densities of rows that are left out of their own class. */
#ifndef PRIORY_LOO_ROWS_H
#define PRIORY_LOO_ROWS_H

#include "densities.h"

#define PRIORY_CHUNK 64 /* so many ratios of variances, each above 1e-3, are multiplied before a log */

/* What is known of each class and column, and of each column over all classes. */
typedef struct {
    double n, mean, scatter;
    double room;             /* a row may take less than this from the scatter, or digits are lost */
    double precision;        /* 1/variance with the row, what smoothing adds included */
    double log_norm;         /* −½ log 2π·variance */
} own_sums;

typedef struct {
    double n, mean, scatter, variance;
    double most;             /* that the variance can be without a row */
    double column;           /* whose sums these are: they come in the order of `most`, largest first */
} pooled_sums;

/* Write log p(x) of a tile of rows under one class.
 *   tile      (columns, PRIORY_TILE_ROWS): the rows side by side
 *   added     what smoothing adds to the variances of each row; or, unless `without`, what it adds more
 * A row that is left out (`without`) takes its amount from the class. With z = x − mean:
 *     x − mean⁻ = z n/(n − a)      S⁻ = S − a z² n/(n − a)      variance⁻ = S⁻/(n − a) + added
 * The result is NaN if that would lose digits. With `even`, every amount is 1; without `gaps`, no x is NaN. */
PRIORY_INLINE void densities_of(const double *restrict tile, ptrdiff_t d, const own_sums *sums,
                                const double *restrict amount, const double *restrict added, int without,
                                int even, int gaps, double *restrict result)
{
    for (int r = 0; r < PRIORY_TILE_ROWS; r++)
        result[r] = 0.0;
    for (ptrdiff_t first = 0; first < d; first += PRIORY_CHUNK) {
        ptrdiff_t last = first + PRIORY_CHUNK < d ? first + PRIORY_CHUNK : d;
        double above[PRIORY_TILE_ROWS] = {0.0}, below[PRIORY_TILE_ROWS], norms[PRIORY_TILE_ROWS] = {0.0};
        double norm = 0.0; /* of a row without missing values */
        for (int r = 0; r < PRIORY_TILE_ROWS; r++)
            below[r] = 1.0;
        for (ptrdiff_t j = first; j < last; j++) {
            const double *restrict x = tile + j * PRIORY_TILE_ROWS;
            own_sums c = sums[j];
            norm += c.log_norm;
            for (int r = 0; r < PRIORY_TILE_ROWS; r++) {
                double z = x[r] - c.mean, square = z * z;
                double p = 0.5 * c.precision * square, q; /* (x − mean)²/2·variance; variance⁻/variance */
                if (without) {
                    double a = even ? 1.0 : amount[r], left = 1.0 / (c.n - a), grown = c.n * left;
                    double taken = a * grown * square;
                    q = (c.scatter - taken) * (left * c.precision) + added[r] * c.precision;
                    q = taken < c.room ? q : NAN;
                    p *= grown * grown;
                } else {
                    q = 1.0 + added[r] * c.precision;
                }
                if (gaps) {
                    q = x[r] == x[r] ? q : 1.0;
                    p = x[r] == x[r] ? p : 0.0;
                    norms[r] += x[r] == x[r] ? c.log_norm : 0.0;
                }
                /* Σ p/q with one division: p/q + p'/q' = (p q' + p' q) / (q q') */
                above[r] = above[r] * q + p * below[r];
                below[r] *= q;
            }
        }
        for (int r = 0; r < PRIORY_TILE_ROWS; r++)
            result[r] += (gaps ? norms[r] : norm) - (above[r] / below[r] + 0.5 * log_of(below[r], 0.0));
    }
}

/* Return whether a tile has NaN. */
PRIORY_INLINE int has_gaps(const double *tile, ptrdiff_t d)
{
    int64_t gaps = 0;
    for (ptrdiff_t i = 0; i < d * PRIORY_TILE_ROWS; i++)
        gaps += tile[i] != tile[i];
    return gaps != 0;
}

/* Write smoothing times the largest variance of any column over all classes, without each row. */
PRIORY_CLONES static void epsilon_tile(const double *tile, ptrdiff_t d, const pooled_sums *pooled,
                                       const double *restrict amount, double smoothing, double *restrict epsilon)
{
    double largest[PRIORY_TILE_ROWS] = {0.0};
    for (ptrdiff_t i = 0; smoothing > 0.0 && i < d; i++) {
        pooled_sums c = pooled[i];
        const double *restrict x = tile + (ptrdiff_t)c.column * PRIORY_TILE_ROWS;
        int64_t open = 0; /* rows for which this column, or one that follows, can be the largest */
        for (int r = 0; r < PRIORY_TILE_ROWS; r++)
            open += largest[r] < c.most;
        if (open == 0)
            break;
        for (int r = 0; r < PRIORY_TILE_ROWS; r++) {
            double left = 1.0 / (c.n - amount[r]), z = x[r] - c.mean;
            double v = (c.scatter - amount[r] * z * z * (c.n * left)) * left;
            v = x[r] == x[r] ? v : c.variance;
            largest[r] = v > largest[r] ? v : largest[r];
        }
    }
    for (int r = 0; r < PRIORY_TILE_ROWS; r++)
        epsilon[r] = smoothing * largest[r];
}

/* Write log p(x | own class) of a tile of rows of one class, each without itself. */
PRIORY_CLONES static void own_tile(const double *tile, ptrdiff_t d, const own_sums *own, const double *amount,
                                   const double *epsilon, double *result)
{
    int64_t uneven = 0;
    for (int r = 0; r < PRIORY_TILE_ROWS; r++)
        uneven += amount[r] != 1.0;
    if (uneven)
        densities_of(tile, d, own, amount, epsilon, 1, 0, 1, result);
    else if (has_gaps(tile, d))
        densities_of(tile, d, own, amount, epsilon, 1, 1, 1, result);
    else
        densities_of(tile, d, own, amount, epsilon, 1, 1, 0, result);
}

/* Write log p(x | k) of every class k to out (PRIORY_TILE_ROWS, classes), with all variances larger by
 * `more`, a number for each row. */
PRIORY_CLONES static void shifted_tile(const double *tile, ptrdiff_t d, ptrdiff_t K, const own_sums *own,
                                       const double *more, double *out)
{
    double result[PRIORY_TILE_ROWS];
    for (ptrdiff_t k = 0; k < K; k++) {
        densities_of(tile, d, own + k * d, more, more, 0, 0, 1, result);
        for (ptrdiff_t r = 0; r < PRIORY_TILE_ROWS; r++)
            out[r * K + k] = result[r];
    }
}

#endif
