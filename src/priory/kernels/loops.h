/* The innermost loops, in plain C so that each can be compiled twice: once for every CPU and once
 * for AVX2, chosen when the module is loaded. Cython cannot attach that attribute to its functions.
 * Neither clone may use fma, so both give the same bits. */
#ifndef PRIORY_LOOPS_H
#define PRIORY_LOOPS_H

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Clones need x86-64, a dynamic linker with ifunc (glibc) and a compiler that knows the attribute. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__has_attribute)
#if __has_attribute(target_clones)
#define PRIORY_CLONES __attribute__((target_clones("avx2", "default"), unused))
#endif
#endif
#ifndef PRIORY_CLONES
#if defined(__GNUC__)
#define PRIORY_CLONES __attribute__((unused))
#else
#define PRIORY_CLONES
#endif
#endif

#endif
