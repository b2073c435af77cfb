"""The comparison with the peers runs, and its results are equal; no time is ever tested."""

import ast
import importlib.util
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[1]
MISSING = [name for name in ("rich", "matplotlib", "pandas") if not importlib.util.find_spec(name)]
WORKS = {
    "GaussianNB fit": "≥ 20×",
    "GaussianNB predict_log_proba": "≥ 15×",
    "CategoricalNB fit": "≥ 30×",
    "CategoricalNB predict_log_proba": "≥ 10×",
    "BernoulliNB fit": "≥ 8×",
    "BernoulliNB predict_log_proba": "≥ 8×",
    "MultinomialNB fit": "≥ 4×",
    "MultinomialNB predict_log_proba": "≥ 3×",
    "MultinomialNB CSR fit": "≥ 6×",
    "MultinomialNB CSR predict_log_proba": "≥ 3×",
    "NaiveBayes.textbook fit": "≥ 10×",
    "NaiveBayes.textbook predict_proba": "≥ 10×",
    "GaussianNB predict_proba of one row": "≥ 5×",
    "GaussianNB partial_fit of one row": "≥ 5×",
    "TextNB fit from raw strings": "≥ 40×",
    "TextNB predict_log_proba from raw strings": "≥ 30×",
    "GaussianNB fit, extra memory": "< 32 MB",
    "TextNB fit, extra memory": "≥ 5×",
}
"""What is measured against scikit-learn, and what is required."""
UNCOMPARED = ("Vowpal Wabbit", "fastText", "priory, ASCII")
"""They learn other models, or are ourselves."""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if MISSING:
        pytest.skip(f"needs the bench tools: {', '.join(MISSING)} not installed")
    folder = tmp_path_factory.mktemp("benchmarks")
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    table = pd.DataFrame({"x": rng.normal(size=60) + y, "c": list("ab" * 30), "target": y})
    (folder / "tables").mkdir()
    table.to_csv(folder / "tables" / "small.csv", index=False)
    command = [sys.executable, "-m", "benchmarks", "--quick", "--output", str(folder)]
    command += ["--tables", str(folder / "tables")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr  # 1 if any result differs
    return folder


def section(page: Path, title: str) -> list[list[str]]:
    """Return the rows of the first table under a title, the headings first."""
    text = page.read_text(encoding="utf-8").split(f"## {title}\n")[1].split("\n## ")[0]
    lines = text[text.index("\n| ") + 1 :].split("\n\n")[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [rows[0], *rows[2:]]


def rows(results: Path) -> list[list[str]]:
    page = results / "results.md"
    return section(page, "Tables of numbers and labels")[1:] + section(page, "Texts")[1:]


def no_row_twice(page: Path) -> None:
    """Check that whatever is measured stands once on a page: no row has another's words."""
    lines = page.read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if "|" in line]
    figure = re.compile(r"[\d.]+( \([\d.]+\) \S+, n=\d+|×|)$|(not )?(reached|run)$")
    works = [
        tuple(cell for cell in row if not figure.match(cell) and "≤" not in cell)
        for row in cells
        if not set("".join(row)) <= set("-:")
    ]
    headings = {work for work in works if work[0] in ("work", "beside", "model", "columns")}
    works = [work for work in works if work not in headings]
    assert len(works) > 20
    assert [work for work in works if works.count(work) > 1] == []


def test_no_row_of_work_appears_twice(results: Path) -> None:
    no_row_twice(results / "results.md")
    no_row_twice(ROOT / "benchmarks" / "results.md")


def test_the_page_is_what_the_last_runs_found(tmp_path: Path) -> None:
    if MISSING:
        pytest.skip(f"needs the bench tools: {', '.join(MISSING)} not installed")
    kept = ROOT / "benchmarks"
    shutil.copytree(kept / "results", tmp_path / "results")
    command = [sys.executable, "-m", "benchmarks", "--page", "--output", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    expected = (tmp_path / "results.md").read_text(encoding="utf-8")
    assert (kept / "results.md").read_text(encoding="utf-8") == expected


def test_files(results: Path) -> None:
    _, *found = section(results / "results.md", "Files larger than memory, from the shell")
    assert [row[0] for row in found] == [
        "peak memory", "DuckDB, sums", "DuckDB, statistics", "pandas, scikit-learn",
        "cold start, imports",
    ]  # fmt: skip


def test_networks_and_structures(results: Path) -> None:
    page = results / "results.md"
    _, *found = section(page, "Learning the tables of a belief network")
    assert {row[0] for row in found} == {"integers", "strings", "categories"}
    _, *found = section(page, "Structures, judged by five folds")
    assert {row[0] for row in found} == {"labels and numbers (1)"}
    assert {"naive, textbook", "tan", "aode", "naive, pairs"} <= {row[1] for row in found}


def test_leave_one_out(results: Path) -> None:
    headings, *found = section(results / "results.md", "What leave-one-out costs")
    assert [row[0] for row in found] == ["GaussianNB", "CategoricalNB", "TextNB"]
    for row in found:
        cells = dict(zip(headings, row, strict=True))
        passes, faster = float(cells["passes"]), float(cells["times faster"].strip("×"))
        if passes != pytest.approx(3, rel=0.01):  # the page rounds
            assert cells["≤ 3"] == ("reached" if passes < 3 else "not reached")
        if faster != pytest.approx(20, rel=0.01):
            assert cells["≥ 20"] == ("reached" if faster > 20 else "not reached")
        assert abs(float(cells["accuracy"]) - float(cells["of ten folds"])) < 0.1


def test_the_table_of_kernels_has_every_kernel() -> None:
    """What each kernel replaces stands in CONTRIBUTING, and both sides agree on a small scale."""
    if MISSING:
        pytest.skip(f"needs the bench tools: {', '.join(MISSING)} not installed")
    command = [sys.executable, "-m", "benchmarks.kernels", "--quick"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    public = set()
    for path in (ROOT / "src" / "priory" / "kernels").glob("*.pyi"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            named = isinstance(node, ast.FunctionDef | ast.ClassDef)
            if named and not any(ast.unparse(base) == "NamedTuple" for base in bases(node)):
                public.add(f"{path.stem}.{node.name}")
    written = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for table in (done.stdout, written.split("<!-- kernels")[1].split("<!-- end")[0]):
        assert set(re.findall(r"^\| `([\w.]+)", table, re.M)) == public


def bases(node: ast.stmt) -> list[ast.expr]:
    return node.bases if isinstance(node, ast.ClassDef) else []


def test_the_page_of_honest_figures(tmp_path: Path) -> None:
    if MISSING:
        pytest.skip(f"needs the bench tools: {', '.join(MISSING)} not installed")
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 140)
    table = pd.DataFrame({"x": rng.normal(size=140) + y, "c": list("ab" * 70), "target": y})
    table.to_csv(tmp_path / "small.csv", index=False)
    table.rename(columns={"c": "text"}).to_csv(tmp_path / "texts.csv", index=False)
    about = {"n_text": 0, "note": "", "features": 2}
    manifest = {"small": about, "texts": {**about, "n_text": 1}}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    page = tmp_path / "honesty.md"
    command = [sys.executable, "-m", "benchmarks.honesty", str(tmp_path), "--draws", "1"]
    command += ["--output", str(page)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = page.read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    of_set = [row for row in cells if row[0] == "small" and len(row) == 8]
    assert len(of_set) == 5  # every way to learn
    for row in of_set:
        assert float(row[2]) - float(row[3]) == pytest.approx(float(row[4]), abs=2e-4)
        assert float(row[5]) - float(row[6]) == pytest.approx(float(row[7]), abs=2e-4)
    sizes = [row[0] for row in cells if row[-1] in ("0 of 1", "1 of 1")]
    assert sizes == ["5", "10", "19", "20", "40", "80"]
    nowhere = [sys.executable, "-m", "benchmarks.honesty", str(tmp_path / "nowhere")]
    done = subprocess.run(nowhere, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout[:7]) == (0, "Skipped")


def test_every_work_is_measured_against_scikit_learn(results: Path) -> None:
    required = {row[0]: row[6] for row in rows(results) if row[2] == "scikit-learn"}
    assert required == WORKS


def test_reached_is_what_the_ratio_says(results: Path) -> None:
    for row in rows(results):
        ratio, required, reached = row[5], row[6], row[7]
        if ratio and required:
            times, least = float(ratio.strip("×")), float(required.strip("≥ ×"))
            if times != pytest.approx(least, rel=0.01):  # the page rounds
                assert reached == ("reached" if times > least else "not reached")


def test_results_are_compared_with_every_peer_that_ran(results: Path) -> None:
    for row in rows(results):
        ran = row[4] != "not run" and "memory" not in row[0] and row[2] not in UNCOMPARED
        assert ("≤" in row[8]) == ran, row
        assert "DIFFERENT" not in row[8]


def test_the_page_has_the_machine_the_chart_and_what_was_not_run(results: Path) -> None:
    page = (results / "results.md").read_text(encoding="utf-8")
    for part in ("](results/numbers.svg)", "Not run:", "pomegranate", "Python 3."):
        assert part in page
    assert "<svg" in (results / "results" / "numbers.svg").read_text(encoding="utf-8")
    assert str(ROOT) not in page
