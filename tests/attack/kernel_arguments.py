"""Arrays of wrong types and shapes to every kernel, several at once: an error, never a signal."""

import warnings

import numpy as np
from tests.kernels.calls import SOUND, others


def run(rng, folder, enough):
    """Attack until it is enough; return what was done."""
    names, calls, refused = list(SOUND), 0, 0
    while not enough(calls):
        name = names[rng.integers(len(names))]
        function, given = SOUND[name]()
        for i, array in enumerate(given):
            if isinstance(array, np.ndarray) and rng.random() < 0.5:
                found = list(others(array))
                given[i] = found[rng.integers(len(found))][1]
        calls += 1
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                function(*given)
        except (TypeError, ValueError, IndexError, OverflowError):
            refused += 1
    return f"{calls} calls of {len(names)} kernels, {refused} refused"
