/* Log densities of numbers: Gaussian and Student t. */
#ifndef PRIORY_DENSITIES_H
#define PRIORY_DENSITIES_H

#include "elementary.h"
#include "tiles.h"

/* Add the log densities of a tile to out (rows, classes).
 *   tile      (columns, PRIORY_TILE_ROWS): the rows side by side
 *   a, b      (classes, stride): mean and half precision; or mean and 1/(dof·scale²)
 *   power     (classes, stride): (dof + 1)/2, only for student
 *   log_norm  (classes, stride), and its sums over these columns for a tile without missing values */
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
