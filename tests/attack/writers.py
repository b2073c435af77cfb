"""Writers that are killed, and several at once: every file is whole, and nothing is lost."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from priory import Classifier, Settings, load

UPDATE = """
import sys
from priory.base.replacing import locked
from priory.classifier.classifier import load
path, times = sys.argv[1], int(sys.argv[2])
print("ready", flush=True)
for _ in range(times):
    with locked(path):
        load(path).update({"x": ["a", "b"]}, [0, 1]).save(path)
"""


def _start(path, times):
    process = subprocess.Popen(
        [sys.executable, "-c", UPDATE, path, str(times)], stdout=subprocess.PIPE
    )
    process.stdout.readline()
    return process


def _end(process):
    process.stdout.close()
    return process.wait()


def run(rng, folder, enough):
    """Attack until it is enough; return what was done."""
    path = Path(folder, "m.priory")
    Classifier(Settings.textbook()).update({"x": ["a", "b"]}, [0, 1]).save(path)
    killed = together = 0
    while not enough(killed + together):
        before = load(path).statistics.n_rows
        if rng.random() < 0.7:
            process = _start(path, 10**6)
            time.sleep(float(rng.random()) * 0.2)
            os.kill(process.pid, signal.SIGKILL)
            _end(process)
            killed += 1
            after = load(path).statistics.n_rows
            assert after >= before and (after - before) % 2 == 0, (before, after)
        else:
            processes = [_start(path, 5) for _ in range(3)]
            while any(process.poll() is None for process in processes):
                assert load(path).statistics.n_rows >= before
            assert [_end(process) for process in processes] == [0, 0, 0]
            together += 1
            after = load(path).statistics.n_rows
            assert after == before + 2 * 15, (before, after)
            left = sorted(entry.name for entry in Path(folder).iterdir())
            assert left == [path.name], left  # what the killed left is gone too
    return f"{killed} writers killed, {together} times three at once"
