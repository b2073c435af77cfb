"""The commands that the documentation shows print what it shows."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [page for page in (ROOT / "README.md", *sorted(ROOT.glob("docs/*.md")))
         if "```console" in page.read_text(encoding="utf-8")]  # fmt: skip


@pytest.mark.skipif(os.name != "posix", reason="the pages show a POSIX shell")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_print_what_the_page_says(page, tmp_path):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    shim = tmp_path / "bin" / "priory"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m priory "$@"\n')
    shim.chmod(0o755)
    environment = {**os.environ, "PATH": f"{shim.parent}:{os.environ['PATH']}", "NO_COLOR": "1"}
    text = page.read_text(encoding="utf-8")
    for block in re.findall(r"^```console\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL):
        for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
            done = subprocess.run(
                command,
                shell=True,
                cwd=tmp_path,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=300,
            )
            assert lines(done.stdout) == lines(expected), command


def lines(text: str) -> list[str]:
    """Return lines without the space at their ends, blank ones and what names a size."""
    kept = (line.rstrip() for line in text.splitlines())
    return [line for line in kept if line and not re.search(r"\(\d[\d,]* bytes\)", line)]


def test_there_are_pages():
    assert {page.name for page in PAGES} >= {"command-line.md", "README.md"}
