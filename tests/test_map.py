"""The map in CONTRIBUTING is that of the imports, and the tests stand in the same folders."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "priory"


def test_the_map_is_current():
    command = [sys.executable, ROOT / "scripts" / "floor_plan.py", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_every_module_is_in_a_package():
    loose = {path.name for path in SOURCE.glob("*.py")}
    assert loose == {"__init__.py", "__main__.py"}


def test_the_tests_mirror_the_packages():
    packages = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    folders = {path.parent.name for path in (ROOT / "tests").glob("*/test_*.py")}
    assert folders - {"engines"} <= packages  # which run what several packages do
    assert packages - folders == {"examples"}


def test_every_file_that_the_page_names_is_there():
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    named = set(re.findall(r"`([a-z_]+/[a-z_/]*(?:\.(?:py|pyx|h))?)`", page))
    named.discard("site/")  # `make docs` makes it
    roots = (ROOT, SOURCE)
    assert len(named) > 25
    assert sorted(name for name in named if not any((root / name).exists() for root in roots)) == []
