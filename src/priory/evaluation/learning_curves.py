"""Learning curves: error and log-loss over the number of training rows.

A generative model such as naive Bayes approaches its asymptotic error with few rows, in the order
of the logarithm of the number of columns. Its discriminative counterpart, logistic regression,
needs in the order of the number of columns, and is then as good or better (Ng and Jordan 2002).
The curves show where they cross.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer

from priory.base.errors import InputError, SettingError
from priory.base.formatting import aligned
from priory.base.html import html_table, html_together, shown_once
from priory.base.labels import label_key
from priory.base.typing import FloatArray, IntArray
from priory.data.columns import Labels, Numbers
from priory.data.reading import open_table, read_labels
from priory.estimators.naive_bayes import NaiveBayes
from priory.estimators.text import TextNB
from priory.evaluation import evaluate
from priory.evaluation.rendering import plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["LearningCurve", "learning_curve"]

N_SIZES = 10


@dataclass(frozen=True, eq=False, repr=False)
class LearningCurve:
    """Error and log-loss of models over training sizes, models × sizes × repeats.

    The log-loss of models without probabilities is NaN.

    >>> ones = np.ones((1, 2, 3))
    >>> curve = LearningCurve(("m",), np.array([10, 20]), 0.25 * ones, 0.5 * ones, 30)
    >>> print(curve)
    error, training rows              m
    10                    0.250 ± 0.000
    20                    0.250 ± 0.000
    <BLANKLINE>
    log-loss, training rows              m
    10                       0.500 ± 0.000
    20                       0.500 ± 0.000
    """

    names: tuple[str, ...]
    train_sizes: IntArray
    errors: FloatArray
    log_losses: FloatArray
    n_test: int

    @property
    def error(self) -> FloatArray:
        """The mean error rate, models × sizes."""
        return np.asarray(self.errors.mean(axis=2))

    @property
    def log_loss(self) -> FloatArray:
        """The mean of −log P(true label | x), models × sizes."""
        return np.asarray(self.log_losses.mean(axis=2))

    def to_dict(self) -> dict[str, Any]:
        """Convert the curves to plain JSON values."""
        kept = {
            "models": self.names,
            "train_sizes": self.train_sizes,
            "test_rows": self.n_test,
            "repeats": self.errors.shape[2],
            "error": self.error,
            "error_spread": _spread(self.errors),
            "log_loss": self.log_loss,
            "log_loss_spread": _spread(self.log_losses),
        }
        return dict(plain(kept))

    def plot(self) -> Figure:
        """Plot error and log-loss over the training size; needs matplotlib."""
        from priory.base.plotting import COLOURS, DASHES, pyplot

        plt = pyplot()
        figure, places = plt.subplots(1, 2, figsize=(8.4, 3.6), layout="constrained")
        for place, (title, values) in zip(places, self._metrics(), strict=True):
            mean, spread = values.mean(axis=2), _spread(values)
            for i, name in enumerate(self.names):
                colour = COLOURS[i % len(COLOURS)]
                style = {"linestyle": DASHES[i % len(DASHES)], "marker": "o", "markersize": 3}
                place.plot(
                    self.train_sizes, mean[i], color=colour, label=name, linewidth=1.6, **style
                )
                around = (mean[i] - spread[i], mean[i] + spread[i])
                place.fill_between(self.train_sizes, *around, color=colour, alpha=0.15, linewidth=0)
            place.set(xscale="log", xlabel="training rows", ylabel=title)
            place.spines[["top", "right"]].set_visible(False)
            place.grid(alpha=0.25)
        places[0].legend(frameon=False, fontsize=9)
        return cast("Figure", shown_once(figure))

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return "\n\n".join(aligned(rows, right=True) for rows in self._tables())

    def _repr_html_(self) -> str:
        return html_together(*(html_table(rows[0], rows[1:]) for rows in self._tables()))

    def _tables(self) -> Iterator[list[tuple[str, ...]]]:
        """Generate the rows of both tables, the header first."""
        for title, values in self._metrics():
            rows: list[tuple[str, ...]] = [(f"{title}, training rows", *self.names)]
            mean, spread = values.mean(axis=2), _spread(values)
            for j, size in enumerate(self.train_sizes.tolist()):
                cells = [_cell(mean[i, j], spread[i, j]) for i in range(len(self.names))]
                rows.append((f"{size:,}", *cells))
            yield rows

    def _metrics(self) -> Iterator[tuple[str, FloatArray]]:
        yield "error", self.errors
        yield "log-loss", self.log_losses


def learning_curve(
    models: Any,
    X: Any,
    y: Any,
    train_sizes: Sequence[int] | None = None,
    n_repeats: int = 10,
    test_size: float = 0.3,
    random_state: int | None = 0,
) -> LearningCurve:
    """Measure how models improve with the number of training rows.

    In each repeat a fraction of the rows is held out, and every model is trained on larger and
    larger parts of the rest, the same for all models. Each part has at least one row per class.

    Parameters
    ----------
    models : None, a scikit-learn classifier, several of them, or a mapping of names to them
        None compares naive Bayes with logistic regression, or softmax regression for more than
        two classes. For tables: `NaiveBayes.textbook()`, and regression on standardised numbers
        and one-hot encoded labels. For texts: `TextNB.textbook()`, and regression on word counts.
    X, y : a table or a list of texts, and the class of each row
        Anything one-dimensional, such as a list of strings or a Series, is taken as texts.
    train_sizes : integers, or None
        The numbers of training rows; by default ten sizes, evenly spaced on a logarithmic scale,
        up to all rows that are not held out.
    n_repeats : int
        The number of random splits.
    test_size : float between 0 and 1
        The fraction of each class that is held out.
    random_state : int or None
        The seed of the splits.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 300)
    >>> X = rng.normal(size=(300, 5)) + y[:, None]
    >>> curve = learning_curve(None, X, y, train_sizes=[10, 200], n_repeats=3)
    >>> curve.names, curve.error.shape
    (('naive Bayes', 'logistic regression'), (2, 2))
    >>> bool((curve.log_loss[:, 1] < curve.log_loss[:, 0]).all())
    True
    >>> texts = ["cash now", "win cash", "at noon", "noon today", "see you at noon"] * 4
    >>> folder = ["spam", "spam", "ham", "ham", "inbox"] * 4
    >>> learning_curve(None, texts, folder, train_sizes=[10], n_repeats=2).names
    ('naive Bayes', 'softmax regression')
    """
    texts, labels = _texts(X), read_labels(y)
    named = _defaults(texts is not None, labels) if models is None else _models(models)
    if texts is not None and models is None:
        X = texts
    n_rows = open_table(X).n_rows if texts is None else len(texts)
    if len(labels) != n_rows:
        raise InputError(f"X has {n_rows} rows, y has {len(labels)}.")
    _check_options(n_repeats, test_size)
    rng = np.random.default_rng(random_state)
    splits = [_split(labels, float(test_size), rng) for _ in range(int(n_repeats))]
    wanted = _sizes(train_sizes, splits[0], labels)
    shape = (len(named), len(wanted), int(n_repeats))
    errors, log_losses = np.empty(shape), np.full(shape, np.nan)
    for r, (order, test) in enumerate(splits):
        held_out, answers = take_rows(X, test), take_rows(y, test)
        for j, size in enumerate(wanted.tolist()):
            learned, classes = take_rows(X, order[:size]), take_rows(y, order[:size])
            for i, model in enumerate(named.values()):
                found = evaluate(clone(model).fit(learned, classes), held_out, answers)
                errors[i, j, r] = 1.0 - found.accuracy
                if found.has_probabilities:
                    log_losses[i, j, r] = found.log_loss
    return LearningCurve(tuple(named), wanted, errors, log_losses, len(splits[0][1]))


def take_rows(X: Any, rows: IntArray) -> Any:
    """Take rows of any table, as a table of the same kind.

    >>> take_rows({"a": [1, 2, 3]}, np.array([2, 0]))
    {'a': [3, 1]}
    """
    if isinstance(X, Mapping):
        return {name: take_rows(column, rows) for name, column in X.items()}
    if isinstance(X, list | tuple):
        return [X[i] for i in rows.tolist()]
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "tocsr"):
        return X.tocsr()[rows]
    if type(X).__module__.partition(".")[0] == "pyarrow":
        return X.take(rows)
    return X[rows]


class Encoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Encode any table as numbers for a linear model.

    Numbers are standardised to mean 0 and variance 1, missing values at the mean. Labels are
    one-hot encoded; missing and unseen values are 0 in every column.

    >>> Encoder().fit_transform({"x": [1.0, 3.0], "c": ["a", "b"]}).tolist()
    [[-1.0, 1.0, 0.0], [1.0, 0.0, 1.0]]
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the mean and scale of numbers, and the values of labels."""
        raw = open_table(X)
        self.columns_ = [self._learned(raw.column(name).column) for name in raw.names]
        return self

    def _learned(self, column: Any) -> Any:
        if not isinstance(column, Numbers):
            labels = column.as_labels()
            return [labels.labels[code] for code in np.unique(labels.codes) if code >= 0]
        x = column.values[:, 0].astype(np.float64)
        x = x[~np.isnan(x)]
        scale = float(x.std()) if len(x) else 0.0
        return (float(x.mean()) if len(x) else 0.0, scale or 1.0)

    def transform(self, X: Any) -> FloatArray:
        """Encode the table."""
        raw = open_table(X)
        parts = []
        for name, learned in zip(raw.names, self.columns_, strict=True):
            column: Any = raw.column(name).column
            if isinstance(learned, tuple):
                parts.append(_scaled(column, *learned))
            else:
                parts.append(_one_hot(column.as_labels(), learned))
        return np.concatenate(parts, axis=1)


def _scaled(column: Any, mean: float, scale: float) -> FloatArray:
    if not isinstance(column, Numbers):  # all values are missing
        return np.zeros((len(column), 1))
    return np.nan_to_num((column.values.astype(np.float64) - mean) / scale, nan=0.0)


def _one_hot(labels: Labels, values: Sequence[Any]) -> FloatArray:
    places = {label_key(value): i for i, value in enumerate(values)}
    place = np.array([places.get(label_key(v), -1) for v in labels.labels] + [-1], dtype=np.intp)
    return (place[labels.codes][:, None] == np.arange(len(values))).astype(np.float64)


def _texts(X: Any) -> list[Any] | None:
    """Convert texts, which have one dimension, to a list; None if X is a table."""
    if isinstance(X, str | bytes):
        raise InputError(
            f"X must be a table or a list of texts, not one text: {X!r:.50}. A curve needs many."
        )
    if isinstance(X, list | tuple):
        flat = all(isinstance(row, str | bytes | None) for row in X) and any(X)
        return list(X) if flat else None
    if isinstance(X, Mapping) or len(getattr(X, "shape", ())) > 1:
        return None
    methods = ["tolist", "to_list"]  # of NumPy and pandas, and of polars
    if not hasattr(X, "column_names"):  # an Arrow array, not a table
        methods.append("to_pylist")
    method = next((name for name in methods if hasattr(X, name)), None)
    found = [] if method is None else getattr(X, method)()
    return found if any(isinstance(value, str | bytes) for value in found) else None


def _defaults(texts: bool, y: Labels) -> dict[str, Any]:
    """Make naive Bayes and its discriminative counterpart, by name."""
    regression = LogisticRegression(max_iter=1000)
    name = "softmax regression" if len(np.unique(y.codes)) > 2 else "logistic regression"
    if not texts:
        counterpart = make_pipeline(Encoder(), regression)
        return {"naive Bayes": NaiveBayes.textbook(), name: counterpart}
    words = make_pipeline(FunctionTransformer(_without_missing), CountVectorizer(), regression)
    return {"naive Bayes": TextNB.textbook(), name: words}


def _without_missing(texts: list[Any]) -> list[Any]:
    """Replace missing texts, which CountVectorizer refuses, by empty ones."""
    return [text if isinstance(text, str | bytes) else "" for text in texts]


def _models(given: Any) -> dict[str, Any]:
    if isinstance(given, Mapping):
        named = {str(name): model for name, model in given.items()}
    else:
        several = list(given) if isinstance(given, list | tuple) else [given]
        named = {}
        for model in several:
            name = type(model[-1] if isinstance(model, Pipeline) else model).__name__
            same = sum(other.partition(" #")[0] == name for other in named)
            named[name if not same else f"{name} #{same + 1}"] = model
    if not named:
        raise SettingError("models must hold at least one model; None compares two by default.")
    for name, model in named.items():
        if not all(hasattr(model, method) for method in ("fit", "predict", "get_params")):
            raise SettingError(
                f"Model {name!r} must be a scikit-learn classifier, with fit and predict, not "
                f"{model!r:.60}."
            )
    return named


def _check_options(n_repeats: Any, test_size: Any) -> None:
    if isinstance(n_repeats, bool) or not isinstance(n_repeats, int | np.integer) or n_repeats < 1:
        raise SettingError(f"n_repeats must be an integer of at least 1, not {n_repeats!r}.")
    if not isinstance(test_size, int | float) or not 0 < test_size < 1:
        raise SettingError(f"test_size must be between 0 and 1, not {test_size!r}.")


def _split(y: Labels, share: float, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Choose the training rows, one of each class first, and the held-out rows."""
    first, rest, test = [], [], []
    for code in np.unique(y.codes):
        rows = rng.permutation(np.flatnonzero(y.codes == code))
        held_out = min(round(share * len(rows)), len(rows) - 1)
        test.append(rows[:held_out])
        first.append(rows[held_out : held_out + 1])
        rest.append(rows[held_out + 1 :])
    order = [rng.permutation(np.concatenate(part)) for part in (first, rest)]
    held = np.concatenate(test)
    if not len(held):
        raise InputError(f"There are {len(y)} rows, too few to hold out {share:g} of each class.")
    return np.concatenate(order), held


def _sizes(given: Any, split: tuple[IntArray, IntArray], y: Labels) -> IntArray:
    most, least = len(split[0]), max(2, len(np.unique(y.codes)))
    if given is None:
        first = min(max(10, least), most)
        return np.unique(np.geomspace(first, most, N_SIZES).round().astype(np.int64))
    train_sizes = np.unique(np.asarray(given))
    if not len(train_sizes) or train_sizes.dtype.kind not in "iu":
        raise SettingError(f"train_sizes must be integers, not {given!r:.60}.")
    for size in train_sizes.tolist():
        if not least <= size <= most:
            raise SettingError(
                f"train_sizes has {size}, but must lie between {least}, so that there is a row of "
                f"each class, and {most}, the rows that are not held out."
            )
    return train_sizes.astype(np.int64)


def _spread(values: FloatArray) -> FloatArray:
    """Compute the standard error of the mean over the repeats."""
    n = values.shape[2]
    if n == 1:
        return np.zeros(values.shape[:2])
    return np.asarray(values.std(axis=2, ddof=1) / np.sqrt(n))


def _cell(mean: float, spread: float) -> str:
    return "–" if np.isnan(mean) else f"{mean:.3f} ± {spread:.3f}"
