/* Gaussian densities of rows that are left out of their own class, a row at a time with its columns
 * side by side in lanes. Columns come in chunks: all tables are padded to whole ones with columns of
 * variance 1 that every row has a gap in. */
#ifndef PRIORY_GAUSSIAN_WITHOUT_H
#define PRIORY_GAUSSIAN_WITHOUT_H

#include "loops.h"

#define PRIORY_ABREAST 8
#define PRIORY_CHUNK 64 /* so many ratios of variances, each above 1e-3, are multiplied before a log */

/* The largest variance of any column over all classes, without the row. */
PRIORY_INLINE double largest_variance(const double *restrict x, ptrdiff_t d, double amount,
                                      const double *restrict n, const double *restrict mean,
                                      const double *restrict scatter)
{
    double most[PRIORY_ABREAST] = {0.0}, result = 0.0;
    for (ptrdiff_t j = 0; j < d; j += PRIORY_ABREAST)
        for (int l = 0; l < PRIORY_ABREAST; l++) {
            double here = x[j + l], there = here == here ? amount : 0.0;
            double z = here == here ? here - mean[j + l] : 0.0, inverse = 1.0 / (n[j + l] - there);
            double v = (scatter[j + l] - there * z * z * n[j + l] * inverse) * inverse;
            most[l] = v > most[l] ? v : most[l];
        }
    for (int l = 0; l < PRIORY_ABREAST; l++)
        result = most[l] > result ? most[l] : result;
    return result;
}

/* log p(x | own class) without the row, where z = x − mean and S is the scatter of the class:
 *     x − mean⁻ = z n/(n − a)      S⁻ = S − a z² n/(n − a)      variance⁻ = S⁻/(n − a) + epsilon
 * `inverse` is 1/variance and `log_norm` −½ log 2π·variance with the row; `least` is what S⁻ must
 * exceed for this to be exact. Returns whether it does. */
PRIORY_INLINE int own_density(const double *restrict x, ptrdiff_t d, double amount,
                              const double *restrict n, const double *restrict mean,
                              const double *restrict scatter, const double *restrict least,
                              const double *restrict inverse, const double *restrict log_norm,
                              double epsilon, double *result)
{
    double total = 0.0;
    int64_t unsafe = 0;
    for (ptrdiff_t first = 0; first < d; first += PRIORY_CHUNK) {
        double sum[PRIORY_ABREAST] = {0.0}, ratio[PRIORY_ABREAST], all = 1.0;
        int64_t wrong[PRIORY_ABREAST] = {0};
        ptrdiff_t last = first + PRIORY_CHUNK < d ? first + PRIORY_CHUNK : d;
        for (int l = 0; l < PRIORY_ABREAST; l++)
            ratio[l] = 1.0;
        for (ptrdiff_t j = first; j < last; j += PRIORY_ABREAST)
            for (int l = 0; l < PRIORY_ABREAST; l++) {
                ptrdiff_t at = j + l;
                double z = x[at] - mean[at], left = 1.0 / (n[at] - amount), away = z * n[at] * left;
                double rest = scatter[at] - amount * z * away, v = rest * left + epsilon;
                double term = log_norm[at] - 0.5 * away * away / v;
                int there = x[at] == x[at];
                sum[l] += there ? term : 0.0;
                ratio[l] *= there ? v * inverse[at] : 1.0;
                wrong[l] |= there && !(rest > least[at]);
            }
        for (int l = 0; l < PRIORY_ABREAST; l++) {
            total += sum[l];
            all *= ratio[l];
            unsafe |= wrong[l];
        }
        total -= 0.5 * log(all);
    }
    *result = total;
    return !unsafe;
}

PRIORY_CLONES static void own_densities(const double *x, ptrdiff_t rows, ptrdiff_t d,
                                        const int32_t *y, const double *amount, const double *n,
                                        const double *mean, const double *scatter,
                                        const double *least, const double *inverse,
                                        const double *log_norm, const double *pooled_n,
                                        const double *pooled_mean, const double *pooled_scatter,
                                        double smoothing, double *epsilon, double *own,
                                        uint8_t *exact)
{
    for (ptrdiff_t i = 0; i < rows; i++) {
        const double *row = x + i * d;
        ptrdiff_t k = (ptrdiff_t)y[i] * d;
        epsilon[i] = smoothing > 0.0 ? smoothing * largest_variance(row, d, amount[i], pooled_n,
                                                                    pooled_mean, pooled_scatter)
                                     : 0.0;
        exact[i] = (uint8_t)own_density(row, d, amount[i], n + k, mean + k, scatter + k, least + k,
                                        inverse + k, log_norm + k, epsilon[i], own + i);
    }
}

/* Add log p(x | k) of every class k with a variance that is larger by `more` for this row. */
PRIORY_CLONES static void shifted_densities(const double *x, ptrdiff_t rows, ptrdiff_t d,
                                            ptrdiff_t classes, const double *more,
                                            const double *mean, const double *inverse,
                                            const double *log_norm, double *out)
{
    for (ptrdiff_t i = 0; i < rows; i++)
        for (ptrdiff_t k = 0; k < classes; k++) {
            const double *restrict row = x + i * d, *restrict m = mean + k * d;
            const double *restrict b = inverse + k * d, *restrict norm = log_norm + k * d;
            double total = 0.0, shift = more[i];
            for (ptrdiff_t first = 0; first < d; first += PRIORY_CHUNK) {
                double sum[PRIORY_ABREAST] = {0.0}, ratio[PRIORY_ABREAST], all = 1.0;
                ptrdiff_t last = first + PRIORY_CHUNK < d ? first + PRIORY_CHUNK : d;
                for (int l = 0; l < PRIORY_ABREAST; l++)
                    ratio[l] = 1.0;
                for (ptrdiff_t j = first; j < last; j += PRIORY_ABREAST)
                    for (int l = 0; l < PRIORY_ABREAST; l++) {
                        ptrdiff_t at = j + l;
                        double z = row[at] - m[at], grown = 1.0 + shift * b[at];
                        double term = norm[at] - 0.5 * z * z * b[at] / grown;
                        int there = row[at] == row[at];
                        sum[l] += there ? term : 0.0;
                        ratio[l] *= there ? grown : 1.0;
                    }
                for (int l = 0; l < PRIORY_ABREAST; l++) {
                    total += sum[l];
                    all *= ratio[l];
                }
                total -= 0.5 * log(all);
            }
            out[i * classes + k] += total;
        }
}

#endif
