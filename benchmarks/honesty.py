"""Whether the figures that the default reports are true: `python -m benchmarks.honesty [FOLDER]`.

What leave-one-out says of the rows that were learned, beside what rows that were not learned say,
without weights and with several; and how the default fares with very few rows. The page is
`benchmarks/honesty.md`.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from rich.console import Console
from rich.progress import Progress
from sklearn.model_selection import StratifiedKFold

import priory
from benchmarks.quality import DATA, data_sets
from priory.evaluation.losses import log_losses

__all__ = ["main"]

HERE = Path(__file__).parent
ROWS, FOLDS = 3_000, 5
SIZES, DRAWS, SETS = (5, 10, 19, 20, 40, 80), 20, 12
HELD_OUT, LEAST_HELD_OUT = 500, 50
PARTS = ("figures", "few")

REPORTED = f"""\
{FOLDS} stratified folds of at most {{rows:,}} rows. In each fold the default is fitted on the other
four; `priory.leave_one_out` of that model reports the log-loss and the accuracy of the rows that it
learned; and the rows of the fold, which it did not learn, tell the true ones. With sample weights
both figures are weighted by the rows' own. Figures are means over the folds; a difference is
reported minus held-out: below 0 in the log-loss, above 0 in the accuracy, what is reported is too
good to be true."""

FEW = """\
{draws} draws of n rows from each of {sets} sets, at random and not by class, the same for every
model; up to {held_out} other rows are held out. A draw of one class alone is drawn again. Held-out
rows of classes that were not drawn are left out for every model alike, since none can name them.
The class prior is each class's share of the draw. Figures are means over the draws, then over the
sets; P is no less than 2.2e-16 in a log-loss."""


@dataclass(frozen=True)
class Case:
    """A way to learn: the options of the model, and weights for the rows."""

    options: dict[str, Any]
    weights: Callable[[np.random.Generator, int], np.ndarray | None]


CASES = {
    "unweighted": Case({}, lambda rng, n: None),
    "all weights 10": Case({}, lambda rng, n: np.full(n, 10.0)),
    "weights 1 to 5": Case({}, lambda rng, n: rng.integers(1, 6, n).astype(float)),
    "exponential weights": Case({}, lambda rng, n: rng.exponential(size=n)),
    'unweighted, pairs="auto"': Case({"pairs": "auto"}, lambda rng, n: None),
}

MODELS = ("default", "class prior", "textbook")

Figures = dict[str, dict[str, np.ndarray]]
"""By case and data set: log-loss reported and held out, accuracy reported and held out."""


def tables(folder: Path, rows: int, only: set[str] | None) -> Iterator[tuple[str, Any, np.ndarray]]:
    """Give name, table and classes of the sets without texts and images."""
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    names = {name for name, about in manifest.items() if _is_table(about)}
    for name, X, y, _ in data_sets(folder, False, names & only if only else names):
        some = np.random.default_rng(0).permutation(len(y))[:rows]
        labels, counts = np.unique(y[some], return_counts=True)
        some = some[np.isin(y[some], labels[counts >= FOLDS])]
        yield name, X.iloc[some].reset_index(drop=True), y[some]


def _is_table(about: dict[str, Any]) -> bool:
    texts = about["n_text"] or "free text" in about["note"]
    return not texts and about["features"] <= 100


def judge(case: Case, name: str, X: Any, y: np.ndarray) -> np.ndarray:
    """Return log-loss reported and held out, accuracy reported and held out, over the folds."""
    weights = case.weights(np.random.default_rng(crc32(name.encode())), len(y))
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=1)
    found = []
    for train, test in folds.split(np.zeros(len(y)), y):
        w, v = (None if weights is None else weights[rows] for rows in (train, test))
        known = X.iloc[train]
        model = priory.NaiveBayes(**case.options).fit(known, y[train], w)
        reported = priory.leave_one_out(model, known, y[train], w)
        true = priory.evaluate(model, X.iloc[test], y[test], v)
        found.append((reported.log_loss, true.log_loss, reported.accuracy, true.accuracy))
    return np.mean(found, axis=0)


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
        prior = np.broadcast_to(counts / n, (len(test), len(classes)))
        losses = []
        for model in (priory.NaiveBayes(), None, priory.NaiveBayes.textbook(1)):
            if model is None:
                p = prior
            else:
                p = model.fit(X.iloc[train], y[train]).predict_proba(X.iloc[test])
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
    parser.add_argument("--draws", type=int, default=DRAWS, help="of few rows from each set")
    parser.add_argument("--output", type=Path, default=HERE / "honesty.md")
    arguments = parser.parse_args()
    if not (arguments.folder / "manifest.json").is_file():
        print(f"Skipped: there is no manifest.json in {arguments.folder.name}; name a folder.")
        return 0
    warnings.simplefilter("ignore")
    start = time.process_time()
    parts = (arguments.part,) if arguments.part else PARTS
    only = set(arguments.only.split(",")) if arguments.only else None
    sets = list(tables(arguments.folder, arguments.rows, only))
    lines = ["# Whether its figures are true\n"]
    lines += ["Written by `make honesty`; no figure is typed by hand.\n"]
    with Progress(console=Console(stderr=True)) as progress:
        if "figures" in parts:
            cases = [arguments.case] if arguments.case else list(CASES)
            figures: Figures = {case: {} for case in cases}
            task = progress.add_task("figures", total=len(cases) * len(sets))
            for name, X, y in sets:
                for case in cases:
                    figures[case][name] = judge(CASES[case], name, X, y)
                    progress.advance(task)
            lines += _figures(figures, {name: len(y) for name, _, y in sets}, arguments.rows)
        if "few" in parts:
            chosen = _smallest(sets)
            task = progress.add_task("few rows", total=len(chosen) * len(SIZES))
            losses = np.empty((len(chosen), len(SIZES), len(MODELS)))
            for i, (_, X, y) in enumerate(chosen):
                for j, n in enumerate(SIZES):
                    losses[i, j] = few_rows(X, y, n, arguments.draws)
                    progress.advance(task)
            lines += _few([name for name, _, _ in chosen], losses, arguments.draws)
    lines += [f"The run took {(time.process_time() - start) / 60:.1f} minutes of processor time."]
    arguments.output.write_text("\n".join(lines) + "\n", encoding="utf-8")
    Console(width=150).print("\n".join(lines), markup=False, highlight=False)
    return 0


def _smallest(sets: list[tuple[str, Any, np.ndarray]]) -> list[tuple[str, Any, np.ndarray]]:
    """Return the smallest sets, which few rows are for, if enough are left to hold out."""
    enough = [found for found in sets if len(found[2]) >= max(SIZES) + LEAST_HELD_OUT]
    return sorted(enough, key=lambda found: len(found[2]))[:SETS]


def _figures(figures: Figures, sizes: dict[str, int], rows: int) -> Iterator[str]:
    """Give the means of each case, then every set of each."""
    yield "## What leave-one-out reports, and what rows not learned say\n"
    yield REPORTED.format(rows=rows) + "\n"
    heads = ("mean absolute difference", "bias", "largest")
    heads = tuple(f"{figure}: {head}" for figure in ("log-loss", "accuracy") for head in heads)
    body = []
    for case, found in figures.items():
        off = np.array([_differences(found[name]) for name in sizes])
        cells = []
        for column in off.T:
            worst = int(np.abs(column).argmax())
            cells += [f"{np.abs(column).mean():.4f}", f"{column.mean():+.4f}"]
            cells += [f"{column[worst]:+.3f} ({list(sizes)[worst]})"]
        body.append((case, *cells))
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
    """Give the mean log-loss of each model over the number of rows, and each set of the default."""
    yield "## Few rows\n"
    yield FEW.format(draws=draws, sets=len(names), held_out=HELD_OUT) + "\n"
    heads = ("rows", *MODELS, "sets in which the default is worse than the prior")
    means = losses.mean(axis=0)
    worse = (losses[:, :, 0] > losses[:, :, 1]).sum(axis=0)
    body = [
        (str(n), *(f"{mean:.3f}" for mean in means[j]), f"{worse[j]} of {len(names)}")
        for j, n in enumerate(SIZES)
    ]
    yield from _table(heads, body)
    yield "The default / the class prior / the textbook, set by set:\n"
    body = [
        (name, *(" / ".join(f"{loss:.2f}" for loss in cell) for cell in row))
        for name, row in zip(names, losses, strict=True)
    ]
    yield from _table(("data", *(f"{n} rows" for n in SIZES)), body)


def _table(heads: Sequence[str], body: Sequence[Sequence[str]]) -> Iterator[str]:
    yield "| " + " | ".join(heads) + " |"
    yield "|---|" + "---:|" * (len(heads) - 1)
    for row in body:
        yield "| " + " | ".join(row) + " |"
    yield ""


if __name__ == "__main__":
    raise SystemExit(main())
