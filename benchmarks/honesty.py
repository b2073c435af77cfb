"""Whether the figures that the default reports are true: `python -m benchmarks.honesty [FOLDER]`.

What leave-one-out says of the rows that were learned, beside what rows that were not learned say:
with and without pairs, with weights of several kinds, with every row twice, with columns of noise;
and how the default fares with very few rows. The page is `benchmarks/honesty.md`.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from zlib import crc32

import joblib
import numpy as np
import pandas as pd
from rich.console import Console
from sklearn.model_selection import StratifiedKFold

import priory
from benchmarks import models
from benchmarks.measure import in_processes
from benchmarks.quality import DATA, data_sets
from benchmarks.report import markdown, reached
from benchmarks.store import load_average, machine
from priory.evaluation.losses import log_losses

__all__ = ["main"]

HERE = Path(__file__).parent
ROWS, FOLDS, NOISE, BIAS = 3_000, 5, 100, 0.005
"""The most rows of a set, the folds, the columns of noise, and the bias allowed of the log-loss."""
REPEATED, MOST_REPEATS = 1_000, 4
"""A set is split anew until so many rows were held out, but not more often than this."""
SIZES, DRAWS, SETS = (5, 10, 20, 40, 70, 100), 20, 12
HELD_OUT, LEAST_HELD_OUT = 500, 50
PARTS = ("figures", "few")
CORRELATED = "correlated_60"

REPORTED = f"""\
{FOLDS} stratified folds of at most {{rows:,}} rows, of small sets drawn anew up to
{{repeats}} times, until {REPEATED:,} rows were held out. In each fold the model is fitted on the
other four; `priory.leave_one_out` of that model reports the log-loss and the accuracy of the rows
that it learned; and the rows of the fold, which it did not learn, tell the true ones. With sample
weights both figures are weighted by the rows' own. Where every row is there twice, both copies of a
row are learned or both are held out. Figures are means over the folds; a difference is reported
minus held-out: below 0 in the log-loss, above 0 in the accuracy, what is reported is too good to be
true. Stratified folds have the class shares that were learned, which new rows have not: their loss
is lower by about (classes − 1) / rows than that of rows drawn at random. A bias, the mean
difference, of at most {BIAS:g} in the log-loss is required. `{CORRELATED}` is drawn: 208 rows of 60
columns, each near the next, and two classes."""

FEW = """\
{draws} draws of n rows from each of {sets} sets, at random and not by class, the same for every
model; up to {held_out} other rows are held out. A draw of one class alone is drawn again. Held-out
rows of classes that were not drawn are left out for every model alike, since none can name them.
The class prior is each class's share of the draw. Figures are means over the draws, then over the
sets; P is no less than 2.2e-16 in a log-loss."""

Weights = Callable[[np.random.Generator, int], np.ndarray | None]


@dataclass(frozen=True)
class Case:
    """A way to learn: weights for the rows, how often each row is there, columns of noise."""

    weights: Weights = lambda rng, n: None
    copies: int = 1
    noise: int = 0
    pairs: str | None = None


WAYS: Mapping[str, Case] = {
    "unweighted": Case(),
    "all weights 10": Case(lambda rng, n: np.full(n, 10.0)),
    "weights 1 to 5": Case(lambda rng, n: rng.integers(1, 6, n).astype(float)),
    "exponential weights": Case(lambda rng, n: rng.exponential(size=n)),
    "every row twice": Case(copies=2),
    f"{NOISE} columns of noise": Case(noise=NOISE),
}
CASES = {
    name + given: replace(case, pairs=pairs)
    for given, pairs in (("", None), (", pairs", "auto"))
    for name, case in WAYS.items()
}

FEW_MODELS: Mapping[str, models.Make | None] = {
    "default": lambda: priory.NaiveBayes(),
    "logistic regression": models.PEERS["logistic regression"][1],
    "class prior": None,
    "textbook": lambda: priory.NaiveBayes.textbook(1),
}

Figures = dict[str, dict[str, np.ndarray]]
Set = tuple[str, Any, np.ndarray]


def tables(folder: Path, rows: int, only: set[str] | None) -> Iterator[Set]:
    """Give name, table and classes of the sets without texts and images."""
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    names = {name for name, about in manifest.items() if _is_table(about)}
    for name, X, y, _ in data_sets(folder, False, names & only if only else names):
        some = np.random.default_rng(0).permutation(len(y))[:rows]
        labels, counts = np.unique(y[some], return_counts=True)
        some = some[np.isin(y[some], labels[counts >= FOLDS])]
        yield name, X.iloc[some].reset_index(drop=True), y[some]


def correlated(rows: int = 208, columns: int = 60) -> Set:
    """Draw a table of few rows and many columns, each near the next, as a spectrum has them.

    The second class is a little higher in one stretch of the columns and a little wider in another.
    """
    rng = np.random.default_rng(20_240_229)
    y = rng.integers(0, 2, rows)
    x = rng.normal(size=(rows, columns))
    for j in range(1, columns):
        x[:, j] = 0.9 * x[:, j - 1] + np.sqrt(1 - 0.9**2) * x[:, j]
    places = np.arange(columns)
    higher = 1.2 * np.exp(-(((places - columns / 4) / 5) ** 2))
    wider = 0.8 * np.exp(-(((places - 3 * columns / 4) / 5) ** 2))
    x = x * (1 + np.outer(y, wider)) + np.outer(y, higher)
    table = pd.DataFrame(x, columns=[f"band{j}" for j in places])
    return CORRELATED, table, y.astype(str).astype(object)


def _is_table(about: dict[str, Any]) -> bool:
    texts = about["n_text"] or "free text" in about["note"]
    return not texts and about["features"] <= 100


def judge(case: Case, name: str, X: Any, y: np.ndarray, repeats: int = MOST_REPEATS) -> np.ndarray:
    """Return log-loss reported and held out, accuracy reported and held out, over the folds."""
    rng = np.random.default_rng(crc32(name.encode()))
    weights = case.weights(rng, len(y))
    noise = rng.normal(size=(len(y), case.noise))
    X = X.join(pd.DataFrame(noise, columns=[f"noise{j}" for j in range(case.noise)]))
    found = []
    for train, test in _splits(y, repeats):
        train = np.tile(train, case.copies)
        w, v = (None if weights is None else weights[rows] for rows in (train, test))
        known = X.iloc[train].reset_index(drop=True)
        model = priory.NaiveBayes(pairs=case.pairs).fit(known, y[train], w)
        said = priory.leave_one_out(model, known, y[train], w)
        true = priory.evaluate(model, X.iloc[test], y[test], v)
        found.append((said.log_loss, true.log_loss, said.accuracy, true.accuracy))
    return np.mean(found, axis=0)


def _splits(y: np.ndarray, repeats: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Split the rows into folds, those of a small set several times: one split is luck."""
    for seed in range(int(np.clip(REPEATED // len(y), 1, repeats))):
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
        yield from folds.split(np.zeros(len(y)), y)


def few_rows(X: Any, y: np.ndarray, n: int, draws: int) -> np.ndarray:
    """Return the mean held-out log-loss of the models that have learned n rows."""
    rng = np.random.default_rng(n)
    found = []
    while len(found) < draws:
        order = rng.permutation(len(y))
        train, test = order[:n], order[n : n + HELD_OUT]
        classes, counts = np.unique(y[train], return_counts=True)
        test = test[np.isin(y[test], classes)]
        if len(classes) < 2 or not len(test):
            continue
        gold = np.searchsorted(classes, y[test])
        losses = []
        for make in FEW_MODELS.values():
            if make is None:
                p = np.broadcast_to(counts / n, (len(test), len(classes)))
            else:
                model = make().fit(X.iloc[train], y[train])
                p = model.predict_proba(X.iloc[test])
                assert model.classes_.tolist() == classes.tolist()
            losses.append(log_losses(gold, p).mean())
        found.append(losses)
    return np.mean(found, axis=0)


def main() -> int:
    """Judge the figures, then the few rows, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.honesty", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=DATA)
    parser.add_argument("--only", help="names of data sets, with commas between them")
    parser.add_argument("--part", choices=PARTS, help="one of the two tables alone")
    parser.add_argument("--case", choices=CASES, help="one way to learn alone")
    parser.add_argument("--rows", type=int, default=ROWS, help="of a set, at most")
    parser.add_argument(
        "--repeats", type=int, default=MOST_REPEATS, help="of the folds of a small set, at most"
    )
    parser.add_argument("--draws", type=int, default=DRAWS, help="of few rows from each set")
    parser.add_argument("--jobs", type=int, default=1, help="judged at a time")
    parser.add_argument(
        "--output", type=Path, help="the page; of a whole run benchmarks/honesty.md"
    )
    arguments = parser.parse_args()
    if not (arguments.folder / "manifest.json").is_file():
        print(f"Skipped: there is no manifest.json in {arguments.folder.name}; name a folder.")
        return 0
    warnings.simplefilter("ignore")
    parts = (arguments.part,) if arguments.part else PARTS
    only = set(arguments.only.split(",")) if arguments.only else None
    sets = list(tables(arguments.folder, arguments.rows, only))
    if only is None or CORRELATED in only:
        sets.append(correlated())
    lines = ["# Whether its figures are true\n"]
    lines += ["Written by `make honesty`; no figure is typed by hand.\n"]
    lines += [*(f"- {line}" for line in machine(load_average())), ""]
    if "figures" in parts:
        cases = [arguments.case] if arguments.case else list(CASES)
        works = [(case, found) for found in sets for case in cases]
        calls = [
            joblib.delayed(judge)(CASES[case], *found, arguments.repeats) for case, found in works
        ]
        figures: Figures = {case: {} for case in cases}
        judged = in_processes(calls, arguments.jobs)
        for (case, (name, *_)), found in zip(works, judged, strict=True):
            figures[case][name] = found
        lines += _figures(figures, {name: len(y) for name, _, y in sets}, arguments)
    if "few" in parts:
        chosen = _smallest(sets)
        calls = [
            joblib.delayed(few_rows)(X, y, n, arguments.draws) for _, X, y in chosen for n in SIZES
        ]
        losses = np.array(list(in_processes(calls, arguments.jobs)))
        losses = losses.reshape(len(chosen), len(SIZES), len(FEW_MODELS))
        lines += _few([name for name, _, _ in chosen], losses, arguments.draws)
    page = "\n".join(lines).rstrip("\n") + "\n"
    whole = not (arguments.part or arguments.case or only)
    output = arguments.output or (HERE / "honesty.md" if whole else None)
    if output is not None:
        output.write_text(page, encoding="utf-8")
    Console(width=150).print(page, markup=False, highlight=False)
    return 0


def _smallest(sets: Sequence[Set]) -> list[Set]:
    """Return the smallest real sets, which few rows are for, if enough are left to hold out."""
    least = max(SIZES) + LEAST_HELD_OUT
    enough = [found for found in sets if len(found[2]) >= least and found[0] != CORRELATED]
    return sorted(enough, key=lambda found: len(found[2]))[:SETS]


def _figures(figures: Figures, sizes: dict[str, int], asked: argparse.Namespace) -> Iterator[str]:
    """Give the means of each case, then every set of each."""
    yield "## What leave-one-out reports, and what rows not learned say\n"
    yield REPORTED.format(rows=asked.rows, repeats=asked.repeats) + "\n"
    heads = ("mean absolute difference", "bias", "largest")
    heads = tuple(f"{figure}: {head}" for figure in ("log-loss", "accuracy") for head in heads)
    heads = (*heads, f"log-loss: bias ≤ {BIAS:g}")
    body = []
    for case, found in figures.items():
        off = np.array([_differences(found[name]) for name in sizes])
        cells = []
        for column in off.T:
            worst = int(np.abs(column).argmax())
            cells += [f"{np.abs(column).mean():.4f}", f"{column.mean():+.4f}"]
            cells += [f"{column[worst]:+.3f} ({list(sizes)[worst]})"]
        body.append((case, *cells, reached(bool(abs(off[:, 0].mean()) <= BIAS))))
    yield from _table((f"{len(sizes)} sets", *heads), body)
    for case, found in figures.items():
        yield f"### {case.capitalize()}\n"
        body = []
        for name, n in sizes.items():
            loss, true_loss, right, true_right = found[name]
            off = [f"{value:+.4f}" for value in _differences(found[name])]
            body.append(
                (name, f"{n:,}", f"{loss:.4f}", f"{true_loss:.4f}", off[0],
                 f"{right:.4f}", f"{true_right:.4f}", off[1])
            )  # fmt: skip
        yield from _table(
            ("data", "rows", "log-loss", "held-out", "difference", "accuracy", "held-out",
             "difference"),
            body,
        )  # fmt: skip


def _differences(figures: np.ndarray) -> np.ndarray:
    """Return reported minus held-out, of the log-loss and of the accuracy."""
    return np.asarray(figures[::2] - figures[1::2])


def _few(names: Sequence[str], losses: np.ndarray, draws: int) -> Iterator[str]:
    """Give the mean log-loss of each model over the number of rows, then every set."""
    yield "## Few rows\n"
    yield FEW.format(draws=draws, sets=len(names), held_out=HELD_OUT) + "\n"
    others = list(FEW_MODELS)[1:]
    heads = ("rows", *FEW_MODELS, *(f"sets worse than {other}" for other in others))
    means = losses.mean(axis=0)
    worse = (losses[:, :, :1] > losses[:, :, 1:]).sum(axis=0)
    body = [
        (str(n), *(f"{mean:.3f}" for mean in means[j]), *(f"{w} of {len(names)}" for w in worse[j]))
        for j, n in enumerate(SIZES)
    ]
    yield from _table(heads, body)
    yield f"{' / '.join(FEW_MODELS)}, set by set:\n".capitalize()
    body = [
        (name, *(" / ".join(f"{loss:.2f}" for loss in cell) for cell in row))
        for name, row in zip(names, losses, strict=True)
    ]
    yield from _table(("data", *(f"{n} rows" for n in SIZES)), body)


def _table(heads: Sequence[str], body: Sequence[Sequence[str]]) -> Iterator[str]:
    yield from (*markdown(heads, body, range(1, len(heads))), "")


if __name__ == "__main__":
    raise SystemExit(main())
