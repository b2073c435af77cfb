/* Logarithm and exponential without branches, so that loops over them vectorise. */
#ifndef PRIORY_ELEMENTARY_H
#define PRIORY_ELEMENTARY_H

#include "clones.h"

/* log u for normal u > 0, and what u lost when it was rounded; no branches, so that it vectorises;
 * about 2 ulp.   u = 2^e · m, m in [√½, √2);  log m = 2·artanh(s), s = (m − 1)/(m + 1), |s| < 0.172 */
static inline double log_of(double u, double lost)
{
    const uint64_t sqrt_half = 0x3FE6A09E667F3BCD;
    double m, e, scale;
    uint64_t bits, power, inverse;
    memcpy(&bits, &u, sizeof bits);
    power = (bits - sqrt_half + ((uint64_t)1023 << 52)) >> 52; /* e + 1023, never negative */
    bits -= (power - 1023) << 52;
    inverse = (2046 - power) << 52; /* 2^-e as a float64 */
    power |= 0x4330000000000000;    /* 2^52 + e + 1023 as a float64 */
    memcpy(&m, &bits, sizeof m);
    memcpy(&scale, &inverse, sizeof scale);
    memcpy(&e, &power, sizeof e);
    e -= 4503599627370496.0 + 1023.0;
    double f = m - 1.0, s = f / (m + 1.0), q = s * s;
    double series = q * (1.0 / 3 + q * (1.0 / 5 + q * (1.0 / 7 + q * (1.0 / 9 + q * (1.0 / 11
                  + q * (1.0 / 13 + q * (1.0 / 15 + q * (1.0 / 17 + q * (1.0 / 19 + q / 21)))))))));
    /* What was lost is below half an ulp of u: 1/u = 2^-e / m needs only a few digits. */
    double more = lost * scale * (1.0 - f + f * f);
    return e * 6.93147180369123816490e-01 /* ln 2, its leading 33 bits: e times it is exact */
           + (2.0 * s + (2.0 * s * series + (e * 1.90821492927058770002e-10 + more)));
}

/* log(1 + z) for z >= 0. */
static inline double log1p_of(double z)
{
    double u = 1.0 + z, log_u = log_of(u, z - (u - 1.0));
    return u <= DBL_MAX ? log_u : u;
}

/* e^x for x <= 0, without branches so that it vectorises; about 1 ulp, 0 below −708.
 *   x = k·ln 2 + r, |r| <= ½ ln 2;  e^x = 2^k · e^r */
static inline double exp_of(double x)
{
    const double shift = 6755399441055744.0; /* 1.5·2^52: adding it rounds to an integer */
    double clipped = x > -708.0 ? x : -708.0;
    double k = clipped * 1.44269504088896340736 + shift;
    int64_t bits;
    memcpy(&bits, &k, sizeof bits);
    k -= shift;
    double r = (clipped - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;
    double p = 1.0 + r * (1.0 + r * (1.0 / 2 + r * (1.0 / 6 + r * (1.0 / 24 + r * (1.0 / 120
             + r * (1.0 / 720 + r * (1.0 / 5040 + r * (1.0 / 40320 + r * (1.0 / 362880
             + r * (1.0 / 3628800 + r * (1.0 / 39916800 + r / 479001600)))))))))));
    uint64_t power = ((uint64_t)(bits + 1023)) << 52;
    double scale;
    memcpy(&scale, &power, sizeof scale);
    return x > -708.0 ? p * scale : 0.0;
}

#endif
