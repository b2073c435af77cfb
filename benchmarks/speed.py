"""How long the tuned default takes beside LightGBM and logistic regression.

Tables of 30 mixed columns with gaps at three numbers of rows, and wide tables of numbers; then the
prediction of a million rows. The contenders take turns, and learn other models: nothing is compared
but the time.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import priory
from benchmarks import models
from benchmarks.measure import Measured, Options, in_turn
from benchmarks.report import Row, compared
from benchmarks.works import SEED

__all__ = ["measure", "section"]

NUMBERS, LABELS, GAPS, SHARE = 18, 12, 10, 0.05
"""The columns of each kind; so many of all have so large a share of gaps."""
MIXED, WIDE = (10**4, 10**5, 10**6), ((2_000, 500), (5_000, 1_000))
MIXED_QUICK, WIDE_QUICK = (300,), ((100, 20),)
SECONDS, REPEATS = 60.0, (3, 15)
"""What all repeats on one table may take, if the fewest allow it; the fewest and the most."""
FIT, PREDICT = 1.0, 3.0
"""How many times LightGBM's speed the default has to have."""
OURS: Mapping[str, Callable[[], Any]] = {
    "NaiveBayes()": lambda: priory.NaiveBayes(),
    "NaiveBayes(pairs=None)": lambda: priory.NaiveBayes(pairs=None),
}
DEFAULT = next(iter(OURS))
LIGHTGBM, LOGISTIC = "LightGBM", "logistic regression"

READING = f"""\
Times are medians, the smallest in parentheses, n is the number of repeats; all contenders of a
table take turns on the same data in memory, after one warm-up each, with as many threads as there
are cores, and all have their defaults. The mixed tables are pandas frames: {NUMBERS} numbers,
{LABELS} columns of labels that are pandas categories already, {GAPS} columns with
{SHARE:.0%} of gaps, two classes that depend on single columns and on pairs of them. The wide tables
are NumPy arrays of numbers. Logistic regression fills the gaps and encodes the labels within its
fit. The fit of the default may take no longer than LightGBM's, and it has to predict at least
{PREDICT:g} times as fast."""


def mixed(rows: int) -> tuple[Any, np.ndarray]:
    """Draw numbers and labels with gaps, and two classes that depend on some and on pairs."""
    rng = np.random.default_rng(SEED)
    columns: dict[str, Any] = {}
    for j in range(NUMBERS):
        x = rng.normal(size=rows)
        columns[f"number{j}"] = np.exp(x) if j % 3 == 1 else np.round(3 * x) if j % 3 == 2 else x
    codes = [rng.integers(0, 2 + 4 * j, rows) for j in range(LABELS)]
    n = [columns[f"number{j}"] for j in range(NUMBERS)]
    signal = 0.8 * n[0] + np.sin(2 * n[3]) - 0.5 * np.log(n[1]) + 0.2 * n[2]  # columns alone
    signal += np.where(codes[0] == codes[1] % 2, 0.8, -0.8)  # pairs of columns
    signal += 0.7 * n[6] * n[9] + np.where(codes[2] % 2, 0.6, -0.6) * n[12]
    signal += rng.normal(size=codes[8].max() + 1, scale=0.5)[codes[8]]
    y = (signal + rng.logistic(size=rows) > 0).astype(int)
    for j, values in enumerate(codes):
        names = [f"value{v}" for v in range(2 + 4 * j)]
        columns[f"label{j}"] = pd.Categorical.from_codes(values, names)
    table = pd.DataFrame(columns)
    for name in table.columns[:: table.shape[1] // GAPS][:GAPS]:
        table.loc[rng.random(rows) < SHARE, name] = None
    return table, y


def wide(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw correlated numbers, a tenth of which differ between two classes."""
    rng = np.random.default_rng(SEED)
    y = rng.integers(0, 2, rows)
    X = rng.normal(size=(rows, columns)) + 0.5 * rng.normal(size=(rows, 1))
    X[:, ::10] += 0.15 * y[:, None]
    return X, y


def peers(X: Any) -> dict[str, Callable[[], Any]]:
    """Return how the peers are made that are installed, for a frame or an array."""
    made = {LOGISTIC: lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))}
    if isinstance(X, pd.DataFrame):
        made[LOGISTIC] = models.PEERS[LOGISTIC][1]
    if LIGHTGBM not in models.absent():
        made = {LIGHTGBM: models.lightgbm, **made}
    return made


def measured(data: str, X: Any, y: np.ndarray, options: Options) -> tuple[list[Row], Any]:
    """Measure the fits on a table, and return the rows and the models that were fitted."""
    Console(stderr=True).print(f"fits of {data} …", markup=False)
    makers = {**OURS, **peers(X)}
    calls = {name: lambda make=make: make().fit(X, y) for name, make in makers.items()}
    least, most = (1, 1) if options.quick else REPEATS
    times, fitted = in_turn(calls, SECONDS, least, most)
    rows = [
        row(f"{ours} fit", data, peer, times[ours], times, FIT if ours == DEFAULT else None)
        for ours in OURS
        for peer in (LIGHTGBM, LOGISTIC)
    ]
    return rows, fitted


def row(
    work: str, data: str, peer: str, ours: Measured, times: Mapping[str, Measured],
    required: float | None,
) -> Row:  # fmt: skip
    """Return the row of one of ours and one peer; only LightGBM's time is required."""
    return Row(work, data, peer, ours, times.get(peer), required if peer == LIGHTGBM else None)


def predicted(data: str, X: Any, fitted: Mapping[str, Any], options: Options) -> list[Row]:
    """Measure the prediction of the same rows."""
    names = [name for name in (DEFAULT, LIGHTGBM, LOGISTIC) if name in fitted]
    calls = {name: lambda model=fitted[name]: model.predict_proba(X) for name in names}
    times, _ = in_turn(calls, SECONDS, *((1, 1) if options.quick else REPEATS))
    work = f"{DEFAULT} predict_proba"
    return [row(work, data, p, times[DEFAULT], times, PREDICT) for p in (LIGHTGBM, LOGISTIC)]


def measure(options: Options) -> dict[str, Any]:
    """Measure the fits on every table, and the prediction of the longest."""
    rows: list[Row] = []
    tall = MIXED_QUICK if options.quick else MIXED
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for n in tall:
            X, y = mixed(n)
            data = f"{n:,} × {NUMBERS + LABELS} mixed"
            found, fitted = measured(data, X, y, options)
            rows += found
            if n == max(tall):
                rows += predicted(data, X, fitted, options)
        for shape in WIDE_QUICK if options.quick else WIDE:
            numbers, y = wide(*shape)
            rows += measured(f"{shape[0]:,} × {shape[1]:,} numbers", numbers, y, options)[0]
    not_run = [f"{LIGHTGBM}: not installed"] if LIGHTGBM in models.absent() else []
    return {"rows": [asdict(found) for found in rows], "not_run": not_run}


def section(data: Mapping[str, Any]) -> Iterator[str]:
    """Give the section of the page."""
    yield from compared(data)
    yield f"\n{READING}"
