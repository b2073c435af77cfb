/* Gaussian densities of rows that are left out of their own class. */
#ifndef PRIORY_ROWS_WITHOUT_H
#define PRIORY_ROWS_WITHOUT_H

#include "loops.h"

#define PRIORY_CHUNK 64 /* so many ratios of variances, each above 1e-3, are multiplied before a log */

/* log p(x | own class) of a tile of rows of one class, each without itself. With z = x − mean and the
 * class's scatter S:
 *     x − mean⁻ = z n/(n − a)      S⁻ = S − a z² n/(n − a)      variance⁻ = S⁻/(n − a) + epsilon
 *   tile      (columns, PRIORY_TILE_ROWS): the rows side by side
 *   own       seven numbers for each column: n, mean, S, what S⁻ must exceed (else the result is NaN),
 *             1/variance and −½ log 2π·variance with the row, 1/(n − 1)
 *   pooled    five for each column over all classes: n, mean, S, variance, 1/(n − 1)
 *   epsilon   smoothing times the largest variance of any column over all classes, without the row
 * With `even`, every amount is 1. */
PRIORY_INLINE void own_rows(const double *restrict tile, ptrdiff_t d, const double *own,
                            const double *pooled, const double *restrict amount, int even,
                            double smoothing, double *restrict epsilon, double *restrict result)
{
    double above[PRIORY_TILE_ROWS], below[PRIORY_TILE_ROWS], most[PRIORY_TILE_ROWS] = {0.0};
    for (ptrdiff_t j = 0; smoothing > 0.0 && j < d; j++) {
        const double *restrict x = tile + j * PRIORY_TILE_ROWS;
        const double *c = pooled + 5 * j;
        double n = c[0], mean = c[1], scatter = c[2], variance = c[3], left_1 = c[4];
        for (int r = 0; r < PRIORY_TILE_ROWS; r++) {
            double left = even ? left_1 : 1.0 / (n - amount[r]), z = x[r] - mean;
            double v = (scatter - amount[r] * z * z * (n * left)) * left;
            v = x[r] == x[r] ? v : variance;
            most[r] = v > most[r] ? v : most[r];
        }
    }
    for (int r = 0; r < PRIORY_TILE_ROWS; r++) {
        epsilon[r] = smoothing * most[r];
        result[r] = 0.0;
    }
    for (ptrdiff_t first = 0; first < d; first += PRIORY_CHUNK) {
        ptrdiff_t last = first + PRIORY_CHUNK < d ? first + PRIORY_CHUNK : d;
        for (int r = 0; r < PRIORY_TILE_ROWS; r++) {
            above[r] = 0.0;
            below[r] = 1.0;
        }
        for (ptrdiff_t j = first; j < last; j++) {
            const double *restrict x = tile + j * PRIORY_TILE_ROWS;
            const double *c = own + 7 * j;
            double n = c[0], mean = c[1], scatter = c[2], least = c[3], inverse = c[4], norm = c[5];
            double left_1 = c[6];
            for (int r = 0; r < PRIORY_TILE_ROWS; r++) {
                double left = even ? left_1 : 1.0 / (n - amount[r]), z = x[r] - mean;
                double away = z * (n * left), rest = scatter - amount[r] * z * away;
                double q = (rest * left + epsilon[r]) * inverse; /* variance⁻ / variance */
                q = rest > least ? q : NAN;
                double p = norm * q - 0.5 * away * away * inverse;
                p = x[r] == x[r] ? p : 0.0;
                q = x[r] == x[r] ? q : 1.0;
                /* Σ p/q with one division: p/q + p'/q' = (p q' + p' q) / (q q') */
                above[r] = above[r] * q + p * below[r];
                below[r] *= q;
            }
        }
        for (int r = 0; r < PRIORY_TILE_ROWS; r++)
            result[r] += above[r] / below[r] - 0.5 * log_of(below[r], 0.0);
    }
}

PRIORY_CLONES static void own_tile(const double *tile, ptrdiff_t d, const double *own,
                                   const double *pooled, const double *amount, double smoothing,
                                   double *epsilon, double *result)
{
    int even = 1;
    for (int r = 0; r < PRIORY_TILE_ROWS; r++)
        even &= amount[r] == 1.0;
    if (even)
        own_rows(tile, d, own, pooled, amount, 1, smoothing, epsilon, result);
    else
        own_rows(tile, d, own, pooled, amount, 0, smoothing, epsilon, result);
}

/* Add log p(x | k) of every class k to out (rows, classes), with all variances larger by `more`, a number
 * for each row.
 *   classes   three numbers for each class and column: mean, 1/variance, −½ log 2π·variance */
PRIORY_CLONES static void shifted_tile(const double *restrict tile, ptrdiff_t d, ptrdiff_t rows,
                                       ptrdiff_t K, const double *classes,
                                       const double *restrict more, double *restrict out)
{
    for (ptrdiff_t k = 0; k < K; k++) {
        double above[PRIORY_TILE_ROWS], below[PRIORY_TILE_ROWS], total[PRIORY_TILE_ROWS] = {0.0};
        for (ptrdiff_t first = 0; first < d; first += PRIORY_CHUNK) {
            ptrdiff_t last = first + PRIORY_CHUNK < d ? first + PRIORY_CHUNK : d;
            for (int r = 0; r < PRIORY_TILE_ROWS; r++) {
                above[r] = 0.0;
                below[r] = 1.0;
            }
            for (ptrdiff_t j = first; j < last; j++) {
                const double *restrict x = tile + j * PRIORY_TILE_ROWS;
                const double *c = classes + 3 * (k * d + j);
                double mean = c[0], inverse = c[1], norm = c[2];
                for (int r = 0; r < PRIORY_TILE_ROWS; r++) {
                    double z = x[r] - mean, q = 1.0 + more[r] * inverse;
                    double p = norm * q - 0.5 * z * z * inverse;
                    p = x[r] == x[r] ? p : 0.0;
                    q = x[r] == x[r] ? q : 1.0;
                    above[r] = above[r] * q + p * below[r];
                    below[r] *= q;
                }
            }
            for (int r = 0; r < PRIORY_TILE_ROWS; r++)
                total[r] += above[r] / below[r] - 0.5 * log_of(below[r], 0.0);
        }
        for (ptrdiff_t r = 0; r < rows; r++)
            out[r * K + k] += total[r];
    }
}

#endif
