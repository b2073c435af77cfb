"""Attack everything that reads what others wrote: `make attack MINUTES=20`.

Each attack has a process of its own, so that a signal is seen, and a bound on its memory. An attack
ends the run with what it found; to see it again: `python -m tests.attack 1 --seed=S --only=NAME`.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np

from . import csv_files, expressions, kernel_arguments, model_files, writers

ATTACKS = {
    "model files": model_files.run,
    "expressions": expressions.run,
    "csv files": csv_files.run,
    "kernel arguments": kernel_arguments.run,
    "writers": writers.run,
}
SHARES = {"model files": 5, "expressions": 2, "csv files": 4, "kernel arguments": 2, "writers": 3}
MOST_MEMORY = 3 << 30
"""Bytes of address space that an attack may take beyond those of the libraries."""


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.attack")
    parser.add_argument("minutes", type=float)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", dest="name", choices=list(ATTACKS))
    given = parser.parse_args()
    if given.name is not None:
        return attack(given.name, 60 * given.minutes, given.seed)
    failed = 0
    for name in ATTACKS:
        minutes = given.minutes * SHARES[name] / sum(SHARES.values())
        command = [sys.executable, "-m", "tests.attack", f"{minutes:.4f}", f"--seed={given.seed}"]
        done = subprocess.run([*command, f"--only={name}"], timeout=60 * minutes + 600)
        if done.returncode:
            how = f"signal {-done.returncode}" if done.returncode < 0 else "an error"
            print(f"{name}: ended by {how}; seed {given.seed}", flush=True)
            failed = 1
    return failed


def attack(name, seconds, seed):
    """Run one attack for some seconds, and print what it did."""
    start = time.monotonic()
    limit = _address_space() + MOST_MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with tempfile.TemporaryDirectory() as folder:
        rng = np.random.default_rng(seed)
        did = ATTACKS[name](rng, folder, lambda _: time.monotonic() - start >= seconds)
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(f"{name}: {did}; {more:.0f} MB more, {time.monotonic() - start:.0f} s", flush=True)
    return 0


def _address_space():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


if __name__ == "__main__":
    sys.exit(main())
