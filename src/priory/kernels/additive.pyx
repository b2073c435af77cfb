"""Scores that are sums over cells: what each row's cells add up to, and its gradient."""

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


def log_loss_residuals(
    double[:, ::1] scores, const int32_t[::1] y, const double[::1] weight
):
    """Turn scores into w (P − [k = y]), in place, and give Σ w (−log P(y)).

    scores (n, S)     of each class, or with S = 1 the log-odds of the second of two
    """
    cdef Py_ssize_t n = scores.shape[0], S = scores.shape[1], i, s
    cdef double loss = 0.0, top, total, e, w, own
    check_length(y.shape[0], n, "y")
    check_length(weight.shape[0], n, "weight")
    with nogil:
        for i in range(n):
            w = weight[i]
            if w == 0.0:
                for s in range(S):
                    scores[i, s] = 0.0
            elif S == 1:
                # odds against the truth: the loss is log(1 + e^against)
                own = scores[i, 0] if y[i] == 0 else -scores[i, 0]
                e = exp(-own if own > 0.0 else own)
                loss += w * ((own if own > 0.0 else 0.0) + log1p(e))
                total = (1.0 if own > 0.0 else e) / (1.0 + e)
                scores[i, 0] = w * (total if y[i] == 0 else -total)
            else:
                top = scores[i, 0]
                for s in range(1, S):
                    if scores[i, s] > top:
                        top = scores[i, s]
                own = scores[i, y[i]] - top
                total = 0.0
                for s in range(S):
                    e = exp(scores[i, s] - top)
                    scores[i, s] = e
                    total += e
                loss += w * (log(total) - own)
                for s in range(S):
                    scores[i, s] *= w / total
                scores[i, y[i]] -= w
    return loss
