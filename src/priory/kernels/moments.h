/* Sums of numbers and of their squares, per class and column, as double-doubles.
 *
 * There are three ways to sum, the fastest that gives the last bit where there is one to give:
 *
 *   whole    plain sums of integers, tile by tile. No partial sum of squares passes 2^53, so
 *            nothing is rounded.
 *   caught   raw sums; what an addition or a product rounds away is caught and kept apart. Exact
 *            wherever all digits of the sums fit into a double-double.
 *   rounded  plain sums about an origin near the mean, block by block. For columns of numbers of 53
 *            bits, whose squares have 106: their sums do not fit into a double-double anyhow.
 *
 * Exact sums are the same in any order and in any pieces. */
#ifndef PRIORY_MOMENTS_H
#define PRIORY_MOMENTS_H

#include "doubledouble.h"

/* ---- moments per class and column ----------------------------------------------------------- */

#define PRIORY_LARGEST 1e150 /* beyond it a square overflows */
#define PRIORY_WHOLE 9007199254740992.0 /* 2^53: up to it every integer is a double */
#define PRIORY_BLOCK 1024    /* rows of a class that are summed before they join the totals */
#define PRIORY_GROWTH 4      /* an origin serves until there are so many times the rows it is of */
#define PRIORY_AHEAD 1024    /* values that are fetched ahead: the sums take as long as the fetching */
#define PRIORY_LANES 4       /* copies of a table, so that equal neighbours need not wait */

/* All arrays are (classes, columns) unless said. */
typedef struct {
    ptrdiff_t classes, columns;
    const int8_t *rounded;      /* 1 where sums are about an origin; by rows: in all columns or none */
    double *n, *w, *w_lo;       /* pending, of rows with missing values: rows, Σw */
    double *p1, *p1_lo, *p2, *p2_lo; /* pending: Σwx, Σwx², or Σwd, Σwd² with d = x − origin */
    double *class_n, *class_w, *class_w_lo; /* (classes,) pending rows without a missing value: in every column */
    int64_t *pending, *block;   /* (classes,) rows since the last flush; rows until the next */
    double *origin;             /* near the class's values; NaN until its first value */
    int64_t *ready;             /* (classes,) 1 when every column has its origin */
    dd *sum_w, *sum_d1, *sum_d2; /* about the origin, since it last moved */
    double *counted, *moved;    /* rows flushed so far; rows when the origin last moved */
    int64_t *rows;              /* the totals that are added to: raw Σw, Σwx, Σwx² */
    double *total, *total_lo, *s1_hi, *s1_lo, *s2_hi, *s2_lo; /* total_lo may be NULL */
} moments;

/* Have memory for what is pending; −1: there is none. The totals and `rounded` are the caller's. */
PRIORY_UNUSED static int start_moments(moments *m, ptrdiff_t classes, ptrdiff_t columns)
{
    ptrdiff_t K = classes, size = classes * columns;
    double *at = m->n = (double *)calloc((size_t)(16 * size + 3 * K), sizeof(double));
    m->pending = (int64_t *)calloc((size_t)(3 * K + 1), sizeof(int64_t));
    if (at == NULL || m->pending == NULL)
        return -1;
    double **parts[] = {&m->n, &m->w, &m->w_lo, &m->p1, &m->p1_lo, &m->p2, &m->p2_lo, &m->counted, &m->moved, &m->origin};
    for (int i = 0; i < 10; i++, at += size)
        *parts[i] = at;
    m->sum_w = (dd *)at, m->sum_d1 = m->sum_w + size, m->sum_d2 = m->sum_d1 + size;
    m->class_n = at + 6 * size, m->class_w = m->class_n + K, m->class_w_lo = m->class_w + K;
    m->block = m->pending + K, m->ready = m->block + K;
    for (ptrdiff_t i = 0; i < size; i++)
        m->origin[i] = NAN;
    m->classes = classes, m->columns = columns;
    return 0;
}

PRIORY_UNUSED static void free_moments(moments *m)
{
    free(m->n);
    free(m->pending);
}

/* Add raw sums to the totals. */
static inline void add_totals(moments *m, ptrdiff_t at, dd w, dd s1, dd s2)
{
    if (m->total_lo != NULL)
        dd_into(&m->total[at], &m->total_lo[at], w);
    else
        m->total[at] += w.hi;
    dd_into(&m->s1_hi[at], &m->s1_lo[at], s1);
    dd_into(&m->s2_hi[at], &m->s2_lo[at], s2);
}

/* Turn the sums about the origin into raw sums; the origin moves to the mean so far.
 *   Σwx = o·W + D1        Σwx² = o·(o·W + 2·D1) + D2 */
static inline void move_origin(moments *m, ptrdiff_t at)
{
    dd w = m->sum_w[at], d1 = m->sum_d1[at], d2 = m->sum_d2[at], zero = {0.0, 0.0};
    double o = m->origin[at];
    if (o != o)
        return;
    dd ow = dd_times(w, o), twice = {2.0 * d1.hi, 2.0 * d1.lo};
    add_totals(m, at, w, dd_add(ow, d1), dd_add(dd_times(dd_add(ow, twice), o), d2));
    m->sum_w[at] = m->sum_d1[at] = m->sum_d2[at] = zero;
    if (w.hi > 0.0)
        m->origin[at] = o + d1.hi / w.hi;
}

/* Add pending sums to what they belong to. The first origin is one value, perhaps an outlier, so the
 * origin moves to the mean whenever the rows are four times as many: |origin| · rows stays below
 * 4·Σ|x|, and the rounding of x − origin below 4e-16 · Σ|x| per move. */
static inline void flush(moments *m, ptrdiff_t at, double n, dd w, dd s1, dd s2)
{
    m->rows[at] += (int64_t)n;
    w = two_sum(w.hi, w.lo), s1 = two_sum(s1.hi, s1.lo), s2 = two_sum(s2.hi, s2.lo);
    if (!m->rounded[at]) {
        add_totals(m, at, w, s1, s2);
        return;
    }
    m->sum_w[at] = dd_add(m->sum_w[at], w);
    m->sum_d1[at] = dd_add(m->sum_d1[at], s1);
    m->sum_d2[at] = dd_add(m->sum_d2[at], s2);
    m->counted[at] += n;
    if (m->counted[at] >= PRIORY_GROWTH * m->moved[at]) {
        move_origin(m, at);
        m->moved[at] = m->counted[at];
    }
}

PRIORY_UNUSED static void flush_class(moments *m, ptrdiff_t c)
{
    dd of_class = two_sum(m->class_w[c], m->class_w_lo[c]);
    for (ptrdiff_t at = c * m->columns, end = at + m->columns; at < end; at++) {
        dd w = dd_add(of_class, two_sum(m->w[at], m->w_lo[at]));
        dd s1 = {m->p1[at], m->p1_lo[at]}, s2 = {m->p2[at], m->p2_lo[at]};
        flush(m, at, m->class_n[c] + m->n[at], w, s1, s2);
        m->n[at] = m->w[at] = m->w_lo[at] = 0.0;
        m->p1[at] = m->p1_lo[at] = m->p2[at] = m->p2_lo[at] = 0.0;
    }
    m->class_n[c] = m->class_w[c] = m->class_w_lo[c] = 0.0;
    m->pending[c] = 0;
    if (m->block[c] < PRIORY_BLOCK)
        m->block[c] *= PRIORY_GROWTH;
}

PRIORY_UNUSED static void finish_moments(moments *m)
{
    for (ptrdiff_t c = 0; c < m->classes; c++) {
        flush_class(m, c);
        for (ptrdiff_t at = c * m->columns; at < (c + 1) * m->columns; at++)
            if (m->rounded[at])
                move_origin(m, at);
    }
}

/* Add to a sum in two parts, the second of which holds what the first had to drop. */
PRIORY_INLINE void add_caught(double *sum, double *dropped, double value, double more)
{
    dd s = two_sum(*sum, value);
    *sum = s.hi;
    *dropped += s.lo + more;
}

/* Add w·x and w·x² of one number, with all that is rounded away. */
PRIORY_INLINE void add_powers(double x, double w, int weighted, double *s1, double *s1_lo, double *s2,
                              double *s2_lo)
{
    dd u = {x, 0.0};
    if (weighted)
        u = split_product(w, x);
    dd square = split_product(u.hi, x);
    add_caught(s1, s1_lo, u.hi, u.lo);
    add_caught(s2, s2_lo, square.hi, weighted ? square.lo + u.lo * x : square.lo);
}

/* ---- integers -------------------------------------------------------------------------- */

/* 1 unless a double is an integer; one beyond 2^51 may pass, NaN does not. */
PRIORY_INLINE int64_t is_broken(double x)
{
    const double shift = 6755399441055744.0; /* 1.5·2^52: adding it rounds to an integer */
    return !((x + shift) - shift == x);
}

/* Sum a tile of rows of integers; return 0, with nothing pending, if it cannot be done exactly:
 * a number or weight is not whole, or a sum of squares passes 2^53. No sum is larger than that of
 * the squares. */
PRIORY_CLONES static int whole_by_row(moments *m, const double *x, ptrdiff_t stride, ptrdiff_t rows,
                                      const int32_t *y, const double *weight)
{
    ptrdiff_t i, j, d = m->columns, size = m->classes * d, ahead = PRIORY_AHEAD / d + 1;
    int64_t broken = 0, large = 0;
    for (i = 0; i < rows && broken == 0; i++, x += stride) {
        ptrdiff_t c = y[i];
        double w = weight != NULL ? weight[i] : 1.0;
        double *restrict s1 = m->p1 + c * d, *restrict s2 = m->p2 + c * d;
        if (i + ahead < rows)
            for (j = 0; j < d; j += 8)
                PRIORY_PREFETCH(x + ahead * stride + j);
        broken = is_broken(w);
        m->class_n[c] += 1.0;
        m->class_w[c] += w;
        PRIORY_APART
        for (j = 0; j < d; j++) {
            double u = w * x[j];
            broken += is_broken(x[j]);
            s1[j] += u;
            s2[j] += u * x[j];
        }
    }
    for (j = 0; j < size; j++)
        large += !(m->p2[j] < PRIORY_WHOLE);
    for (i = 0; i < m->classes; i++)
        large += !(m->class_w[i] < PRIORY_WHOLE);
    if (broken + large == 0)
        return 1;
    memset(m->p1, 0, sizeof(double) * size);
    memset(m->p2, 0, sizeof(double) * size);
    memset(m->class_n, 0, sizeof(double) * m->classes);
    memset(m->class_w, 0, sizeof(double) * m->classes);
    return 0;
}

/* ---- any numbers, by rows ------------------------------------------------------------------- */

PRIORY_INLINE void caught_row(moments *m, const double *x, ptrdiff_t c, double w, int weighted, int gaps)
{
    ptrdiff_t j, d = m->columns;
    double *restrict s1 = m->p1 + c * d, *restrict s1_lo = m->p1_lo + c * d;
    double *restrict s2 = m->p2 + c * d, *restrict s2_lo = m->p2_lo + c * d;
    double *restrict n_ = m->n + c * d, *restrict w_ = m->w + c * d, *restrict w_lo = m->w_lo + c * d;
    PRIORY_APART
    for (j = 0; j < d; j++) {
        int here = !gaps || x[j] == x[j];
        if (gaps) {
            n_[j] += here ? 1.0 : 0.0;
            add_caught(&w_[j], &w_lo[j], here ? w : 0.0, 0.0);
        }
        add_powers(here ? x[j] : 0.0, w, weighted, &s1[j], &s1_lo[j], &s2[j], &s2_lo[j]);
    }
}

PRIORY_INLINE void rounded_row(moments *m, const double *x, ptrdiff_t c, double w, int gaps)
{
    ptrdiff_t j, d = m->columns;
    double *restrict o = m->origin + c * d;
    double *restrict d1 = m->p1 + c * d, *restrict d2 = m->p2 + c * d;
    double *restrict n_ = m->n + c * d, *restrict w_ = m->w + c * d;
    int64_t unset = 0;
    if (!m->ready[c]) {
        for (j = 0; j < d; j++) {
            if (o[j] != o[j])
                o[j] = x[j];
            unset += o[j] != o[j];
        }
        m->ready[c] = unset == 0;
    }
    PRIORY_APART
    for (j = 0; j < d; j++) {
        int here = !gaps || x[j] == x[j];
        double t = here ? x[j] - o[j] : 0.0, u = w * t;
        if (gaps) {
            n_[j] += here ? 1.0 : 0.0;
            w_[j] += here ? w : 0.0;
        }
        d1[j] += u;
        d2[j] += u * t;
    }
}

PRIORY_INLINE int any_by_row(moments *m, const double *x, ptrdiff_t stride, ptrdiff_t rows,
                             const int32_t *y, const double *weight, int weighted)
{
    ptrdiff_t i, j, d = m->columns, ahead = PRIORY_AHEAD / d + 1;
    for (i = 0; i < rows; i++, x += stride) {
        ptrdiff_t c = y[i];
        double w = weighted ? weight[i] : 1.0;
        int64_t odd = 0, large = 0; /* missing values, or values that are too large */
        if (i + ahead < rows)
            for (j = 0; j < d; j += 8)
                PRIORY_PREFETCH(x + ahead * stride + j);
        for (j = 0; j < d; j++)
            odd += !(fabs(x[j]) <= PRIORY_LARGEST);
        if (odd == 0) {
            m->class_n[c] += 1.0;
            add_caught(&m->class_w[c], &m->class_w_lo[c], w, 0.0);
            if (m->rounded[c * d])
                rounded_row(m, x, c, w, 0);
            else
                caught_row(m, x, c, w, weighted, 0);
        } else {
            for (j = 0; j < d; j++)
                large += fabs(x[j]) > PRIORY_LARGEST;
            if (large != 0)
                return 1;
            if (m->rounded[c * d])
                rounded_row(m, x, c, w, 1);
            else
                caught_row(m, x, c, w, weighted, 1);
        }
        if (++m->pending[c] >= m->block[c])
            flush_class(m, c);
    }
    return 0;
}

/* Rows of adjacent doubles, `stride` doubles apart. Returns 1 at a value that is too large. */
PRIORY_CLONES static int moments_by_row(moments *m, const double *x, ptrdiff_t stride, ptrdiff_t rows,
                                        const int32_t *y, const double *weight)
{
    return weight != NULL ? any_by_row(m, x, stride, rows, y, weight, 1)
                          : any_by_row(m, x, stride, rows, y, NULL, 0);
}

/* ---- any numbers, by columns ---------------------------------------------------------------- */

/* What a lane keeps of a class: rows, and the sums of w, wx and wx² in two parts each. */
enum { LANE_N, LANE_W, LANE_W_LO, LANE_1, LANE_1_LO, LANE_2, LANE_2_LO, LANE_SIZE = 8 };

PRIORY_INLINE void rounded_value(double x, double w, double *origin, double *s)
{
    if (*origin != *origin)
        *origin = x;
    int here = x == x;
    double t = here ? x - *origin : 0.0, v = here ? w : 0.0, u = v * t;
    s[LANE_N] += here ? 1.0 : 0.0;
    s[LANE_W] += v;
    s[LANE_1] += u;
    s[LANE_2] += u * t;
}

PRIORY_INLINE void caught_value(double x, double w, int weighted, double *s)
{
    int here = x == x;
    s[LANE_N] += here ? 1.0 : 0.0;
    if (weighted)
        add_caught(&s[LANE_W], &s[LANE_W_LO], here ? w : 0.0, 0.0);
    else
        s[LANE_W] += here ? 1.0 : 0.0;
    add_powers(here ? x : 0.0, w, weighted, &s[LANE_1], &s[LANE_1_LO], &s[LANE_2], &s[LANE_2_LO]);
}

PRIORY_INLINE void any_by_column(moments *m, const double *x, ptrdiff_t rows, const int32_t *y,
                                 const double *weight, ptrdiff_t column, double *table, int lanes,
                                 int weighted)
{
    ptrdiff_t i, c, K = m->classes, d = m->columns, rounded = 0;
    double *origin = m->origin + column;
    for (c = 0; c < K; c++)
        rounded += m->rounded[c * d + column];
    for (i = 0; i < rows && rounded == K; i++)
        rounded_value(x[i], weighted ? weight[i] : 1.0, origin + y[i] * d,
                      table + LANE_SIZE * ((i & (lanes - 1)) * K + y[i]));
    for (; i < rows; i++) {
        double *s = table + LANE_SIZE * ((i & (lanes - 1)) * K + y[i]);
        double w = weighted ? weight[i] : 1.0;
        if (m->rounded[y[i] * d + column])
            rounded_value(x[i], w, origin + y[i] * d, s);
        else
            caught_value(x[i], w, weighted, s);
    }
}

/* Sum integers; return whether that was exact. */
PRIORY_INLINE int whole_by_column(moments *m, const double *x, ptrdiff_t rows, const int32_t *y,
                                  const double *weight, double *table, int lanes)
{
    ptrdiff_t i, K = m->classes;
    int64_t broken = 0;
    for (i = 0; i < rows; i++)
        broken += is_broken(x[i]);
    if (weight != NULL)
        for (i = 0; i < rows; i++)
            broken += is_broken(weight[i]);
    if (broken != 0)
        return 0;
    for (i = 0; i < rows; i++) {
        double *restrict s = table + LANE_SIZE * ((i & (lanes - 1)) * K + y[i]);
        double w = weight != NULL ? weight[i] : 1.0, u = w * x[i];
        s[LANE_N] += 1.0;
        s[LANE_W] += w;
        s[LANE_1] += u;
        s[LANE_2] += u * x[i];
    }
    for (i = 0; i < lanes * K; i++) {
        const double *s = table + LANE_SIZE * i;
        broken += !(s[LANE_W] < PRIORY_WHOLE) + !(s[LANE_2] < PRIORY_WHOLE);
    }
    if (broken != 0)
        memset(table, 0, sizeof(double) * LANE_SIZE * lanes * K);
    return broken == 0;
}

/* One column of adjacent doubles, a block of rows; `table` holds a lane's sums of each class, all
 * zero. Returns 1 at a value that is too large; sets *whole to 0 once the numbers are not whole. */
PRIORY_CLONES static int moments_by_column(moments *m, const double *x, ptrdiff_t rows, const int32_t *y,
                                           const double *weight, ptrdiff_t column, double *table,
                                           int lanes, int8_t *whole)
{
    ptrdiff_t i, c, K = m->classes, d = m->columns;
    int64_t large = 0;
    for (i = 0; i < rows; i++)
        large += fabs(x[i]) > PRIORY_LARGEST;
    if (large != 0)
        return 1;
    *whole = *whole && whole_by_column(m, x, rows, y, weight, table, lanes);
    if (!*whole) {
        if (weight != NULL)
            any_by_column(m, x, rows, y, weight, column, table, lanes, 1);
        else
            any_by_column(m, x, rows, y, NULL, column, table, lanes, 0);
    }
    for (c = 0; c < K; c++) {
        double *sum = table + LANE_SIZE * c;
        for (i = 1; i < lanes; i++) {
            double *s = table + LANE_SIZE * (i * K + c);
            sum[LANE_N] += s[LANE_N];
            for (int part = LANE_W; part <= LANE_2; part += 2)
                add_caught(&sum[part], &sum[part + 1], s[part], s[part + 1]);
            memset(s, 0, LANE_SIZE * sizeof(double));
        }
        dd w = {sum[LANE_W], sum[LANE_W_LO]}, s1 = {sum[LANE_1], sum[LANE_1_LO]};
        dd s2 = {sum[LANE_2], sum[LANE_2_LO]};
        if (sum[LANE_N] != 0.0)
            flush(m, c * d + column, sum[LANE_N], w, s1, s2);
        memset(sum, 0, LANE_SIZE * sizeof(double));
    }
    return 0;
}

/* Read n, Σx and Σx² out: the mean Σx / n, and Σ(x − mean)² = Σx² − (Σx)²/n. */
PRIORY_UNUSED static void about_mean(dd n, dd s1, dd s2, double *mean, double *squares)
{
    dd ratio = dd_quotient(s1, n), left = dd_minus(s2, dd_product(ratio, s1));
    *mean = ratio.hi + ratio.lo;
    *squares = left.hi + left.lo;
}

/* Add one row of finite numbers to raw sums, every step exact to the last bit of a double-double. */
PRIORY_UNUSED static void add_row_exactly(const double *x, ptrdiff_t d, int64_t *rows, double *n_hi,
                                          double *n_lo, double *s1_hi, double *s1_lo, double *s2_hi,
                                          double *s2_lo)
{
    dd one = {1.0, 0.0};
    for (ptrdiff_t j = 0; j < d; j++) {
        dd value = {x[j], 0.0};
        rows[j] += 1;
        dd_into(&n_hi[j], &n_lo[j], one);
        dd_into(&s1_hi[j], &s1_lo[j], value);
        dd_into(&s2_hi[j], &s2_lo[j], two_prod(x[j], x[j]));
    }
}

#endif
