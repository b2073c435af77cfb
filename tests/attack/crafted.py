"""Words that an unkeyed hash would send to one place of its table."""

import numpy as np

MULTIPLIERS = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F


def crafted_words(n, rng, bits=20):
    """Make n words of 16 letters for which first·a + second·b is about the same, modulo 2^64."""
    letters = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz", np.uint8)
    halves = np.unique(rng.choice(letters, (1 << bits, 8)).view(np.uint64).ravel())
    a, b = map(np.uint64, MULTIPLIERS)
    products = halves * a
    order = np.argsort(products)
    products, found = products[order], set()
    while len(found) < n:
        second = rng.choice(letters, (n, 8)).view(np.uint64).ravel()
        wanted = np.uint64(7 << 40) - second * b
        place = np.searchsorted(products, wanted) % len(products)
        near = products[place] - wanted < np.uint64(1) << np.uint64(64 - bits)
        pairs = np.column_stack([halves[order[place[near]]], second[near]])
        found.update(row.tobytes().decode() for row in pairs)
    return sorted(found)[:n]


def random_words(n, rng):
    """Make as many words of 16 letters by chance."""
    letters = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz", np.uint8)
    return [row.tobytes().decode() for row in rng.choice(letters, (n, 16))]
