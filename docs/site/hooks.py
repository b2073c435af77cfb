"""Bring the pages that live beside docs/ into the site, and lead the links there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
OUTSIDE = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "examples/README.md": "examples.md",
    "README.md": "index.md",
}
"""Pages of the repository, and what they are in the site."""


def on_files(files: Files, config: Any) -> Files:
    """Add the pages from outside."""
    for source, page in OUTSIDE.items():
        if page != "index.md":
            text = (ROOT / source).read_text(encoding="utf-8")
            files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Turn links to files beside docs/ into links to the pages that stand for them."""
    for source, target in OUTSIDE.items():
        link = rf"\]\((\.\./)+{re.escape(source)}(#[^)]*)?\)"
        markdown = re.sub(link, rf"]({target}\2)", markdown)
    if page.file.src_path in OUTSIDE.values():  # there, links begin at the root
        markdown = re.sub(r"\]\((\.\./)?docs/", "](", markdown)
    # Other files of the repository are no pages: their names stay, without a link.
    up = r"\.\./" if "/" not in page.file.src_path else r"\.\./\.\./"
    return re.sub(rf"\[([^\]]+)\]\({up}[^)]*\)", r"\1", markdown)
