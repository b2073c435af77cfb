"""What `make demo` shows: a table is learned, and one prediction worked out."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def shown(tmp_path_factory) -> list[str]:
    """Return what each command of the demonstration prints."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    model = tmp_path_factory.mktemp("demo") / "play.priory"
    printed = []
    for command in re.findall(r"\$\(call shown,(.*)\)", makefile):
        words = shlex.split(command.replace("build/play.priory", str(model)))
        done = subprocess.run(
            [sys.executable, "-X", "utf8", "-W", "error", "-m", "priory", *words],
            capture_output=True,
            encoding="utf-8",
            check=False,
            cwd=ROOT,
        )
        assert done.returncode == 0, done.stderr
        printed.append(done.stdout)
    return printed


def test_it_trains(shown):
    assert re.search(r"outlook\s+labels\s+categorical\s+strings", shown[0])
    assert "exact leave-one-out, 14 rows" in shown[0]
    assert re.search(r"mutual information with the target.*\n.*\n\s*outlook", shown[0])


def test_it_works_a_prediction_out(shown):
    assert re.search(r"P\(class \| row\)\s+0\.7201\s+0\.2799", shown[1])
