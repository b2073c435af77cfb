/* How the innermost loops are compiled: in plain C, so that each can be compiled twice, once for every
 * CPU and once for AVX2, chosen when the module is loaded. Cython cannot attach that attribute to its
 * functions. Neither clone may use fma, so both give the same bits. */
#ifndef PRIORY_CLONES_H
#define PRIORY_CLONES_H


#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Clones need x86-64, a dynamic linker with ifunc (glibc) and a compiler that knows the attribute. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__has_attribute)
#if __has_attribute(target_clones)
#define PRIORY_CLONES __attribute__((target_clones("avx2", "default"), unused))
#endif
#endif
#if defined(__GNUC__)
#define PRIORY_UNUSED __attribute__((unused)) /* each module uses some of the loops */
#define PRIORY_INLINE __attribute__((always_inline)) static inline
#else
#define PRIORY_UNUSED
#define PRIORY_INLINE static inline
#endif
#ifndef PRIORY_CLONES
#define PRIORY_CLONES PRIORY_UNUSED
#endif
/* The arrays of the next loop do not overlap. */
#if defined(__clang__)
#define PRIORY_APART _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define PRIORY_APART _Pragma("GCC ivdep")
#else
#define PRIORY_APART
#endif

#if defined(_MSC_VER)
#define restrict __restrict
#endif
#if defined(__GNUC__)
#define PRIORY_PREFETCH(address) __builtin_prefetch(address)
#else
#define PRIORY_PREFETCH(address) ((void)0)
#endif

#endif
