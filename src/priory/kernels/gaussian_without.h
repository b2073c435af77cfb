/* Gaussian densities of rows that are left out of their own class, a row at a time. Its columns stand
 * side by side and come in chunks: all tables are padded to a multiple of eight columns, with columns
 * that every row has a gap in. */
#ifndef PRIORY_GAUSSIAN_WITHOUT_H
#define PRIORY_GAUSSIAN_WITHOUT_H

#include "loops.h"

#define PRIORY_ABREAST 8
#define PRIORY_CHUNK 64 /* so many ratios of variances, each above 1e-3, are multiplied before a log */

/* Σ terms − ½ log Π ratios of up to a chunk of columns; and Σ lost into `lost`. */
PRIORY_INLINE double gathered(const double *restrict terms, const double *restrict ratios,
                              const double *restrict wrong, ptrdiff_t n, double *lost)
{
    double sum[PRIORY_ABREAST] = {0.0}, product[PRIORY_ABREAST], missed[PRIORY_ABREAST] = {0.0};
    for (int l = 0; l < PRIORY_ABREAST; l++)
        product[l] = 1.0;
    for (ptrdiff_t j = 0; j < n; j += PRIORY_ABREAST) {
        for (int l = 0; l < PRIORY_ABREAST; l++)
            sum[l] += terms[j + l];
        for (int l = 0; l < PRIORY_ABREAST; l++)
            product[l] *= ratios[j + l];
        if (wrong)
            for (int l = 0; l < PRIORY_ABREAST; l++)
                missed[l] += wrong[j + l];
    }
    for (int l = 1; l < PRIORY_ABREAST; l++) {
        sum[0] += sum[l];
        product[0] *= product[l];
        missed[0] += missed[l];
    }
    if (lost)
        *lost += missed[0];
    return sum[0] - 0.5 * log(product[0]);
}

/* The largest variance of any column over all classes, without the row; inverse_left is 1/(n − a). */
PRIORY_INLINE double largest_variance(const double *restrict x, ptrdiff_t d, double amount,
                                      const double *restrict n, const double *restrict inverse_left,
                                      const double *restrict mean, const double *restrict scatter)
{
    double most[PRIORY_ABREAST] = {0.0}, variances[PRIORY_CHUNK];
    for (ptrdiff_t first = 0; first < d; first += PRIORY_CHUNK) {
        ptrdiff_t m = d - first < PRIORY_CHUNK ? d - first : PRIORY_CHUNK;
        PRIORY_APART
        for (ptrdiff_t j = 0; j < m; j++) {
            ptrdiff_t at = first + j;
            double z = x[at] - mean[at], left = inverse_left[at];
            double v = (scatter[at] - amount * z * z * (n[at] * left)) * left;
            variances[j] = x[at] == x[at] ? v : scatter[at] / n[at];
        }
        for (ptrdiff_t j = 0; j < m; j += PRIORY_ABREAST)
            for (int l = 0; l < PRIORY_ABREAST; l++)
                most[l] = variances[j + l] > most[l] ? variances[j + l] : most[l];
    }
    for (int l = 1; l < PRIORY_ABREAST; l++)
        most[0] = most[l] > most[0] ? most[l] : most[0];
    return most[0];
}

/* log p(x | own class) without the row, where z = x − mean and S is the scatter of the class:
 *     x − mean⁻ = z n/(n − a)      S⁻ = S − a z² n/(n − a)      variance⁻ = S⁻/(n − a) + epsilon
 * `inverse` is 1/variance and `log_norm` −½ log 2π·variance with the row; `least` is what S⁻ must
 * exceed for this to be exact. Returns whether it does. */
PRIORY_INLINE int own_density(const double *restrict x, ptrdiff_t d, double amount,
                              const double *restrict n, const double *restrict inverse_left,
                              const double *restrict mean, const double *restrict scatter,
                              const double *restrict least, const double *restrict inverse,
                              const double *restrict log_norm, double epsilon, double *result)
{
    double total = 0.0, lost = 0.0;
    double terms[PRIORY_CHUNK], ratios[PRIORY_CHUNK], wrong[PRIORY_CHUNK];
    for (ptrdiff_t first = 0; first < d; first += PRIORY_CHUNK) {
        ptrdiff_t m = d - first < PRIORY_CHUNK ? d - first : PRIORY_CHUNK;
        PRIORY_APART
        for (ptrdiff_t j = 0; j < m; j++) {
            ptrdiff_t at = first + j;
            double here = x[at], z = here - mean[at], left = inverse_left[at];
            double away = z * (n[at] * left), rest = scatter[at] - amount * z * away;
            double v = rest * left + epsilon, term = log_norm[at] - 0.5 * away * away / v;
            double enough = here == here ? rest - least[at] : 1.0;
            terms[j] = here == here ? term : 0.0;
            ratios[j] = here == here ? v * inverse[at] : 1.0;
            wrong[j] = enough > 0.0 ? 0.0 : 1.0;
        }
        total += gathered(terms, ratios, wrong, m, &lost);
    }
    *result = total;
    return lost == 0.0;
}

PRIORY_CLONES static void own_densities(
    const double *x, ptrdiff_t rows, ptrdiff_t d, const int32_t *y, const double *amount,
    const double *n, const double *mean, const double *scatter, const double *least,
    const double *inverse, const double *log_norm, const double *pooled_n,
    const double *pooled_mean, const double *pooled_scatter, double smoothing, double *epsilon,
    double *own, uint8_t *exact, const double *left_1, const double *pooled_left_1, double *scratch)
{
    for (ptrdiff_t i = 0; i < rows; i++) {
        const double *row = x + i * d;
        ptrdiff_t k = (ptrdiff_t)y[i] * d;
        const double *left = left_1 + k, *pooled_left = pooled_left_1;
        double a = amount[i];
        if (a != 1.0) { /* 1/(n − 1) is at hand; for other amounts divide */
            for (ptrdiff_t j = 0; j < d; j++) {
                scratch[j] = 1.0 / (n[k + j] - a);
                scratch[d + j] = 1.0 / (pooled_n[j] - a);
            }
            left = scratch;
            pooled_left = scratch + d;
        }
        epsilon[i] = 0.0;
        if (smoothing > 0.0)
            epsilon[i] = smoothing * largest_variance(row, d, a, pooled_n, pooled_left, pooled_mean,
                                                      pooled_scatter);
        exact[i] = (uint8_t)own_density(row, d, a, n + k, left, mean + k, scatter + k, least + k,
                                        inverse + k, log_norm + k, epsilon[i], own + i);
    }
}

/* Add log p(x | k) of every class k with a variance that is larger by `more` for this row. */
PRIORY_CLONES static void shifted_densities(const double *x, ptrdiff_t rows, ptrdiff_t d,
                                            ptrdiff_t classes, const double *more,
                                            const double *mean, const double *inverse,
                                            const double *log_norm, double *out)
{
    double terms[PRIORY_CHUNK], ratios[PRIORY_CHUNK];
    for (ptrdiff_t i = 0; i < rows; i++)
        for (ptrdiff_t k = 0; k < classes; k++) {
            const double *restrict row = x + i * d, *restrict centre = mean + k * d;
            const double *restrict b = inverse + k * d, *restrict norm = log_norm + k * d;
            double total = 0.0, shift = more[i];
            for (ptrdiff_t first = 0; first < d; first += PRIORY_CHUNK) {
                ptrdiff_t m = d - first < PRIORY_CHUNK ? d - first : PRIORY_CHUNK;
                PRIORY_APART
                for (ptrdiff_t j = 0; j < m; j++) {
                    ptrdiff_t at = first + j;
                    double here = row[at], z = here - centre[at], grown = 1.0 + shift * b[at];
                    double term = norm[at] - 0.5 * z * z * b[at] / grown;
                    terms[j] = here == here ? term : 0.0;
                    ratios[j] = here == here ? grown : 1.0;
                }
                total += gathered(terms, ratios, NULL, m, NULL);
            }
            out[i * classes + k] += total;
        }
}

#endif
