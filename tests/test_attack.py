"""A short part of `make attack`."""

import sys
from pathlib import Path

import numpy as np
import pytest

from priory.kernels.utf8 import encode_texts
from priory.kernels.vocabulary import Vocabulary
from priory.kernels.words import count_words

from .attack import csv_files, expressions, kernel_arguments, model_files, writers
from .attack.crafted import crafted_words, random_words

TIMES = [
    (model_files.run, 120),
    (expressions.run, 60),
    (csv_files.run, 40),
    (kernel_arguments.run, 2000),
    (writers.run, 4),
]


@pytest.mark.skipif(sys.platform == "win32", reason="signals and locks are those of POSIX")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("run", "times"), TIMES, ids=lambda run: getattr(run, "__module__", ""))
def test_a_short_attack(run, times, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "folder"
    folder.mkdir()
    run(np.random.default_rng(11), folder, lambda done: done >= times)
    assert not list(Path(tmp_path).glob("mutant-*"))


def test_crafted_words_take_no_longer_than_others():
    import time

    rng = np.random.default_rng(0)

    def seconds(words):
        data, offsets, missing = encode_texts([" ".join(words)])
        found = []
        for _ in range(3):
            start = time.perf_counter()
            count_words(data, offsets, missing, np.zeros(1, np.int32), None, Vocabulary())
            found.append(time.perf_counter() - start)
        return min(found)

    n = 40_000
    assert seconds(crafted_words(n, rng, bits=18)) < 5 * seconds(random_words(n, rng)) + 0.05
