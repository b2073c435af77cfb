"""What honest figures cost: `python -m benchmarks.leaving [ROWS]`.

Leave-one-out of a fitted model by subtraction, beside one prediction pass over the same rows, and
beside scikit-learn's `cross_val_predict` with ten folds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn import naive_bayes
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline

import priory
from benchmarks.measure import in_turn
from benchmarks.texts import zipf_texts
from benchmarks.works import SEED

__all__ = ["main"]

BYTES_PER_TEXT = 600


def cases(n: int) -> Iterator[tuple[str, Any, Any, Any, np.ndarray]]:
    """Give a name, a model that is fitted, its peer, and the rows and classes of each case."""
    rng = np.random.default_rng(SEED)
    y = rng.integers(0, 10, n)
    X = rng.normal(size=(n, 30)) + 0.3 * y[:, None]
    yield "GaussianNB", priory.GaussianNB().fit(X, y), naive_bayes.GaussianNB(), X, y
    codes = (rng.integers(0, 8, (n, 30)) + y[:, None] * rng.integers(0, 2, (n, 30))) % 8
    peer = naive_bayes.CategoricalNB(min_categories=8)
    yield "CategoricalNB", priory.CategoricalNB(min_categories=8).fit(codes, y), peer, codes, y
    texts, labels = zipf_texts(n * BYTES_PER_TEXT, 50_000)
    words = make_pipeline(CountVectorizer(), naive_bayes.MultinomialNB())
    yield "TextNB", priory.TextNB.textbook().fit(texts, labels), words, texts, labels


def main() -> int:
    """Measure every case, and print the ratios."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    for name, model, peer, X, y in cases(n):
        calls: dict[str, Callable[[], Any]] = {
            "prediction": lambda model=model, X=X: model.predict_proba(X),
            "leave-one-out": lambda model=model, X=X, y=y: priory.leave_one_out(model, X, y),
        }
        times, results = in_turn(calls, 20.0, 5, 15)
        theirs, _ = in_turn(
            {
                "cross_val_predict": lambda peer=peer, X=X, y=y: cross_val_predict(
                    peer, X, y, cv=10, method="predict_proba"
                )
            },
            1.0,
            1,
            2,
        )
        a, b = times["prediction"].median, times["leave-one-out"].median
        c = theirs["cross_val_predict"].median
        print(
            f"{name}, {len(y):,} rows: prediction {1e3 * a:.1f} ms, leave-one-out {1e3 * b:.1f} ms "
            f"({b / a:.2f} ×), cross_val_predict(cv=10) {c:.2f} s ({c / b:.1f} ×); "
            f"{results['leave-one-out']!r}"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
