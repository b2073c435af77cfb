"""scikit-learn's own tests of its naive Bayes classes, run against the drop-ins.

The tests are read from the installed scikit-learn when this runs; only their import is changed.
"""

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

PRIVATE = ("test_gnb_check_update_with_no_data", "test_alpha_vector", "test_check_alpha")
"""The tests that call helpers which only scikit-learn's own classes have."""

THEIRS = re.compile(r"^from sklearn\.naive_bayes import \(", re.MULTILINE)


def test_scikit_learns_own_tests_pass(tmp_path):
    theirs = Path(find_spec("sklearn").origin).parent / "tests" / "test_naive_bayes.py"
    if not theirs.exists():
        pytest.skip("scikit-learn is installed without its tests")
    suite, swapped = THEIRS.subn("from priory import (", theirs.read_text(encoding="utf-8"))
    assert swapped == 1
    (tmp_path / "conftest.py").write_text("from sklearn.conftest import *\n")
    (tmp_path / "test_suite.py").write_text(suite, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "test_suite.py", "-q", "-p", "no:cacheprovider"]
    command += ["-c", "/dev/null", "--rootdir", str(tmp_path)]
    command += [f"--deselect=test_suite.py::{name}" for name in PRIVATE]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    summary = run.stdout.strip().splitlines()[-1]
    found = {what: int(n) for n, what in re.findall(r"(\d+) (\w+)", summary)}
    assert run.returncode == 0, run.stdout[-3000:]
    assert found.get("failed", 0) == found.get("errors", 0) == 0, summary
    assert found["passed"] > 80, summary
    assert found["deselected"] == len(PRIVATE), summary
