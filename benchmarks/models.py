"""The models that are judged: priory's, and its peers', each with its defaults as a user has them.

`tables()` and `texts()` give them by name, those whose library is installed; `absent()` says which
are not there.
"""

from __future__ import annotations

import importlib.util
import os
import re
import tempfile
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
)
from sklearn.svm import LinearSVC

import priory

__all__ = [
    "DEFAULT",
    "NAIVE",
    "ONE_WORD",
    "PEERS",
    "SVM",
    "TUNED",
    "Make",
    "absent",
    "lightgbm",
    "tables",
    "texts",
    "threads",
]

Make = Callable[[], Any]

DEFAULT, NAIVE = "priory", "priory, pairs=None"
"""The models that stand for priory where few are shown."""

ONE_WORD, SVM = "priory, single words", "linear SVM, tuned"
TUNED = "logistic regression, tuned"
"""Models of texts that see the same words."""

OURS: Mapping[str, Make] = {
    DEFAULT: lambda: priory.NaiveBayes(),
    NAIVE: lambda: priory.NaiveBayes(pairs=None),
    "priory textbook": lambda: priory.NaiveBayes.textbook(),
}

PEERS: Mapping[str, tuple[str, Make]] = {
    "GaussianNB, one-hot": ("sklearn", lambda: make_pipeline(_one_hot(False), GaussianNB())),
    "CategoricalNB, 5 quantiles": ("sklearn", lambda: make_pipeline(_quantiles(), CategoricalNB())),
    "logistic regression": (
        "sklearn", lambda: make_pipeline(_one_hot(True), LogisticRegression(max_iter=1000)),
    ),
    "random forest": (
        "sklearn",
        lambda: make_pipeline(
            _one_hot(False), RandomForestClassifier(random_state=0, n_jobs=threads())
        ),
    ),
    "histogram gradient boosting": (
        "sklearn", lambda: make_pipeline(_ordinal(), HistGradientBoostingClassifier(random_state=0))
    ),
    "LightGBM": ("lightgbm", lambda: make_pipeline(FunctionTransformer(_categories), lightgbm())),
    "EBM, interactions=0": ("interpret", lambda: _ebm(interactions=0)),
    "EBM": ("interpret", lambda: _ebm()),
    "CatBoost": ("catboost", lambda: CatBoost()),
}  # fmt: skip
"""The library of each model of tables, and how the model is made."""

TEXT_PEERS: Mapping[str, tuple[str, Make]] = {"fastText, tuned": ("fasttext", lambda: FastText())}
"""The same of texts, those that are not scikit-learn's."""


def tables() -> dict[str, Make]:
    """Return the models of tables, as far as they are installed."""
    return {**OURS, **_installed(PEERS)}


def texts() -> dict[str, Make]:
    """Return the models of texts; those with C or alpha choose it, and min_df, by three folds."""
    return {
        DEFAULT: lambda: priory.TextNB(),
        ONE_WORD: lambda: priory.TextNB(analyzer="sklearn"),
        "priory textbook": lambda: priory.TextNB.textbook(),
        SVM: lambda: _tuned(LinearSVC(), {"C": [0.1, 1.0, 10.0]}),
        TUNED: lambda: _tuned(LogisticRegression(max_iter=300), {"C": [1.0, 10.0, 100.0, 1000.0]}),
        "SGD, tuned": lambda: _tuned(
            SGDClassifier(loss="log_loss", random_state=0), {"alpha": [1e-5, 1e-4, 1e-3]}
        ),
        **_installed(TEXT_PEERS),
        "MultinomialNB": lambda: make_pipeline(CountVectorizer(), MultinomialNB()),
        "BernoulliNB": lambda: make_pipeline(CountVectorizer(), BernoulliNB()),
        "ComplementNB": lambda: make_pipeline(CountVectorizer(), ComplementNB()),
        "logistic regression, tf-idf": lambda: make_pipeline(
            TfidfVectorizer(sublinear_tf=True), LogisticRegression(max_iter=1000)
        ),
    }


def _tuned(model: Any, options: Mapping[str, list[float]]) -> Any:
    """Return tf-idf of single words and a linear model, its strength and min_df chosen."""
    pipe = make_pipeline(TfidfVectorizer(sublinear_tf=True), model)
    name = type(model).__name__.lower()
    grid = {f"{name}__{option}": values for option, values in options.items()}
    grid["tfidfvectorizer__min_df"] = [1, 2]
    scoring = "neg_log_loss" if hasattr(model, "predict_log_proba") else "accuracy"
    return Labelled(GridSearchCV(pipe, grid, cv=3, scoring=scoring))


class Labelled:
    """A model that may give no probabilities: then its label has almost all of it."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: Any, y: np.ndarray) -> Labelled:
        """Learn texts."""
        self.model.fit(X, y)
        self.classes_ = self.model.classes_
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of the classes; log-losses of labels mean nothing."""
        if hasattr(self.model, "predict_proba"):
            return np.asarray(self.model.predict_proba(X))
        hits = self.model.predict(X)[:, None] == self.classes_
        return np.where(hits, 1.0 - 1e-6, 1e-6 / max(len(self.classes_) - 1, 1))


def absent() -> dict[str, str]:
    """Return the peers that are not installed, and the library of each."""
    libraries = {name: library for name, (library, _) in {**PEERS, **TEXT_PEERS}.items()}
    return {name: found for name, found in libraries.items() if not importlib.util.find_spec(found)}


def _installed(peers: Mapping[str, tuple[str, Make]]) -> dict[str, Make]:
    return {name: make for name, (_, make) in peers.items() if name not in absent()}


def threads() -> int:
    """Return how many threads a model may use: OMP_NUM_THREADS, or the cores."""
    given = os.environ.get("OMP_NUM_THREADS", "")
    return int(given) if given.isdecimal() else len(os.sched_getaffinity(0))


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


def _labels(X: Any) -> list[str]:
    return list(X.select_dtypes(exclude="number"))


def _categories(X: Any) -> Any:
    """Give the labels pandas' category, which LightGBM reads, and names that it accepts."""
    X = X.astype(dict.fromkeys(_labels(X), "category"))
    return X.set_axis([f"column{i}" for i in range(X.shape[1])], axis=1)


def lightgbm() -> Any:
    """Return LightGBM's classifier with its defaults, silent."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=threads(), verbose=-1)


def _ebm(**options: Any) -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(n_jobs=threads(), **options)


class CatBoost:
    """CatBoost with its defaults, told which columns are labels; a gap in one is a label too."""

    def fit(self, X: Any, y: np.ndarray) -> CatBoost:
        """Learn a frame."""
        from catboost import CatBoostClassifier

        self.labels = _labels(X)
        self.model = CatBoostClassifier(
            cat_features=self.labels,
            thread_count=threads(),
            random_seed=0,
            verbose=False,
            allow_writing_files=False,
        ).fit(self._filled(X), y)
        self.classes_ = self.model.classes_
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of the classes."""
        return np.asarray(self.model.predict_proba(self._filled(X)))

    def _filled(self, X: Any) -> Any:
        filled = {
            name: X[name].astype(object).fillna("missing").astype(str) for name in self.labels
        }
        return X.assign(**filled)


class FastText:
    """fastText, its epochs and n-grams of words or characters chosen on a fifth of the texts."""

    def fit(self, X: Any, y: np.ndarray) -> FastText:
        """Learn texts."""
        self.classes_ = np.unique(y)
        codes = np.searchsorted(self.classes_, y)
        held = np.random.default_rng(0).random(len(y)) < 0.2
        grams = ({"wordNgrams": 1}, {"wordNgrams": 2}, {"minn": 2, "maxn": 5})
        options = [{"epoch": epochs, **more} for epochs in (5, 25, 100) for more in grams]
        known, new = ([X[i] for i in np.flatnonzero(some)] for some in (~held, held))
        losses = []
        for option in options:
            try:
                self.model = _fasttext(known, codes[~held], option)
            except RuntimeError:  # its steps were too long: it met NaN
                losses.append(np.inf)
                continue
            P = self.predict_proba(new)
            losses.append(-np.log(P[np.arange(held.sum()), codes[held]]).mean())
        self.model = _fasttext(X, codes, options[int(np.argmin(losses))])
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of the classes."""
        P = np.full((len(X), len(self.classes_)), 1e-9)
        for row, text in enumerate(X):
            for p, label in self.model.f.predict(_line(text), len(self.classes_), 0.0, "strict"):
                P[row, int(label.removeprefix("__label__"))] = max(p, 1e-9)
        return P / P.sum(axis=1, keepdims=True)


def _fasttext(X: Any, codes: np.ndarray, options: Mapping[str, int]) -> Any:
    """Return a model of texts in lower case, learned by one thread so that it can be repeated."""
    import fasttext

    given: dict[str, Any] = {"lr": 0.2, "bucket": 200_000, "thread": 1, "verbose": 0, **options}
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
        file.writelines(f"__label__{k} {_line(x)}" for k, x in zip(codes, X, strict=True))
        file.flush()
        return fasttext.train_supervised(file.name, **given)


def _line(text: str) -> str:
    """Return the words of a text, with marks apart, in one line as fastText's manual has them."""
    return " ".join(re.findall(r"\w+|[^\w\s]", text.lower())) + "\n"
