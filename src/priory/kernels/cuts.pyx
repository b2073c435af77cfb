"""Where to cut a row of cells by minimum description length (Fayyad & Irani 1993)."""

import numpy as np

from libc.math cimport log2, pow


cdef inline double x_log2_x(double x) noexcept nogil:
    return x * log2(x) if x > 0.0 else 0.0


cdef Py_ssize_t best_cut(const double[:, ::1] upto, Py_ssize_t low, Py_ssize_t high) noexcept nogil:
    """Find where to cut cells low … high − 1, given the sums of all cells before each; 0: nowhere."""
    cdef Py_ssize_t K = upto.shape[1], i, k, best = 0, n_left = 0, n_right = 0, n_seen = 0
    cdef double left, right, of_left, of_right, bits_left, bits_right, bits, total = 0.0, own
    cdef double least = 0.0, least_left = 0.0, least_right = 0.0, weight_left = 0.0, entropies, classes
    for i in range(low + 1, high):
        of_left = of_right = bits_left = bits_right = 0.0
        for k in range(K):
            left = upto[i, k] - upto[low, k]
            right = upto[high, k] - upto[i, k]
            of_left += left
            of_right += right
            bits_left -= x_log2_x(left)
            bits_right -= x_log2_x(right)
        bits_left += x_log2_x(of_left)
        bits_right += x_log2_x(of_right)
        if best == 0 or bits_left + bits_right < least:
            best, least = i, bits_left + bits_right
            least_left, least_right, weight_left = bits_left, bits_right, of_left
    if best == 0:
        return 0
    bits = 0.0
    for k in range(K):
        own = upto[high, k] - upto[low, k]
        total += own
        bits -= x_log2_x(own)
        n_seen += own > 0.0
        n_left += upto[best, k] - upto[low, k] > 0.0
        n_right += upto[high, k] - upto[best, k] > 0.0
    bits += x_log2_x(total)
    of_right = total - weight_left
    if total <= 1.0 or weight_left <= 0.0 or of_right <= 0.0:
        return 0
    entropies = n_seen * bits / total - n_left * least_left / weight_left - n_right * least_right / of_right
    # log2(3^k − 2) ≈ k log2 3 for large k, where 3^k would overflow.
    classes = log2(pow(3.0, n_seen) - 2.0) if n_seen < 600 else n_seen * log2(3.0)
    return best if bits - least > log2(total - 1.0) + classes - entropies else 0


def mdl_cuts(const double[:, ::1] upto not None):
    """Find after which cells to cut, in order.

    upto (cells + 1, classes)  the counts of all cells before each, and of all
    """
    if upto.shape[0] < 1:
        raise ValueError("upto must have a row for what is before the first cell.")
    cdef Py_ssize_t low, high, cut
    found, stretches = [], [(0, upto.shape[0] - 1)]
    while stretches:
        low, high = stretches.pop()
        cut = best_cut(upto, low, high)
        if cut:
            found.append(cut - 1)
            stretches += [(low, cut), (cut, high)]
    return np.array(sorted(found), dtype=np.int64)
