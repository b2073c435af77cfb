/* Hashes that nobody outside of the process can foresee: crafted words or numbers would else all want
 * the same place of a table. The key is Python's own secret, so that it is one for all modules of a
 * process, another for the next process, and PYTHONHASHSEED fixes it. What is counted does not depend
 * on it: codes are given in the order of appearance. */
#ifndef PRIORY_HASHING_H
#define PRIORY_HASHING_H

#include "clones.h"

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#endif

static uint64_t hash_key[2] = {0x9E3779B97F4A7C15u, 0xC2B2AE3D27D4EB4Fu};

/* Each module does this when it is loaded. */
PRIORY_UNUSED static void seed_hashes(uint64_t first, uint64_t second)
{
    hash_key[0] = first ^ 0x9E3779B97F4A7C15u;
    hash_key[1] = second ^ 0xC2B2AE3D27D4EB4Fu;
}

/* Multiply to 128 bits and fold: whoever does not know the key knows nothing of the result. */
static inline uint64_t folded(uint64_t a, uint64_t b)
{
#if defined(__SIZEOF_INT128__)
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
#elif defined(_MSC_VER) && (defined(_M_X64) || defined(_M_ARM64))
    return (a * b) ^ __umulh(a, b);
#else
    uint64_t low = (a & 0xFFFFFFFF) * (b & 0xFFFFFFFF), high = (a >> 32) * (b >> 32);
    uint64_t left = (a >> 32) * (b & 0xFFFFFFFF), right = (a & 0xFFFFFFFF) * (b >> 32);
    uint64_t middle = (low >> 32) + (left & 0xFFFFFFFF) + (right & 0xFFFFFFFF);
    return (a * b) ^ (high + (left >> 32) + (right >> 32) + (middle >> 32));
#endif
}

static inline uint64_t hash_of(uint64_t first, uint64_t second)
{
    return folded(first ^ hash_key[0], second ^ hash_key[1]);
}

#endif
