"""What `make demo` shows: a sum, a real table, texts, and the report that it writes."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def shown(folder) -> list[str]:
    """Return what each command of the demonstration prints."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    votes = re.search(r"^VOTES := (.*)$", makefile, re.MULTILINE)[1]
    printed = []
    for command in re.findall(r"\$\(call shown,(.*)\)", makefile):
        words = shlex.split(command.replace("build/", f"{folder}/").replace("$(VOTES)", votes))
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


def test_the_textbook_sum(shown):
    assert re.search(r"outlook\s+labels\s+categorical\s+strings", shown[0])
    assert re.search(r"P\(class \| row\)\s+0\.7954\s+0\.2046", shown[1])


def test_a_real_table_is_judged_and_explained(shown):
    assert "cross-fitted, 435 rows" in shown[2]
    assert float(re.search(r"accuracy\s+([\d.]+)%", shown[2])[1]) > 94
    assert re.search(r"P\(physician-fee-freeze = y \| class\)", shown[3])


def test_texts(shown):
    assert re.search(r"junk\s+.*\bfree\b", shown[4])
    assert re.search(r"P\(claim \| class\)", shown[5])


def test_the_report_is_there(shown, folder):
    page = (folder / "votes.html").read_text("utf-8")
    assert "cross-fitted" in page and "physician-fee-freeze" in page
    assert len(page.encode()) < 400_000
