/* Products of counts and weights, and the logarithms of shares that are such weights. */
#ifndef PRIORY_PRODUCTS_H
#define PRIORY_PRODUCTS_H

#include "elementary.h"
#include "tiles.h"

/* out[j, k] = log (counts[k, j] + pseudo[j]) / totals[k] for the columns from `first` to below `last`;
 * a share of zero has the logarithm −inf. */
PRIORY_CLONES static void log_shares_of(const double *counts, const double *pseudo,
                                        const double *totals, ptrdiff_t K, ptrdiff_t d,
                                        ptrdiff_t first, ptrdiff_t last, double *restrict out)
{
    for (ptrdiff_t left = first; left < last; left += 64) {
        ptrdiff_t n = last - left < 64 ? last - left : 64;
        for (ptrdiff_t k = 0; k < K; k++) {
            const double *restrict c = counts + k * d + left, *restrict a = pseudo + left;
            double logs[64], total = totals[k];
            for (ptrdiff_t j = 0; j < n; j++) {
                double share = (c[j] + a[j]) / total;
                double log_share = log_of(share >= DBL_MIN ? share : 1.0, 0.0);
                logs[j] = share >= DBL_MIN ? log_share : -INFINITY;
            }
            for (ptrdiff_t j = 0; j < n; j++)
                out[(left + j) * K + k] = logs[j];
        }
    }
}

/* out += x · weights over the entries that are not zero, so that 0 · (−inf) = 0. */
PRIORY_CLONES static void add_products(const double *restrict x, ptrdiff_t d,
                                       const double *restrict weights, ptrdiff_t K,
                                       double *restrict out)
{
    for (ptrdiff_t j = 0; j < d; j++)
        if (x[j] != 0.0)
            for (ptrdiff_t k = 0; k < K; k++)
                out[k] += x[j] * weights[j * K + k];
}

/* out[k] += x · weights[k] for each of the nonzero entries of a sparse row. */
#define PRIORY_ADD_SPARSE_ROW(NAME, DATA, INDEX)                                                  \
    PRIORY_CLONES static void NAME(const DATA *data, const INDEX *indices, ptrdiff_t n,           \
                                   const double *weights, ptrdiff_t K, double *restrict out)      \
    {                                                                                             \
        for (ptrdiff_t at = 0; at < n; at++) {                                                    \
            double x = (double)data[at];                                                          \
            const double *restrict w = weights + (ptrdiff_t)indices[at] * K;                      \
            PRIORY_PREFETCH(weights + (ptrdiff_t)indices[at + 8 < n ? at + 8 : at] * K);          \
            if (x != 0.0)                                                                         \
                for (ptrdiff_t k = 0; k < K; k++)                                                 \
                    out[k] += x * w[k];                                                           \
        }                                                                                         \
    }
PRIORY_ADD_SPARSE_ROW(add_sparse_row_f4_i4, float, int32_t)
PRIORY_ADD_SPARSE_ROW(add_sparse_row_f8_i4, double, int32_t)
PRIORY_ADD_SPARSE_ROW(add_sparse_row_i8_i4, int64_t, int32_t)
PRIORY_ADD_SPARSE_ROW(add_sparse_row_f4_i8, float, int64_t)
PRIORY_ADD_SPARSE_ROW(add_sparse_row_f8_i8, double, int64_t)
PRIORY_ADD_SPARSE_ROW(add_sparse_row_i8_i8, int64_t, int64_t)
#define add_sparse_row(data, indices, n, weights, K, out)                                         \
    _Generic((indices),                                                                           \
        const int32_t *: _Generic((data), const float *: add_sparse_row_f4_i4,                    \
                                  const double *: add_sparse_row_f8_i4,                           \
                                  const int64_t *: add_sparse_row_i8_i4),                         \
        const int64_t *: _Generic((data), const float *: add_sparse_row_f4_i8,                    \
                                  const double *: add_sparse_row_f8_i8,                           \
                                  const int64_t *: add_sparse_row_i8_i8))                         \
    (data, indices, n, weights, K, out)

/* Add x · weights of a tile, rows × columns times columns × classes, all weights finite. With
 * `binary` an entry counts as 1 above the threshold and as 0 below. */
PRIORY_INLINE void products(const double *restrict tile, ptrdiff_t columns, ptrdiff_t rows,
                            ptrdiff_t classes, const double *weights, int binary,
                            double threshold, double *restrict out)
{
    for (ptrdiff_t k = 0; k < classes; k++) {
        double sum[PRIORY_TILE_ROWS] = {0.0};
        for (ptrdiff_t j = 0; j < columns; j++) {
            const double *restrict x = tile + j * PRIORY_TILE_ROWS;
            double w = weights[j * classes + k];
            for (int r = 0; r < PRIORY_TILE_ROWS; r++)
                sum[r] += binary ? (x[r] > threshold ? w : 0.0) : x[r] * w;
        }
        for (ptrdiff_t r = 0; r < rows; r++)
            out[r * classes + k] += sum[r];
    }
}

PRIORY_CLONES static void product_tile(const double *tile, ptrdiff_t columns, ptrdiff_t rows,
                                       ptrdiff_t classes, const double *weights, double *out)
{
    products(tile, columns, rows, classes, weights, 0, 0.0, out);
}

PRIORY_CLONES static void presence_tile(const double *tile, ptrdiff_t columns, ptrdiff_t rows,
                                        ptrdiff_t classes, const double *weights,
                                        double threshold, double *out)
{
    products(tile, columns, rows, classes, weights, 1, threshold, out);
}

#endif
