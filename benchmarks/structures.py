"""TAN, AODE, hill climbing and pairs beside naive Bayes, on a folder of public tables.

The protocol is that of `benchmarks.quality`: five folds, the same for all. Each structure is taken
twice: as the textbook has it (smoothing 1, no weights) and with everything tuned.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

import priory
from benchmarks.measure import Options
from benchmarks.quality import DATA, FIGURES, data_sets, judge
from benchmarks.report import markdown

__all__ = ["measure", "section"]

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


def measure(options: Options) -> dict[str, Any] | None:
    """Judge all structures on all tables; None where there are none."""
    folder = options.tables or DATA
    if not folder.is_dir() or (options.quick and options.tables is None):
        return None
    scores: dict[str, Scores] = {"labels": {}, "mixed": {}, "numbers": {}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, X, y, is_text in data_sets(folder, False):
            if not is_text:
                of_set = {model: judge(make, X, y, False) for model, make in models().items()}
                scores[kind_of(X)][name] = of_set
    return {"means": {kind: means(of_kind) for kind, of_kind in scores.items() if of_kind}}


def means(scores: Scores) -> dict[str, Any]:
    """Return the means over the sets of one kind."""
    found: dict[str, Any] = {"sets": len(scores), "models": {}}
    for model in models():
        over_sets = np.mean([of_set[model] for of_set in scores.values()], axis=0)
        found["models"][model] = {name: over_sets[FIGURES.index(name)] for name in SHOWN}
    return found


def section(data: Mapping[str, Any]) -> Iterator[str]:
    """Give the section of the page."""
    rows = [
        (f"{TITLES[kind]} ({of_kind['sets']})", model, *(f"{found[name]:.3f}" for name in SHOWN))
        for kind, of_kind in data["means"].items()
        for model, found in of_kind["models"].items()
    ]
    yield from markdown(("tables of", "model", *SHOWN), rows, (2, 3))
    yield "\nMeans over so many tables, five folds each, the same for all models."
