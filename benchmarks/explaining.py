"""Time explanations beside predictions, and beside shap and interpret.

    python -m benchmarks.explaining DATA

DATA is a folder with adult.csv.gz. Ten thousand rows are explained by models that learned twenty
thousand others; times are those of the processor, the least of five, taken in turns. The page is
`benchmarks/explaining.md`; a peer that is not installed is left out.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.report import markdown, write_part
from priory import NaiveBayes

PAGE = Path(__file__).parent / "explaining.md"
REPEATS = 5
NEEDS = {"shap, LightGBM": ("shap", "lightgbm"), "interpret, EBM": ("interpret",)}
"""What each peer needs."""


def least(ways: Mapping[str, Callable[[], Any]]) -> dict[str, float]:
    """Take the least time of each of several calls, in turns."""
    found = dict.fromkeys(ways, float("inf"))
    for _ in range(REPEATS):
        for name, way in ways.items():
            start = time.process_time()
            way()
            found[name] = min(found[name], time.process_time() - start)
    return found


def peers(X: pd.DataFrame, y: pd.Series, rows: pd.DataFrame) -> dict[str, Callable[[], Any]]:
    """Fit the models of the libraries that are there, and give what explains their predictions."""
    makers = dict(zip(NEEDS, (by_shap, by_interpret), strict=True))
    there = [name for name, needs in NEEDS.items() if all(map(find_spec, needs))]
    return {name: makers[name](X, y, rows) for name in there}


def by_shap(X: pd.DataFrame, y: pd.Series, rows: pd.DataFrame) -> Callable[[], Any]:
    """Explain boosted trees by the values of a game that the columns play."""
    import lightgbm
    import shap

    names = X.select_dtypes(exclude="number").columns
    coded = X.astype(dict.fromkeys(names, "category"))
    asked = rows.astype({c: coded[c].dtype for c in names})
    trees = lightgbm.LGBMClassifier(verbose=-1, n_jobs=1).fit(coded, y)
    explainer = shap.TreeExplainer(trees)
    return lambda: explainer.shap_values(asked)


def by_interpret(X: pd.DataFrame, y: pd.Series, rows: pd.DataFrame) -> Callable[[], Any]:
    """Explain an explainable boosting machine by its terms."""
    from interpret.glassbox import ExplainableBoostingClassifier

    boosted = ExplainableBoostingClassifier(n_jobs=1, outer_bags=2).fit(X, y)
    return lambda: boosted.explain_local(rows)


def main(folder: str) -> None:
    """Measure the times, and write the page."""
    table = pd.read_csv(Path(folder) / "adult.csv.gz").drop(columns="split", errors="ignore")
    X, y = table.drop(columns="target"), table["target"]
    known, rows = slice(0, 20_000), X[20_000:30_000]
    ways: dict[str, Callable[[], Any]] = {}
    for name, model in (
        ("default", NaiveBayes(n_threads=1)),
        ("pairs=None", NaiveBayes(pairs=None, n_threads=1)),
        ("textbook", NaiveBayes.textbook(n_threads=1)),
    ):
        model.fit(X[known], y[known])
        ways[f"{name}: predict_proba"] = lambda model=model: model.predict_proba(rows)
        ways[f"{name}: explain, to_frame"] = lambda model=model: model.explain(rows).to_frame()
    plain = NaiveBayes(pairs=None, n_threads=1).fit(X[known], y[known])
    person, steps = rows[:1], {"education-num": "steps", "hours-per-week": "steps"}
    ways["fewest_changes, 10,000 rows"] = lambda: plain.fewest_changes(rows)
    ways["what_if, sorted gains"] = lambda: plain.what_if(person)
    ways["what_if, knapsack"] = lambda: plain.what_if(person, costs=steps)
    full = NaiveBayes(n_threads=1).fit(X[known], y[known])
    ways["what_if, branch and bound"] = lambda: full.what_if(person)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ways |= peers(X[known], y[known], rows)
        found = least(ways)
    lines = [(name, f"{seconds * 1e3:,.1f} ms") for name, seconds in found.items()]
    lines += [(name, "not installed") for name in NEEDS if name not in found]
    told = [
        "Adult: 20,000 rows are learned and 10,000 others explained; what-if is of one row. Times "
        f"of the processor, the least of {REPEATS}, taken in turns.\n",
        *markdown(("what", "time"), lines, [1]),
        "",
    ]
    for name in ("default", "pairs=None", "textbook"):
        ratio = found[f"{name}: explain, to_frame"] / found[f"{name}: predict_proba"]
        told.append(f"- {name}: explaining takes {ratio:.2f} times as long as predicting")
    text = "\n".join([*told, "", "`python -m benchmarks.explaining DATA`", ""])
    print(text)
    write_part(PAGE, "Explanations", "times", text)


if __name__ == "__main__":
    main(sys.argv[1])
