"""Scores that are sums over cells: what each row's cells add up to, and its gradient."""

import numpy as np

from libc.math cimport exp, log, log1p
from libc.stdint cimport int32_t

from priory.kernels.shapes cimport check_length, check_shape


def add_cells(const int32_t[:, ::1] codes, const double[:, ::1] table, double[:, ::1] out):
    """Add what the cells of each row say: out[i] += Σ_j table[codes[i, j]].

    codes (n, d)      a row of the table for each row and column, negative where there is none
    table (P, S)
    out (n, S)
    """
    cdef Py_ssize_t n = codes.shape[0], d = codes.shape[1], S = table.shape[1], i, j, s
    cdef int32_t code
    cdef double total
    check_shape(out.shape[0], out.shape[1], n, S, "out")
    with nogil:
        if S == 1:
            for i in range(n):
                total = 0.0
                for j in range(d):
                    code = codes[i, j]
                    if code >= 0:
                        total += table[code, 0]
                out[i, 0] += total
        else:
            for i in range(n):
                for j in range(d):
                    code = codes[i, j]
                    if code >= 0:
                        for s in range(S):
                            out[i, s] += table[code, s]


def sum_cells(const int32_t[:, ::1] codes, const double[:, ::1] values, double[:, ::1] out):
    """Sum the values of the rows of each cell: out[codes[i, j]] += values[i], for every j.

    codes (n, d), values (n, S), out (P, S)
    """
    cdef Py_ssize_t n = codes.shape[0], d = codes.shape[1], S = values.shape[1], i, j, s
    cdef int32_t code
    check_length(values.shape[0], n, "values")
    check_shape(out.shape[0], out.shape[1], out.shape[0], S, "out")
    with nogil:
        if S == 1:
            for i in range(n):
                for j in range(d):
                    code = codes[i, j]
                    if code >= 0:
                        out[code, 0] += values[i, 0]
        else:
            for i in range(n):
                for j in range(d):
                    code = codes[i, j]
                    if code >= 0:
                        for s in range(S):
                            out[code, s] += values[i, s]


cdef double residual(double* scores, Py_ssize_t S, int32_t y, double w) noexcept nogil:
    """Turn the scores of one row into w (P − [k = y]), in place, and give w (−log P(y))."""
    cdef Py_ssize_t s
    cdef double top, total, e, own, loss
    if w == 0.0:
        for s in range(S):
            scores[s] = 0.0
        return 0.0
    if S == 1:
        # odds against the truth: the loss is log(1 + e^against)
        own = scores[0] if y == 0 else -scores[0]
        e = exp(-own if own > 0.0 else own)
        loss = w * ((own if own > 0.0 else 0.0) + log1p(e))
        total = (1.0 if own > 0.0 else e) / (1.0 + e)
        scores[0] = w * (total if y == 0 else -total)
        return loss
    top = scores[0]
    for s in range(1, S):
        if scores[s] > top:
            top = scores[s]
    own = scores[y] - top
    total = 0.0
    for s in range(S):
        e = exp(scores[s] - top)
        scores[s] = e
        total += e
    loss = w * (log(total) - own)
    for s in range(S):
        scores[s] *= w / total
    scores[y] -= w
    return loss


def log_loss_residuals(
    double[:, ::1] scores not None, const int32_t[::1] y not None, const double[::1] weight not None
):
    """Turn scores into w (P − [k = y]), in place, and give Σ w (−log P(y)).

    scores (n, S)     of each class, or with S = 1 the log-odds of the second of two
    """
    cdef Py_ssize_t n = scores.shape[0], S = scores.shape[1], i
    cdef double loss = 0.0
    check_length(y.shape[0], n, "y")
    check_length(weight.shape[0], n, "weight")
    with nogil:
        for i in range(n):
            loss += residual(&scores[i, 0], S, y[i], weight[i])
    return loss


def additive_gradient(
    const int32_t[:, ::1] codes not None, const double[:, ::1] table not None,
    const double[:, ::1] offset not None, const int32_t[::1] y not None,
    const double[::1] weight not None, double[:, ::1] out not None,
):
    """Add up the derivative of Σ w (−log P(y)) by each entry of the table, and give the sum.

    The scores of a row are its offset and what its cells say, as of `add_cells`; what is wrong
    with them, as of `log_loss_residuals`, is summed by cell, as of `sum_cells`.

    codes (n, d), table (P, S), offset (n, S), y (n,), weight (n,), out (P, S)
    """
    cdef Py_ssize_t n = codes.shape[0], d = codes.shape[1], S = table.shape[1], i, j, s
    cdef int32_t code
    cdef double loss = 0.0, one
    check_shape(offset.shape[0], offset.shape[1], n, S, "offset")
    check_length(y.shape[0], n, "y")
    check_length(weight.shape[0], n, "weight")
    check_shape(out.shape[0], out.shape[1], table.shape[0], S, "out")
    cdef double[::1] scores = np.empty(max(S, 1))
    with nogil:
        for i in range(n):
            if S == 1:
                one = offset[i, 0]
                for j in range(d):
                    code = codes[i, j]
                    if code >= 0:
                        one += table[code, 0]
                loss += residual(&one, 1, y[i], weight[i])
                for j in range(d):
                    code = codes[i, j]
                    if code >= 0:
                        out[code, 0] += one
                continue
            for s in range(S):
                scores[s] = offset[i, s]
            for j in range(d):
                code = codes[i, j]
                if code >= 0:
                    for s in range(S):
                        scores[s] += table[code, s]
            loss += residual(&scores[0], S, y[i], weight[i])
            for j in range(d):
                code = codes[i, j]
                if code >= 0:
                    for s in range(S):
                        out[code, s] += scores[s]
    return loss


def cell_losses(const double[:, :, ::1] scores not None, const double[:, :, ::1] counts not None):
    """Give Σ n (−log P(k)) of each group, over cells and classes.

    scores (cells, groups, S)  of each class, or with S = 1 the log-odds of the second of two
    counts (cells, groups, K)  the weight of the rows of each class
    """
    cdef Py_ssize_t n = scores.shape[0], G = scores.shape[1], S = scores.shape[2], K = counts.shape[2], i, g, k
    cdef double top, total, loss, s
    check_shape(counts.shape[0], counts.shape[1], n, G, "counts")
    check_length(K, 2 if S == 1 else S, "counts")
    found = np.zeros(G)
    cdef double[::1] out = found
    with nogil:
        for i in range(n):
            for g in range(G):
                if S == 1:
                    if counts[i, g, 0] == 0.0 and counts[i, g, 1] == 0.0:
                        continue
                    s = scores[i, g, 0]
                    total = log1p(exp(-s if s > 0.0 else s))
                    out[g] += counts[i, g, 0] * (total + (s if s > 0.0 else 0.0))
                    out[g] += counts[i, g, 1] * (total + (-s if s < 0.0 else 0.0))
                    continue
                total = 0.0
                for k in range(K):
                    total += counts[i, g, k]
                if total == 0.0:
                    continue
                top = scores[i, g, 0]
                for k in range(1, K):
                    if scores[i, g, k] > top:
                        top = scores[i, g, k]
                loss = 0.0
                for k in range(K):
                    loss += exp(scores[i, g, k] - top)
                loss = log(loss) + top
                for k in range(K):
                    out[g] += counts[i, g, k] * (loss - scores[i, g, k])
    return found
