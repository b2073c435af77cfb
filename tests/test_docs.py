"""What the documentation says is so: its examples run, its links lead somewhere."""

import ast
import contextlib
import doctest
import importlib
import inspect
import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import priory
import priory.examples
from priory.base.errors import NoLikelihoodError, NoPosteriorError, NotLinearError
from priory.families import Binomial, Family, as_family, family_names, registry

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "examples" / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]
ON_ENGINES = {ROOT / "docs" / "spark.md"}
"""Pages that need an engine: `make test-engines` runs them."""
HERE = [page for page in PAGES if page not in ON_ENGINES]
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS

WITHOUT_EXAMPLE = {
    *("Kind", "Schema", "LinearForm"),
    *("Change", "DependentColumns", "Shape"),
    *("ClassMetrics", "Outcomes", "RowFactor", "TopFeature", "iter_mbox"),
    *("DescriptionLength", "DescriptionPart", "ModelDescription"),
}
"""Public names whose docstrings still lack an example; the test fails once they have one."""

PACKAGES = (
    *("data", "estimators", "evaluation", "explaining", "export", "families", "families.priors"),
    *("model", "network", "reporting", "serving", "sources", "statistics", "text"),
)


def public_names() -> dict[str, Any]:
    """Collect the public names of the package and of its packages, each with its object."""
    found = {name: getattr(priory, name) for name in priory.__all__}
    for package in PACKAGES:
        module = importlib.import_module(f"priory.{package}")
        found |= {
            name: getattr(module, name) for name in module.__all__ if is_for_users(module, name)
        }
    return found


def is_for_users(module: Any, name: str) -> bool:
    """Tell whether a name is meant for users: families and priors have some for developers."""
    thing = getattr(module, name)
    if module.__name__ == "priory.families":
        return inspect.isclass(thing) and issubclass(thing, Family) and thing is not Family
    if module.__name__ == "priory.families.priors":
        return name in ("Dirichlet", "Laplace", "MEstimate", "NormalInverseGamma")
    return inspect.isclass(thing) or inspect.isfunction(thing)


PUBLIC = public_names()


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


@pytest.mark.parametrize("page", [*HERE, ROOT / "CONTRIBUTING.md"], ids=name)
def test_examples_run_and_print_what_the_page_says(
    page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(registry, "FAMILIES", dict(registry.FAMILIES))  # a page may add one
    run_page(page)


def run_page(page: Path) -> None:
    """Run the blocks of a page in their order, and compare what they print."""
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
    assert [package for package in PACKAGES if f"`priory.{package}`" not in text] == []


def test_every_page_is_in_the_site() -> None:
    named = set(re.findall(r"[\w\-/]+\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8")))
    docs = ROOT / "docs"
    assert {page.relative_to(docs).as_posix() for page in docs.glob("**/*.md")} <= named


def test_every_public_name_is_in_the_reference() -> None:
    pages = [page.read_text(encoding="utf-8") for page in ROOT.glob("docs/api/*.md")]
    named = re.findall(r"^::: (priory\S+)$", "\n".join(pages), flags=re.MULTILINE)
    things = [resolve(dotted) for dotted in named]
    assert [name for name, thing in PUBLIC.items() if thing not in things] == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_pages_need_nothing_from_outside(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"/shared|/home/|!\[[^\]]*\]\(https?:", text)
    assert "```math" not in text  # its renderer would have to be fetched


def family_rows() -> dict[str, list[str]]:
    """Return the table of what each family can do, by the names of the families."""
    text = (ROOT / "docs" / "families.md").read_text(encoding="utf-8")
    section = text.partition("## What each can do")[2].partition("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line[:1] == "|"]
    return {family: cells for cells in rows[2:] for family in cells[0].split(", ")}


def test_the_table_of_families_has_them_all() -> None:
    assert set(family_rows()) == {*family_names(), "binomial"}


@pytest.mark.parametrize("family", [*family_names(), "binomial"])
def test_the_table_of_families_is_true(family: str) -> None:
    _, _, priors, sample, evidence, linear, posterior = family_rows()[family]
    asked = Binomial(trials=5) if family == "binomial" else as_family(family)
    names = {"Laplace": "Laplace", "m-estimate": "MEstimate", "Dirichlet": "Dirichlet"}
    names["Normal-Inverse-Gamma"] = "NormalInverseGamma"
    told = {cls for word, cls in names.items() if word in priors}
    assert told == {prior.__name__ for prior in asked.priors}

    X: Any = [[0, 1], [1, 0], [1, 1], [0, 0], [1, 1], [0, 1], [1, 0]]
    if family in ("words", "telling-words"):
        X = {"x0": ["red sea", "blue sea", "blue", "red", "blue sky", "red sky", "sky"]}
    several = any(kind.is_of_several for kind in asked.kinds[:1])
    families = {("x0", "x1"): asked} if several else asked
    model = priory.NaiveBayes(families).fit(X, ["a", "b", "b", "a", "b", "a", "a"])
    assert can(lambda: model.sample(2, random_state=0)) == sample.startswith("yes")
    assert can(lambda: model.score_samples(X)) == evidence.startswith("yes")
    assert can(model.linear_form) == linear.startswith("yes")
    assert can(lambda: model.posterior("x0")) == (posterior != "no")


def can(ask: Callable[[], Any]) -> bool:
    try:
        ask()
    except (NotLinearError, NoLikelihoodError, NoPosteriorError):
        return False
    return True


def test_functions_that_the_mathematics_names_exist() -> None:
    text = (ROOT / "docs" / "mathematics.md").read_text(encoding="utf-8")
    named = re.findall(r"`(priory(?:\.\w+)+)`", text)
    assert len(named) > 20
    for dotted in named:
        resolve(dotted)


def test_the_mathematics_is_of_models_that_nothing_was_chosen_in() -> None:
    code = "\n".join(block.text for block in blocks(ROOT / "docs" / "mathematics.md"))
    tuned = re.findall(r"\b(?:NaiveBayes|TextNB|Settings)\(.*|\bClassifier\(\).*", code)
    assert tuned == []
    assert code.count(".textbook(") > 20


@pytest.mark.parametrize(
    "word",
    [
        "additive smoothing",
        "maximum a posteriori (MAP)",
        "conditional probability table",
        "truth table",
        "bag of words",
        "sigmoid",
        "softmax",
        "base learner",
        "m-estimate",
        "minimum description length",
    ],
)
def test_a_word_of_the_lectures_can_be_found(word: str) -> None:
    text = (ROOT / "docs" / "mathematics.md").read_text(encoding="utf-8")
    assert word in text


def resolve(dotted: str) -> Any:
    parts = dotted.split(".")
    for end in range(len(parts), 0, -1):
        with contextlib.suppress(ModuleNotFoundError):
            found: Any = importlib.import_module(".".join(parts[:end]))
            break
    for part in parts[end:]:
        found = getattr(found, part)
    return found


@pytest.mark.parametrize("public", PUBLIC)
def test_public_names_have_a_first_line_and_an_example(public: str) -> None:
    thing = PUBLIC[public]
    lines = (thing.__doc__ or "").strip().splitlines()
    assert lines, f"{public} has no docstring"
    assert lines[0].endswith("."), lines[0]
    verb = lines[0].split()[0]
    assert re.fullmatch(r"[A-Z][\w'\-]*,?", verb), lines[0]  # not the signature of a dataclass
    if not inspect.isclass(thing):
        # A function does something: "Compute", "Read", neither "Computes" nor "The".
        assert not verb.endswith("s") or verb.endswith("ss"), lines[0]
        assert verb not in {"A", "An", "The", "This", "Return"}, lines[0]
    tests = doctest.DocTestFinder().find(thing, public, module=inspect.getmodule(thing))
    has_example = any(test.examples for test in tests)
    assert has_example != (public in WITHOUT_EXAMPLE), f"{public} has an example: {has_example}"


@pytest.mark.parametrize("public", PUBLIC)
def test_public_methods_have_a_first_line(public: str) -> None:
    thing = PUBLIC[public]
    for method, value in vars(thing).items():
        if method.startswith("_") or not (inspect.isroutine(value) or isinstance(value, property)):
            continue
        text = inspect.getdoc(getattr(thing, method) if inspect.isroutine(value) else value)
        first = (text or "").split("\n")[0]
        assert first.endswith("."), f"{public}.{method}: {first!r}"


def test_the_shipped_play_tennis_table_is_the_example() -> None:
    shipped = ROOT / "src" / "priory" / "examples" / "play_tennis.csv"
    assert shipped.read_bytes() == (ROOT / "examples" / "play_tennis.csv").read_bytes()
    X, y = priory.examples.play_tennis()
    assert (len(X), len(X[0]), y.count("Yes")) == (14, 4, 9)
