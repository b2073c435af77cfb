"""What honest figures cost: leave-one-out by subtraction, beside one prediction pass and ten folds.

Leave-one-out of a fitted model, beside one prediction pass over the same rows, and beside
scikit-learn's `cross_val_predict` with ten folds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sklearn import naive_bayes
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline

import priory
from benchmarks.measure import Measured, Options, in_turn
from benchmarks.report import markdown, quantity, reached
from benchmarks.texts import zipf_texts
from benchmarks.works import SEED

__all__ = ["measure", "section"]

ROWS, FEW, COLUMNS, CLASSES, WORDS = 100_000, 400, 30, 10, 50_000
BYTES_PER_TEXT = 600
PASSES, FASTER = 3.0, 20.0
"""At most so many prediction passes; at least so many times faster than ten folds."""

HEADINGS = (
    "model", "data", "prediction pass", "leave-one-out", "passes", f"≤ {PASSES:g}",
    "cross_val_predict", "times faster", f"≥ {FASTER:g}", "accuracy", "of ten folds",
)  # fmt: skip

READING = f"""\
Times are medians, the smallest in parentheses, n is the number of repeats. A prediction pass is
`model.predict_proba(X)`, leave-one-out is `priory.leave_one_out(model, X, y)` of the same fitted
model: every row's probabilities under the model without that row, and the evaluation of them. The
two take turns after one warm-up each. scikit-learn's side is `cross_val_predict(cv=10,
method="predict_proba")` of its own model on the same data, measured once where that takes minutes.
At most {PASSES:g} passes and at least {FASTER:g} times faster are required. Ten folds are fitted on
nine tenths of the rows, so the two accuracies need not be the same; that leave-one-out equals
fitting again without each row is tested in `tests/tuning/test_leave_one_out.py`."""


@dataclass(frozen=True)
class Row:
    """One model: its times, and the accuracy of both ways."""

    model: str
    data: str
    prediction: Measured
    leaving: Measured
    folds: Measured
    accuracy: float
    accuracy_of_folds: float

    @classmethod
    def of(cls, kept: Mapping[str, Any]) -> Row:
        """Return a row that was kept as JSON."""
        times = {name: Measured(**kept[name]) for name in ("prediction", "leaving", "folds")}
        return cls(**{**kept, **times})

    def cells(self) -> tuple[str, ...]:
        """Return the row as text."""
        passes = self.leaving.median / self.prediction.median
        faster = self.folds.median / self.leaving.median
        return (
            self.model, self.data, quantity(self.prediction), quantity(self.leaving),
            f"{passes:.2f}", reached(passes <= PASSES), quantity(self.folds),
            f"{faster:.1f}×", reached(faster >= FASTER), f"{self.accuracy:.4f}",
            f"{self.accuracy_of_folds:.4f}",
        )  # fmt: skip


def cases(n: int) -> Iterator[tuple[str, str, Any, Any, Any, np.ndarray]]:
    """Give a name, the data in words, a fitted model, its peer, rows and classes of each case."""
    rng = np.random.default_rng(SEED)
    y = rng.integers(0, CLASSES, n)
    X = rng.normal(size=(n, COLUMNS)) + 0.3 * y[:, None]
    shape = f"{n:,} × {COLUMNS}, {CLASSES} classes"
    numbers = naive_bayes.GaussianNB()
    yield "GaussianNB", f"{shape}, float64", priory.GaussianNB().fit(X, y), numbers, X, y
    codes = (rng.integers(0, 6, X.shape) + y[:, None] * rng.integers(0, 2, X.shape)) % 8
    labels = naive_bayes.CategoricalNB(min_categories=8)
    ours = priory.CategoricalNB(min_categories=8).fit(codes, y)
    yield "CategoricalNB", f"{shape}, 8 codes a column", ours, labels, codes, y
    drawn, classes = zipf_texts(n * BYTES_PER_TEXT, min(WORDS, n))
    texts, classes = drawn[:n], classes[:n]
    size = sum(map(len, texts)) / 1e6
    data = f"{len(texts):,} texts, {size:.0f} MB, {len(np.unique(classes))} classes"
    words = make_pipeline(CountVectorizer(), naive_bayes.MultinomialNB())
    yield "TextNB", data, priory.TextNB.textbook().fit(texts, classes), words, texts, classes


def measured(name: str, data: str, model: Any, peer: Any, X: Any, y: np.ndarray) -> Row:
    """Measure one case."""
    calls: dict[str, Callable[[], Any]] = {
        "prediction": lambda: model.predict_proba(X),
        "leave-one-out": lambda: priory.leave_one_out(model, X, y),
    }
    times, results = in_turn(calls, 20.0, 7, 31)
    folds = {"folds": lambda: cross_val_predict(peer, X, y, cv=10, method="predict_proba")}
    theirs, forecasts = in_turn(folds, 20.0, 0, 3)
    right = float((np.unique(y)[forecasts["folds"].argmax(axis=1)] == y).mean())
    accuracy = results["leave-one-out"].accuracy
    of_ours = times["prediction"], times["leave-one-out"]
    return Row(name, data, *of_ours, theirs["folds"], accuracy, right)


def measure(options: Options) -> dict[str, Any]:
    """Measure every case."""
    rows = [measured(*case) for case in cases(FEW if options.quick else ROWS)]
    return {"rows": [asdict(row) for row in rows]}


def section(data: Mapping[str, Any]) -> Iterator[str]:
    """Give the section of the page."""
    rows = [Row.of(row).cells() for row in data["rows"]]
    yield from markdown(HEADINGS, rows, (2, 3, 4, 6, 7, 9, 10))
    yield f"\n{READING}"
