"""Structures beside naive Bayes: `python -m benchmarks.structures [FOLDER]`.

The protocol is that of `benchmarks.quality`: five folds, the same for all. Each structure is taken
twice: as the textbook has it (smoothing 1, no weights) and with everything tuned.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress

import priory
from benchmarks.quality import DATA, FIGURES, data_sets, judge

HERE = Path(__file__).parent
SHOWN = ("log-loss", "accuracy")
STRUCTURES = ("naive", "tan", "aode", "hill-climb")
TITLES = {"labels": "labels", "mixed": "labels and numbers", "numbers": "numbers"}
Scores = dict[str, dict[str, np.ndarray]]


def models() -> dict[str, Callable[[], Any]]:
    """Return each structure, plain and tuned."""
    plain = {"families": "plain", "smoothing": 1.0, "weights": None, "missing": "skip"}
    made: dict[str, Callable[[], Any]] = {}
    for structure in STRUCTURES:
        made[f"{structure}, textbook"] = lambda s=structure: priory.NaiveBayes(**plain, structure=s)
    for structure in STRUCTURES:
        made[structure] = lambda s=structure: priory.NaiveBayes(structure=s)
    made["naive, pairs"] = lambda: priory.NaiveBayes(pairs="auto")
    return made


def kind_of(X: Any) -> str:
    """Return whether a table holds labels, numbers or both."""
    numbers = X.select_dtypes("number").shape[1]
    return "labels" if not numbers else "numbers" if numbers == X.shape[1] else "mixed"


def main() -> int:
    """Judge all structures on all tables, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.structures", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=DATA)
    parser.add_argument("--only", help="names of data sets, with commas between them")
    parser.add_argument("--output", type=Path, default=HERE / "structures.md")
    arguments = parser.parse_args()
    if not arguments.folder.is_dir():
        raise SystemExit(f"There is no folder {arguments.folder}: name one that holds CSV files.")
    warnings.simplefilter("ignore")
    chosen = set(arguments.only.split(",")) if arguments.only else None
    scores: dict[str, Scores] = {"labels": {}, "mixed": {}, "numbers": {}}
    with Progress(console=Console(stderr=True)) as progress:
        found = [
            (name, X, y)
            for name, X, y, is_text in data_sets(arguments.folder, False)
            if not is_text and (not chosen or name in chosen)
        ]
        task = progress.add_task("data sets", total=len(found))
        for name, X, y in found:
            of_set = scores[kind_of(X)].setdefault(name, {})
            for model, make in models().items():
                progress.update(task, description=f"{name}: {model}")
                of_set[model] = judge(make, X, y, False)
            progress.advance(task)
    lines = ["# Structures side by side\n"]
    lines += ["Written by `python -m benchmarks.structures`; no figure is typed by hand.\n"]
    for kind, of_kind in scores.items():
        lines += page(kind, of_kind)
    text = "\n".join(lines)
    arguments.output.write_text(text + "\n", encoding="utf-8")
    print(text)
    return 0


def page(kind: str, scores: Scores) -> Iterator[str]:
    """Give the means over the sets of one kind."""
    if not scores:
        return
    yield f"## Tables of {TITLES[kind]}: means over {len(scores)}\n"
    yield "| model | " + " | ".join(SHOWN) + " |"
    yield "|---|" + "---:|" * len(SHOWN)
    for model in models():
        means = np.mean([scores[name][model] for name in scores], axis=0)
        cells = [f"{means[FIGURES.index(figure)]:.3f}" for figure in SHOWN]
        yield f"| {model} | " + " | ".join(cells) + " |"
    yield ""


if __name__ == "__main__":
    raise SystemExit(main())
