"""Checks at the door of a kernel: loops do not look where they read."""


cdef inline int check_length(Py_ssize_t found, Py_ssize_t wanted, str name) except -1:
    if found != wanted:
        raise ValueError(f"{name} must have the length {wanted}, not {found}.")
    return 0


cdef inline int check_shape(
    Py_ssize_t rows, Py_ssize_t columns, Py_ssize_t wanted_rows, Py_ssize_t wanted_columns, str name
) except -1:
    if rows != wanted_rows or columns != wanted_columns:
        raise ValueError(f"{name} must have the shape {(wanted_rows, wanted_columns)}, not {(rows, columns)}.")
    return 0


cdef inline int check_starts(starts, Py_ssize_t size, str name) except -1:
    """Check that stretches, each from one start to the next, are inside of something so long."""
    if len(starts) and (starts[0] < 0 or starts[len(starts) - 1] > size or (starts[1:] < starts[:len(starts) - 1]).any()):
        raise ValueError(f"{name} must ascend from 0 to at most {size}.")
    return 0
