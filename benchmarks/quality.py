"""How well the defaults predict, beside other models: `python -m benchmarks.quality [FOLDER]`.

Five folds of every table and text in a folder of CSV files with a column `target`, the same for all
models; log-loss, Brier score, calibration error, accuracy and the time of a fit.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
)

import priory
from priory.evaluation import Evaluation

HERE = Path(__file__).parent
DATA = Path(__file__).parents[2] / "shared" / "data"
ROWS, TEXTS, COLUMNS, FOLDS, FEWEST, LARGE = 5_000, 4_000, 100, 5, 10, 1_000
FIGURES = ("log-loss", "Brier", "calibration error", "accuracy", "fit, s")
LOWER = {"log-loss", "Brier", "calibration error", "fit, s"}

Scores = dict[str, dict[str, np.ndarray]]


def tables() -> dict[str, Callable[[], Any]]:
    """Return the models of tables, each as a user would set it up."""
    return {
        "priory": lambda: priory.NaiveBayes(),
        "priory, pairs=auto": lambda: priory.NaiveBayes(pairs="auto"),
        "priory textbook": lambda: priory.NaiveBayes.textbook(),
        "GaussianNB, one-hot": lambda: make_pipeline(_one_hot(False), GaussianNB()),
        "CategoricalNB, 5 quantiles": lambda: make_pipeline(_quantiles(), CategoricalNB()),
        "logistic regression": lambda: make_pipeline(
            _one_hot(True), LogisticRegression(max_iter=1000)
        ),
        "random forest": lambda: make_pipeline(
            _one_hot(False), RandomForestClassifier(random_state=0, n_jobs=-1)
        ),
        "histogram gradient boosting": lambda: make_pipeline(
            _ordinal(), HistGradientBoostingClassifier(random_state=0)
        ),
    }


def texts() -> dict[str, Callable[[], Any]]:
    """Return the models of texts."""
    return {
        "priory": lambda: priory.TextNB(),
        "priory textbook": lambda: priory.TextNB.textbook(),
        "MultinomialNB": lambda: make_pipeline(CountVectorizer(), MultinomialNB()),
        "BernoulliNB": lambda: make_pipeline(CountVectorizer(), BernoulliNB()),
        "ComplementNB": lambda: make_pipeline(CountVectorizer(), ComplementNB()),
        "logistic regression, tf-idf": lambda: make_pipeline(
            TfidfVectorizer(sublinear_tf=True), LogisticRegression(max_iter=1000)
        ),
    }


def _one_hot(scaled: bool) -> Any:
    numbers = [SimpleImputer(strategy="median"), *([StandardScaler()] if scaled else [])]
    labels = make_pipeline(
        SimpleImputer(strategy="constant", fill_value="missing"),
        OneHotEncoder(handle_unknown="ignore", sparse_output=False),
    )
    return _columns(make_pipeline(*numbers), labels)


def _quantiles() -> Any:
    codes = make_pipeline(  # a value never seen is the code 0, which no row had
        OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
        FunctionTransformer(_plus_one),
    )
    bins = KBinsDiscretizer(5, encode="ordinal", quantile_method="averaged_inverted_cdf")
    labels = make_pipeline(SimpleImputer(strategy="constant", fill_value="missing"), codes)
    return _columns(make_pipeline(SimpleImputer(strategy="median"), bins), labels)


def _plus_one(codes: Any) -> Any:
    return codes + 1


def _ordinal() -> Any:
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    return _columns("passthrough", codes)


def _columns(numbers: Any, labels: Any) -> Any:
    is_number = make_column_selector(dtype_include="number")
    return make_column_transformer(
        (numbers, is_number), (labels, make_column_selector(dtype_exclude="number"))
    )


def data_sets(
    folder: Path, full: bool, only: set[str] | None = None
) -> Iterator[tuple[str, Any, np.ndarray, bool]]:
    """Give name, data, classes, and whether they are texts, of every file in a folder, or some."""
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
        table = table.drop(columns=[c for c in ("split", "group") if c in table])
        target = table["target"].astype(str)
        table = table[target.map(target.value_counts()) >= FEWEST]
        is_text = [c for c in table if c != "target"] == ["text"]
        most = len(table) if full else TEXTS if is_text else ROWS
        if len(table) > most:
            table = table.sample(most, random_state=0)
        target = table["target"].astype(str)
        table = table[target.map(target.value_counts()) >= FOLDS].reset_index(drop=True)
        y = table.pop("target").astype(str).to_numpy(dtype=object)
        yield name, table, y, is_text


def judge(make: Callable[[], Any], X: Any, y: np.ndarray, is_text: bool) -> np.ndarray:
    """Return the figures of a model over what each fold says of the rows it has not learned."""
    labels, classes = np.array(y), sorted(set(y))
    probabilities, seconds = np.zeros((len(y), len(classes))), []
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=1)
    for train, test in folds.split(np.zeros(len(y)), y):
        known, new = X.iloc[train], X.iloc[test]
        if is_text:
            known, new = known["text"].fillna("").tolist(), new["text"].fillna("").tolist()
        start = time.perf_counter()
        model = make().fit(known, y[train])
        seconds.append(time.perf_counter() - start)
        places = [classes.index(label) for label in model.classes_]
        probabilities[np.ix_(test, places)] = model.predict_proba(new)
    found = Evaluation(labels, probabilities, classes, how="5-fold")
    brier = float(((probabilities - (labels[:, None] == classes)) ** 2).sum(axis=1).mean())
    return np.array(
        [found.log_loss, brier, found.calibration_error, found.accuracy, np.mean(seconds)]
    )


def main() -> int:
    """Judge all models on all data, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=DATA)
    parser.add_argument("--full", action="store_true", help="all rows and columns")
    parser.add_argument("--only", help="names of data sets, with commas between them")
    parser.add_argument(
        "--keep", type=Path, help="a file of scores: what is in it is not judged again"
    )
    parser.add_argument("--output", type=Path, default=HERE / "quality.md")
    arguments = parser.parse_args()
    if not arguments.folder.is_dir():
        raise SystemExit(f"There is no folder {arguments.folder}: name one that holds CSV files.")
    warnings.simplefilter("ignore")
    scores: dict[bool, Scores] = {False: {}, True: {}}
    rows: dict[str, int] = {}
    kept = _kept(arguments.keep)
    earlier = len(kept)
    chosen = set(arguments.only.split(",")) if arguments.only else None
    with Progress(console=Console(stderr=True)) as progress:
        found = list(data_sets(arguments.folder, arguments.full, chosen))
        task = progress.add_task("data sets", total=len(found))
        for name, X, y, is_text in found:
            for model, make in (texts() if is_text else tables()).items():
                progress.update(task, description=f"{name}: {model}")
                if (name, model) not in kept:
                    kept[name, model] = judge(make, X, y, is_text)
                    _keep(arguments.keep, name, model, kept[name, model])
                scores[is_text].setdefault(name, {})[model] = kept[name, model]
            rows[name] = len(y)
            progress.advance(task)
    lines = ["# How well it predicts\n", "Written by `make quality`; no figure is typed by hand.\n"]
    lines += [_protocol(arguments.full)]
    if earlier:
        lines += [f"{earlier} of {len(kept)} scores were kept from earlier runs, so that times of "
                  "different models may have been measured under different load.\n"]  # fmt: skip
    for is_text, title in ((False, "Tables"), (True, "Texts")):
        if scores[is_text]:
            lines += [f"## {title}\n", *_page(scores[is_text], title, rows)]
    arguments.output.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


def _kept(path: Path | None) -> dict[tuple[str, str], np.ndarray]:
    """Return the scores that an earlier run has left."""
    if path is None or not path.is_file():
        return {}
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {(name, model): np.array(figures) for name, model, figures in lines}


def _keep(path: Path | None, name: str, model: str, figures: np.ndarray) -> None:
    if path is not None:
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps([name, model, figures.tolist()]) + "\n")


def _protocol(full: bool) -> str:
    limit = "all rows" if full else f"at most {ROWS:,} rows ({TEXTS:,} texts) and {COLUMNS} columns"
    return (
        f"{FOLDS} stratified folds, the same for all models, their predictions pooled; {limit}; "
        f"classes of fewer than {FEWEST} rows are left out. The Brier score is the sum over the "
        "classes, the calibration error that of the most probable class in 15 bins. Every model "
        "has its defaults.\n"
    )


def _page(scores: Scores, title: str, rows: dict[str, int]) -> Iterator[str]:
    """Give the means and mean ranks over the data sets, then the log-loss of each."""
    models = list(next(iter(scores.values())))
    grid = np.array([[scores[name][model] for model in models] for name in scores])
    signs = np.array([1.0 if figure in LOWER else -1.0 for figure in FIGURES])
    ranks = np.argsort(np.argsort(grid * signs, axis=1), axis=1).mean(axis=0) + 1
    means = grid.mean(axis=0)
    shown = Table(title=f"{title}: mean (mean rank) over {len(scores)} data sets")
    for heading in ("model", *FIGURES):
        shown.add_column(heading, justify="left" if heading == "model" else "right")
    yield f"Mean (mean rank) over {len(scores)} data sets.\n"
    yield "| model | " + " | ".join(FIGURES) + " |"
    yield "|---|" + "---:|" * len(FIGURES)
    for i, model in enumerate(models):
        cells = [f"{m:.3f} ({r:.1f})" for m, r in zip(means[i], ranks[i], strict=True)]
        shown.add_row(model, *cells)
        yield f"| {model} | " + " | ".join(cells) + " |"
    Console(width=150).print(shown)
    large = [name for name in scores if rows[name] > LARGE]
    if large:
        times = {m: np.mean([scores[name][m][-1] for name in large]) for m in models}
        seconds = ", ".join(f"{model} {times[model]:.2f}" for model in models)
        yield f"\nMean seconds of a fit where there are more than {LARGE:,} rows: {seconds}."
    for figure in ("log-loss", "accuracy"):
        place = FIGURES.index(figure)
        yield f"\n### {figure.capitalize()} of each\n"
        yield "| data | " + " | ".join(models) + " |"
        yield "|---|" + "---:|" * len(models)
        for name in scores:
            cells = [f"{scores[name][model][place]:.3f}" for model in models]
            yield f"| {name} | " + " | ".join(cells) + " |"
    yield ""


if __name__ == "__main__":
    raise SystemExit(main())
