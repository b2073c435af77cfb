"""Labels and probabilities for the tests of evaluations, with ties, zeros and gaps."""

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

few = settings(max_examples=30, deadline=None)  # scikit-learn is slow to look at its arguments


@st.composite
def judged(draw, classes=(1, 4), rows=(1, 25), weighted=None):
    """Return the codes of true labels, probabilities and weights (or None)."""
    k = draw(st.integers(*classes))
    n = draw(st.integers(*rows))
    truth = draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n))
    cells = draw(st.lists(st.integers(0, 3), min_size=n * k, max_size=n * k))
    counts = np.array(cells, dtype=float).reshape(n, k)
    counts[counts.sum(axis=1) == 0] = 1
    probabilities = counts / counts.sum(axis=1, keepdims=True)
    weights = None
    if draw(st.booleans()) if weighted is None else weighted:
        drawn = draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=n, max_size=n))
        weights = np.array(drawn)
        weights[0] = weights[0] or 1.0
    return np.array(truth), probabilities, weights
