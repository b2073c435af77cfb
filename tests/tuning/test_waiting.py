"""The bar of a long tuning, and what Ctrl-C leaves, on a real terminal."""

import os
import signal
import subprocess
import sys
import time

import pytest

pty = pytest.importorskip("pty", reason="a terminal is needed, which this system has not")

PROGRAM = """
import numpy as np, priory, sys
from priory.tuning import waiting
waiting.PATIENCE = 0.1  # a fast machine is done within a second
rng = np.random.default_rng(0)
X = rng.normal(size=(4000, 400))
y = np.where(X[:, 0] + rng.logistic(size=4000) > 0, "a", "b")
model = priory.NaiveBayes().fit(X, y)
print(model.classifier_.state, model.score(X, y) > 0.5)
"""


def ended(interrupt):
    ours, theirs = pty.openpty()
    command = [sys.executable, "-W", "always", "-c", PROGRAM]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, text=True) as process:
        os.close(theirs)
        seen, until = b"", time.monotonic() + 120
        while time.monotonic() < until:
            try:
                seen += os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
            if interrupt and b"Ctrl-C keeps the plain model" in seen:
                process.send_signal(signal.SIGINT)
                interrupt = False
        printed = process.stdout.read()
        assert process.wait(60) == 0, seen
    os.close(ours)
    return printed.strip(), seen


def test_an_interrupted_tuning_leaves_the_plain_model():
    printed, seen = ended(interrupt=True)
    assert printed == "not tuned True"
    assert b"Tuning was interrupted" in seen


def test_the_bar_names_the_column_and_goes():
    printed, seen = ended(interrupt=False)
    assert printed == "tuned True"
    assert b"Tuning" in seen
    assert seen.rstrip().endswith(b"\x1b[2K")  # the line is cleared
