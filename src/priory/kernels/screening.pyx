"""What two columns tell together, for so many pairs of them that each must take microseconds."""

import numpy as np

from libc.math cimport log
from libc.stdint cimport int32_t, uint32_t

from priory.kernels.shapes cimport check_length


cdef inline double x_log_x(double x) noexcept nogil:
    return x * log(x) if x > 0.0 else 0.0


cdef inline bint inside(int32_t code, Py_ssize_t size) noexcept nogil:
    """Tell whether a code is one of so many; one below 0 is none, and reads as a very large one."""
    return <uint32_t>code < <size_t>size


def shared_without(
    const int32_t[::1] a not None, const int32_t[::1] b not None, Py_ssize_t n_a, Py_ssize_t n_b,
    const int32_t[::1] place not None, const double[::1] weight not None,
    Py_ssize_t n_folds, Py_ssize_t n_classes,
):
    """Give N · I(A; B | class) in nats of the rows without each fold, and last of all rows.

    a, b (n,)         codes below n_a and n_b; a row with any other is left out
    place (n,)        fold · n_classes + class
    """
    cdef Py_ssize_t n = a.shape[0], P = n_folds * n_classes, i, j, f, k
    check_length(b.shape[0], n, "b")
    check_length(place.shape[0], n, "place")
    check_length(weight.shape[0], n, "weight")
    cdef double[:, :, ::1] counts = np.zeros((n_a, n_b, P))
    cdef double[:, :, ::1] total = np.zeros((n_a, n_b, n_classes))
    cdef double[::1] of_b = np.empty(n_b)
    found = np.zeros(n_folds + 1)
    cdef double[::1] out = found
    cdef double of_a, every, left, told
    with nogil:
        for i in range(n):
            if inside(a[i], n_a) and inside(b[i], n_b) and inside(place[i], P):
                counts[a[i], b[i], place[i]] += weight[i]
        for i in range(n_a):
            for j in range(n_b):
                for f in range(n_folds):
                    for k in range(n_classes):
                        total[i, j, k] += counts[i, j, f * n_classes + k]
        for f in range(n_folds + 1):
            told = 0.0
            for k in range(n_classes):
                for j in range(n_b):
                    of_b[j] = 0.0
                every = 0.0
                for i in range(n_a):
                    of_a = 0.0
                    for j in range(n_b):
                        left = total[i, j, k]
                        if f < n_folds:
                            left -= counts[i, j, f * n_classes + k]
                        if left > 0.0:
                            of_a += left
                            of_b[j] += left
                            told += x_log_x(left)
                    every += of_a
                    told -= x_log_x(of_a)
                for j in range(n_b):
                    told -= x_log_x(of_b[j])
                told += x_log_x(every)
            out[f] = told
    return found


def left_over(
    const int32_t[::1] a not None, const int32_t[::1] b not None, Py_ssize_t n_a, Py_ssize_t n_b,
    const double[:, ::1] slope not None, const double[:, ::1] bend not None, double held,
):
    """Find how far the left-overs of the cells of two columns lower the loss, and their freedom.

    What each column explains by itself is taken away first. What a cell would gain beyond chance
    is ½ (g² − h) / (h + held), and its freedom (h / (h + held))².

    slope, bend (n, S)  the first and second derivative of each row's loss
    """
    cdef Py_ssize_t n = a.shape[0], S = slope.shape[1], i, j, s
    check_length(b.shape[0], n, "b")
    check_length(slope.shape[0], n, "slope")
    check_length(bend.shape[0], n, "bend")
    check_length(bend.shape[1], S, "bend")
    cdef double[:, :, ::1] g = np.zeros((n_a, n_b, S)), h = np.zeros((n_a, n_b, S))
    cdef double of_g, of_h, trusted, gain = 0.0, freedom = 0.0
    with nogil:
        for i in range(n):
            if inside(a[i], n_a) and inside(b[i], n_b):
                for s in range(S):
                    g[a[i], b[i], s] += slope[i, s]
                    h[a[i], b[i], s] += bend[i, s]
        for s in range(S):
            for i in range(n_a):
                of_g = of_h = 0.0
                for j in range(n_b):
                    of_g += g[i, j, s]
                    of_h += h[i, j, s]
                if of_h > 0.0:
                    for j in range(n_b):
                        g[i, j, s] -= h[i, j, s] * of_g / of_h
            for j in range(n_b):
                of_g = of_h = 0.0
                for i in range(n_a):
                    of_g += g[i, j, s]
                    of_h += h[i, j, s]
                if of_h > 0.0:
                    for i in range(n_a):
                        g[i, j, s] -= h[i, j, s] * of_g / of_h
            for i in range(n_a):
                for j in range(n_b):
                    trusted = h[i, j, s] / (h[i, j, s] + held)
                    gain += g[i, j, s] * g[i, j, s] / (h[i, j, s] + held) - trusted
                    freedom += trusted * trusted
    return gain / 2.0, freedom
