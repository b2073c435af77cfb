/* Double-doubles: the unevaluated sum hi + lo, about 32 digits. */
#ifndef PRIORY_DOUBLEDOUBLE_H
#define PRIORY_DOUBLEDOUBLE_H

#include "clones.h"

typedef struct {
    double hi, lo;
} dd;

static inline dd two_sum(double a, double b) /* Knuth: a + b exactly */
{
    double s = a + b, t = s - a;
    dd r = {s, (a - (s - t)) + (b - t)};
    return r;
}

static inline dd two_prod(double a, double b) /* a * b exactly */
{
    double p = a * b;
    dd r = {p, fma(a, b, -p)};
    return r;
}

static inline dd dd_add(dd a, dd b)
{
    dd s = two_sum(a.hi, b.hi), t = two_sum(a.lo, b.lo);
    s = two_sum(s.hi, s.lo + t.hi);
    return two_sum(s.hi, s.lo + t.lo);
}

static inline dd dd_times(dd a, double b)
{
    dd p = two_prod(a.hi, b);
    return two_sum(p.hi, p.lo + a.lo * b);
}

static inline dd dd_product(dd a, dd b)
{
    dd p = two_prod(a.hi, b.hi);
    return two_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

static inline dd dd_minus(dd a, dd b)
{
    dd negative = {-b.hi, -b.lo};
    return dd_add(a, negative);
}

static inline dd dd_quotient(dd a, dd b) /* digit by digit, a digit being a float64 */
{
    double first = a.hi / b.hi;
    dd rest = dd_minus(a, dd_times(b, first));
    double second = rest.hi / b.hi;
    rest = dd_minus(rest, dd_times(b, second));
    dd sum = two_sum(first, second);
    return two_sum(sum.hi, sum.lo + rest.hi / b.hi);
}

static inline void dd_into(double *hi, double *lo, dd b)
{
    dd a = {*hi, *lo};
    a = dd_add(a, b);
    *hi = a.hi;
    *lo = a.lo;
}

/* Dekker: a · b exactly, for numbers far from overflow; unlike fma it vectorises on every CPU. */
PRIORY_INLINE dd split_product(double a, double b)
{
    const double split = 134217729.0; /* 2^27 + 1 */
    double p = a * b, ca = split * a, cb = split * b;
    double a_hi = ca - (ca - a), b_hi = cb - (cb - b), a_lo = a - a_hi, b_lo = b - b_hi;
    dd r = {p, ((a_hi * b_hi - p) + a_hi * b_lo + a_lo * b_hi) + a_lo * b_lo};
    return r;
}

#endif
