"""Every kernel looks at what it is given before it reads it."""

import numpy as np
import pytest

from priory.kernels.labels import encode_objects
from priory.kernels.strings import encode_fixed_strings

from .calls import SOUND, kernels, wrong_calls

INNER = {
    *("Pairs", "WordCounts", "LooTexts", "Reader", "Key", "Arrays", "Tally", "Scored", "PairTable")
}
"""Tuples, and what the others use."""


def test_every_kernel_is_called():
    assert kernels() - INNER <= set(SOUND)


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_call_is_answered(name):
    function, given = SOUND[name]()
    function(*given)


@pytest.mark.parametrize("name", SOUND)
def test_other_shapes_and_types_are_errors(name):
    for what, function, given in wrong_calls(name):
        try:
            function(*given)
        except (ValueError, TypeError, IndexError, np.exceptions.ComplexWarning):
            continue
        # What is converted first, or may be left out, or may have any length or number of classes.
        free = (" as ", "nothing", "longer", "shorter", "empty", "no axis")
        assert any(word in what for word in free) or name in ANY_WIDTH, what


ANY_WIDTH = {
    "additive_gradient",
    "cell_losses",
    "mdl_cuts",
    *("pack_codes", "log_normalize", "softmax", "argmax_rows"),
    *("add_cells", "sum_cells", "log_loss_residuals"),
    *("add_pairs_csr", "known_words", "learn_words"),
}
EXACT = {"count_dense", "count_labels", "class_moments", "add_gaussian", "softmax", "add_up"}


@pytest.mark.parametrize("name", sorted(EXACT))
def test_lengths_must_fit(name):
    function, given = SOUND[name]()
    for what, function, given in wrong_calls(name):
        if "argument 0" not in what and ("longer" in what or "shorter" in what):
            with pytest.raises(ValueError, match=r"must have the|Buffer has wrong"):
                function(*given)


def test_what_once_ended_the_process():
    with pytest.raises(TypeError, match="values must be a 1-D array of objects, not 1-D of int64"):
        encode_objects(np.arange(3))
    with pytest.raises(TypeError, match="values must be a 1-D array of strings, not 0-D of <U3"):
        encode_fixed_strings(np.array("abc"))
