"""Find flipped labels: `priory.find_label_errors` beside cleanlab with logistic regression.

    python -m benchmarks.label_errors DATA [SEEDS]

DATA is a folder of tables, the last column of each its class. Five percent of the labels are
changed to another class at random; both rank all rows, and the average precision says how far the
changed ones come first. Times are those of the processor.
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from priory import NaiveBayes, find_label_errors

TABLES = (
    *("breast_w", "car", "credit_g", "heart_c", "house_votes_84", "pima_diabetes", "satimage"),
    *("splice", "titanic", "vehicle"),
)
FLIPPED = 0.05


def read(folder: Path, name: str) -> tuple[pd.DataFrame, pd.Series]:
    """Read a table and its classes, the column `target` or the last one."""
    table = pd.read_csv(next(folder.glob(f"{name}.csv*")))
    target = "target" if "target" in table else table.columns[-1]
    table = table[table[target].notna()].drop(columns="split", errors="ignore")
    return table.drop(columns=target), table[target].astype(str)


def flipped(y: pd.Series, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Change some labels to another class; say which."""
    rng = np.random.default_rng(seed)
    labels, codes = np.unique(y, return_inverse=True)
    wrong = np.zeros(len(y), dtype=bool)
    wrong[rng.choice(len(y), round(FLIPPED * len(y)), replace=False)] = True
    other = (codes + rng.integers(1, len(labels), len(y))) % len(labels)
    return labels[np.where(wrong, other, codes)], wrong


def by_cleanlab(X: pd.DataFrame, y: np.ndarray) -> np.ndarray:
    """Score rows by cleanlab, with logistic regression in five folds; low is suspicious."""
    from cleanlab.rank import get_label_quality_scores
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers = X.select_dtypes("number").columns
    labels = [c for c in X if c not in set(numbers)]
    prepared = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), list(numbers)),
        (OneHotEncoder(handle_unknown="ignore"), labels),
    )
    model = make_pipeline(prepared, LogisticRegression(max_iter=1000))
    _, codes = np.unique(y, return_inverse=True)
    p = cross_val_predict(model, X, codes, method="predict_proba", cv=5)
    return get_label_quality_scores(codes, p)


def by_priory(X: pd.DataFrame, y: np.ndarray, model: NaiveBayes) -> np.ndarray:
    """Score rows by their log-odds; low is suspicious."""
    errors = find_label_errors(X, y, model)
    scores = np.empty(len(errors))
    scores[errors.rows] = errors.log_odds
    return scores


def main(folder: str, seeds: str = "3") -> None:
    """Print the average precision and the seconds of each table, and their means."""
    from sklearn.metrics import average_precision_score

    ways = {
        "cleanlab": by_cleanlab,
        "priory": lambda X, y: by_priory(X, y, NaiveBayes()),
        "pairs=None": lambda X, y: by_priory(X, y, NaiveBayes(pairs=None)),
    }
    print(f"{'':16}" + "".join(f"{name:>18}" for name in ways))
    means = []
    for name in TABLES:
        X, y = read(Path(folder), name)
        found = np.zeros((int(seeds), len(ways), 2))
        for seed in range(int(seeds)):
            noisy, wrong = flipped(y, seed)
            for w, way in enumerate(ways.values()):
                start = time.process_time()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    scores = way(X, noisy)
                found[seed, w] = (
                    average_precision_score(wrong, -scores),
                    time.process_time() - start,
                )
        means.append(found.mean(axis=0))
        print(f"{name:16}" + "".join(f"{ap:10.3f} {s:5.2f} s" for ap, s in means[-1]), flush=True)
    print(f"{'mean':16}" + "".join(f"{ap:10.3f} {s:5.2f} s" for ap, s in np.mean(means, axis=0)))


if __name__ == "__main__":
    main(*sys.argv[1:])
