"""What the documentation says is so: its examples run, its links lead somewhere."""

import ast
import contextlib
import doctest
import importlib
import inspect
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import priory
import priory.demo

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "examples" / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS

WITHOUT_EXAMPLE = {"Explanation", "Schema", "Settings"}
"""Public names whose docstrings still lack an example; the test fails once they have one."""


class Block(NamedTuple):
    """A fenced block of a page: its language, its text and the line where it begins."""

    language: str
    text: str
    line: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    fences = re.finditer(r"^```(\w*)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    return [Block(f[1], f[2], text[: f.start(2)].count("\n")) for f in fences]


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_examples_run_and_print_what_the_page_says(
    page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    names: dict[str, Any] = {"__name__": "__main__"}
    found = blocks(page)
    for block, after in zip(found, [*found[1:], Block("", "", 0)], strict=False):
        if ">>>" in block.text:
            run_doctest(block, names, page)
        elif block.language == "python":
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(ast.parse(block.text), f"{name(page)}:{block.line}", "exec"), names)
            if after.language == "text":
                assert printed.getvalue().rstrip() == after.text.rstrip()


def run_doctest(block: Block, names: dict[str, Any], page: Path) -> None:
    test = doctest.DocTestParser().get_doctest(block.text, {}, name(page), str(page), block.line)
    test.globs = names  # one namespace a page; DocTest itself would work on a copy
    report = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    runner.run(test, out=report.write, clear_globs=False)
    assert not runner.failures, report.getvalue()


@pytest.mark.parametrize(
    "page", [*PAGES, ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md"], ids=name
)
def test_links_lead_somewhere(page: Path) -> None:
    for target in links(page):
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), f"{name(page)} links to {target}"
        if anchor:
            assert anchor in anchors(there), f"{name(page)} links to {target}"


def links(page: Path) -> Iterator[str]:
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", text)):
        if not target.startswith(("http://", "https://")):
            yield target


def anchors(page: Path) -> set[str]:
    """Return the anchors that a code host makes of the headings."""
    headings = re.findall(r"^#+ +(.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings
    }


def test_every_page_can_be_reached_from_the_index() -> None:
    index = ROOT / "docs" / "index.md"
    reached = {(index.parent / target.partition("#")[0]).resolve() for target in links(index)}
    assert set(ROOT.glob("docs/**/*.md")) - {index} <= reached


def test_every_public_name_is_in_the_index() -> None:
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert [public for public in priory.__all__ if f"`{public}`" not in text] == []


def test_functions_that_the_mathematics_names_exist() -> None:
    text = (ROOT / "docs" / "mathematics.md").read_text(encoding="utf-8")
    named = re.findall(r"`(priory(?:\.\w+)+)`", text)
    assert len(named) > 20
    for dotted in named:
        resolve(dotted)


def resolve(dotted: str) -> Any:
    parts = dotted.split(".")
    for end in range(len(parts), 0, -1):
        with contextlib.suppress(ModuleNotFoundError):
            found: Any = importlib.import_module(".".join(parts[:end]))
            break
    for part in parts[end:]:
        found = getattr(found, part)
    return found


@pytest.mark.parametrize("public", priory.__all__)
def test_public_names_have_an_imperative_line_and_an_example(public: str) -> None:
    thing = getattr(priory, public)
    lines = (thing.__doc__ or "").strip().splitlines()
    assert lines, f"{public} has no docstring"
    assert lines[0].endswith("."), lines[0]
    verb = lines[0].split()[0]
    # "Give", "Hold", "Add": an order, neither "Gives" nor "The" nor a dataclass signature.
    assert re.fullmatch(r"[A-Z][a-z]+", verb), lines[0]
    assert not verb.endswith("s") or verb.endswith("ss"), lines[0]
    assert verb not in {"A", "An", "The", "This"}, lines[0]
    tests = doctest.DocTestFinder().find(thing, public, module=inspect.getmodule(thing))
    has_example = any(test.examples for test in tests)
    assert has_example != (public in WITHOUT_EXAMPLE), f"{public} has an example: {has_example}"


@pytest.mark.parametrize("public", priory.__all__)
def test_public_methods_have_an_imperative_line(public: str) -> None:
    thing = getattr(priory, public)
    for method, value in vars(thing).items():
        if method.startswith("_") or not (inspect.isroutine(value) or isinstance(value, property)):
            continue
        text = inspect.getdoc(getattr(thing, method) if inspect.isroutine(value) else value)
        first = (text or "").split("\n")[0]
        assert first.endswith("."), f"{public}.{method}: {first!r}"


def test_the_shipped_play_tennis_table_is_the_example() -> None:
    shipped = ROOT / "src" / "priory" / "data" / "play_tennis.csv"
    assert shipped.read_bytes() == (ROOT / "examples" / "play_tennis.csv").read_bytes()
    X, y = priory.demo.play_tennis()
    assert (len(X), len(X[0]), y.count("Yes")) == (14, 4, 9)
