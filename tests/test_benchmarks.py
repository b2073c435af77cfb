"""The comparison with the peers runs, and its results are equal; no time is ever tested."""

import ast
import importlib
import importlib.util
import json
import re
import shutil
import subprocess
import sys
import time
import warnings
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.neighbors import KNeighborsClassifier

pytestmark = pytest.mark.long
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
    "TextNB() fit, tuned": "",
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


def tool(name: str) -> ModuleType:
    """Return a module of the benchmarks, which is not installed and stands beside the tests."""
    if MISSING:
        pytest.skip(f"needs the bench tools: {', '.join(MISSING)} not installed")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT)
        return importlib.import_module(f"benchmarks.{name}")


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


def test_the_page_of_honest_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    honesty = tool("honesty")
    monkeypatch.setattr(honesty, "FOLDS", 2)
    monkeypatch.setattr(honesty, "MOST_REPEATS", 1)
    ways = ["unweighted", "weights 1 to 5", "every row twice, pairs"]
    monkeypatch.setattr(honesty, "CASES", {way: honesty.CASES[way] for way in ways})
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 160)
    table = pd.DataFrame({"x": rng.normal(size=160) + y, "c": list("ab" * 80), "target": y})
    table.to_csv(tmp_path / "small.csv", index=False)
    table.rename(columns={"c": "text"}).to_csv(tmp_path / "texts.csv", index=False)
    about = {"n_text": 0, "note": "", "features": 2}
    manifest = {"small": about, "texts": {**about, "n_text": 1}}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    page = tmp_path / "honesty.md"
    command = ["honesty", str(tmp_path), "--draws", "1", "--output", str(page)]
    monkeypatch.setattr(sys, "argv", [*command, "--only", "small,texts"])
    assert honesty.main() == 0
    lines = page.read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    of_set = [row for row in cells if row[0] == "small" and len(row) == 8]
    assert len(of_set) == len(ways)
    for row in of_set:
        assert float(row[2]) - float(row[3]) == pytest.approx(float(row[4]), abs=2e-4)
        assert float(row[5]) - float(row[6]) == pytest.approx(float(row[7]), abs=2e-4)
    sizes = [row[0] for row in cells if row[-1] in ("0 of 1", "1 of 1")]
    assert sizes == ["5", "10", "20", "40", "70", "100"]
    biases = {row[0]: row for row in cells if row[0] in honesty.CASES and len(row) == 8}
    assert set(biases) == set(honesty.CASES)
    for row in biases.values():
        if abs(float(row[2])) != pytest.approx(honesty.BIAS, abs=1e-4):  # the page rounds
            assert row[-1] == ("reached" if abs(float(row[2])) < honesty.BIAS else "not reached")
    nowhere = [sys.executable, "-m", "benchmarks.honesty", str(tmp_path / "nowhere")]
    done = subprocess.run(nowhere, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout[:7]) == (0, "Skipped")


def test_copies_and_noise_are_as_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both copies of a row are learned or held out; noise is the same in every run."""
    honesty, rng = tool("honesty"), np.random.default_rng(0)
    monkeypatch.setattr(honesty, "FOLDS", 2)
    y = rng.permutation(np.array(["a", "b"], dtype=object).repeat(30))
    X = pd.DataFrame({"x": rng.normal(size=60)})  # noise, which copies would let it learn by heart
    once, twice = (honesty.judge(honesty.Case(copies=n), "t", X, y, 1) for n in (1, 2))
    assert once.shape == twice.shape == (4,)
    assert twice[3] < 0.7  # no copy of a held-out row was learned
    noisy = honesty.Case(noise=3)
    assert np.array_equal(*(honesty.judge(noisy, "t", X, y, 1) for _ in range(2)))
    name, table, classes = honesty.correlated()
    assert table.shape == (208, 60) and set(classes) == {"0", "1"} and name in honesty.REPORTED
    assert np.corrcoef(table.to_numpy().T)[3, 4] > 0.8


def test_quality_figures() -> None:
    """The figures of a model that knows the class shares alone, and of one that knows all."""
    quality = tool("quality")
    y = np.array(["a"] * 30 + ["b"] * 20 + ["c"] * 10, dtype=object)
    X = pd.DataFrame({"x": np.unique(y, return_inverse=True)[1].astype(float)})
    shares = dict(zip(quality.FIGURES, quality.judge(DummyClassifier, X, y, False), strict=True))
    assert shares["normalised log-loss"] == pytest.approx(1)
    assert shares["accuracy"] == 0.5 and shares["AUC"] == pytest.approx(0.5)
    known = dict(
        zip(quality.FIGURES, quality.judge(KNeighborsClassifier, X, y, False), strict=True)
    )
    assert known["log-loss"] < 1e-9 and known["AUC"] == 1 and known["Brier"] == 0


def test_the_page_of_quality() -> None:
    """Means, wins and requirements follow from the figures of each set, with gaps among them."""
    quality = tool("quality")
    loss = {"priory": (0.1, 0.5), "priory, pairs=None": (0.2, 0.4), "LightGBM": (0.3, 0.35)}
    scores = {
        name: {model: figures(quality, losses[i]) for model, losses in loss.items()}
        for i, name in enumerate(("one", "two"))
    }
    scores["one"]["EBM"] = figures(quality, 0.15)
    page = "\n".join(quality._page(scores, {"one": 2000, "two": 100}, True))
    assert "| priory, pairs=None | 0.300 (2.0) |" in page
    assert "Over the 1 data sets of all models" in page
    assert "| LightGBM | 1 / 1 | 1 / 1 |" in page
    assert "| EBM | 1 / 0 | 0 / 1 |" in page
    assert "| two | 0.500 | 0.400 | 0.350 |  |" in page
    said = [*quality._losses(scores), *quality._calibrated(scores)]
    required = {line: (has, reached) for line, has, reached in said}
    lines = "{}: mean normalised log-loss at most that of {}".format
    assert required[lines("priory", "LightGBM")] == ("0.3000, 0.3250 (2 sets)", "reached")
    assert required[lines("priory", "EBM")] == ("0.1000, 0.1500 (1 sets)", "reached")
    assert required[lines("priory", "CatBoost")] == ("", "not run")
    assert (
        required["priory: mean calibration error of all 5 folds at most 0.035"][1] == "not reached"
    )


def figures(quality: ModuleType, value: float) -> np.ndarray:
    return np.full(len(quality.FIGURES), value)


def test_quality_of_a_folder(tmp_path: Path) -> None:
    """The parts run on a small table; two models at a time give the same figures, and no times."""
    tool("quality")
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    table = pd.DataFrame({"x": rng.normal(size=60) + y, "c [": list("ab" * 30), "target": y})
    table.to_csv(tmp_path / "adult.csv", index=False)
    code = "from benchmarks import models, quality; models.PEERS = {}; quality.main()"
    pages = []
    for jobs in ("1", "2"):
        command = [sys.executable, "-c", code, str(tmp_path), "--jobs", jobs]
        command += ["--output", str(tmp_path / "quality.md")]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        pages.append((tmp_path / "quality.md").read_text(encoding="utf-8"))
    assert ("fit, s" in pages[0]) and ("fit, s" not in pages[1])
    of_adult = [re.findall(r"^\| adult \|.*$", page, re.M) for page in pages]
    assert of_adult[0] == of_adult[1] and len(of_adult[0]) == 4
    assert "## Adult, all 60 rows" in pages[0] and "AUC of adult" in pages[0]
    command = [sys.executable, "-m", "benchmarks.quality", str(tmp_path), "--jobs", "0"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "--jobs must be at least 1, not 0" in done.stderr


@pytest.mark.parametrize(
    "name", ["LightGBM", "EBM, interactions=0", "EBM", "CatBoost", "logistic regression",
             "histogram gradient boosting", "random forest"],
)  # fmt: skip
def test_each_peer_takes_labels_gaps_and_new_values(name: str) -> None:
    models = tool("models")
    if name in models.absent():
        pytest.skip(f"{models.absent()[name]} is not installed")
    rng = np.random.default_rng(0)
    y = rng.permutation(np.array(["a", "b", "c"], dtype=object).repeat(20))
    X = pd.DataFrame({"x [": rng.normal(size=60), "c": list("ab" * 30), "d": y})
    X.loc[::7, "x ["] = None
    X.loc[::5, "c"] = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a peer warns of is its own affair
        model = models.tables()[name]().fit(X, y)
        new = X.iloc[:5].assign(c=["a", "b", "never seen", None, "a"])
        p = np.asarray(model.predict_proba(new))
    assert list(model.classes_) == ["a", "b", "c"]
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-6)
    assert (np.array(model.classes_)[p.argmax(axis=1)] == y[:5]).mean() >= 0.8


def test_a_peer_that_is_not_installed_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    models = tool("models")
    make = models.PEERS["logistic regression"]
    for peers, called in (("PEERS", models.tables), ("TEXT_PEERS", models.texts)):
        monkeypatch.setattr(models, "PEERS", {})
        monkeypatch.setattr(models, "TEXT_PEERS", {})
        monkeypatch.setattr(models, peers, {"here": make, "gone": ("no_such_library", make[1])})
        assert models.absent() == {"gone": "no_such_library"}
        assert "here" in called() and "gone" not in called()


def test_a_call_that_takes_too_long_is_ended() -> None:
    measure = tool("measure")
    assert measure.within(60.0, abs, -3) == 3
    assert measure.within(0.1, time.sleep, 60) is None
    assert measure.within(1, any, iter(int, 1)) is None, "it works, and never ends"
    with pytest.raises(ZeroDivisionError):
        measure.within(60.0, divmod, 1, 0)


def test_log_loss_against_rows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    growth, quality = tool("growth"), tool("quality")
    monkeypatch.setattr(growth, "SIZES", (20, 50, 10_000))
    monkeypatch.setattr(growth, "LEAST", 100)
    monkeypatch.setattr(growth, "SHOWN", {"priory textbook": 10_000, "logistic regression": 20})
    rng = np.random.default_rng(0)
    y = rng.choice(np.array(["a", "b", "rare"], dtype=object), 150, p=[0.5, 0.47, 0.03])
    X = pd.DataFrame({"x": rng.normal(size=150) + (y == "a"), "c": list("ab" * 75)})
    tables = [quality.DataSet("one", X, y, False), quality.DataSet("few", X[:50], y[:50], False)]
    found = growth.measure(tables)
    assert {model: list(points) for model, points in found["one"].items()} == {
        "priory textbook": [20, 50], "logistic regression": [20],
    }  # fmt: skip
    assert list(found) == ["one"] and all(
        0 < v < 3 for v in found["one"]["priory textbook"].values()
    )
    page = "\n".join(growth.section(found))
    assert "| model | 20 | 50 |" in page and growth.PICTURE in page
    growth.draw(found, tmp_path)
    assert "<svg" in (tmp_path / growth.PICTURE).read_text(encoding="utf-8")
    order = growth.in_proportion(y, rng)
    assert sorted(order) == list(range(150))
    assert abs((y[order[:50]] == "a").sum() - 50 * (y == "a").mean()) <= 1


def test_speed_beside_boosting(results: Path) -> None:
    headings, *found = section(results / "results.md", "The tuned default beside boosting")
    works = [(row[0], row[1], row[2]) for row in found]
    assert len(works) == len(set(works)) == 10  # 2 models × 2 peers × 2 tables, and prediction
    for row in found:
        cells = dict(zip(headings, row, strict=True))
        demanded = row[0].startswith("NaiveBayes() ") and row[2] == "LightGBM"
        assert (cells["required"] != "") == demanded
        assert cells["ratio"].endswith("×") or cells["the peer"] == "not run"


def test_the_table_of_speed_is_the_same_every_time() -> None:
    speed = tool("speed")
    (X, y), (again, _) = speed.mixed(400), speed.mixed(400)
    pd.testing.assert_frame_equal(X, again)
    assert X.shape == (400, 30) and (X.isna().sum() > 0).sum() == speed.GAPS
    assert 0.3 < y.mean() < 0.7


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
        ran = ran and "tuned" not in row[0]  # which is another model than scikit-learn's
        assert ("≤" in row[8]) == ran, row
        assert "DIFFERENT" not in row[8]


def test_the_page_has_the_machine_the_chart_and_what_was_not_run(results: Path) -> None:
    page = (results / "results.md").read_text(encoding="utf-8")
    for part in ("](results/numbers.svg)", "Not run:", "pomegranate", "Python 3."):
        assert part in page
    assert "<svg" in (results / "results" / "numbers.svg").read_text(encoding="utf-8")
    assert str(ROOT) not in page
