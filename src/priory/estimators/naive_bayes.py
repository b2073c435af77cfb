"""The scikit-learn face of the classifier."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, column_or_1d

from priory.base.errors import (
    InputError,
    PrioryError,
    PrioryWarning,
    SettingError,
    did_you_mean,
    warn,
)
from priory.base.labels import label_array
from priory.base.locking import alone
from priory.base.typing import AnyArray, FloatArray, Label
from priory.classifier.answers import Answers
from priory.classifier.classifier import Classifier
from priory.classifier.plain import to_plain
from priory.data.columns import Labels
from priory.data.rawtables import RawTable
from priory.data.reading import only_column, open_table, read_labels
from priory.data.schema import Schema
from priory.deciding.rules import OPTIONS
from priory.model.information import column_importances
from priory.model.model import Model
from priory.model.samples import column_types, like_table
from priory.statistics.statistics import Statistics
from priory.text.analyzer import as_analyzer
from priory.tuning.leave_one_out import HeldOutScores
from priory.tuning.settings import TEXTBOOK, Settings

__all__ = ["NaiveBayes"]


class NaiveBayes(Answers, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classify any table by naive Bayes: mixed columns, missing and unseen values as they come.

        P(k | x) ∝ P(k) Π_j P(x_j | k)

    Parameters
    ----------
    families : "auto", "plain", a family, or a mapping of columns to families
        How each column is modelled given the class. "plain" goes by its kind: gaussian for
        numbers, categorical for labels, bernoulli for booleans, multinomial for counts. A tuple
        of columns as a key makes them one block.
    smoothing : "auto", a number, a prior, or a mapping of columns to them
        A number is Laplace's α; 0 is allowed and means no smoothing at all.
    weights : "auto", "columns", "temperature" or None
        How far factors are trusted: one weight for each column, one for all, or each as it is.
        "auto" is a weight for each, and corrections of columns where they help.
    class_prior : None, "uniform", "words", or a probability for each class
        None takes each class's share of the rows.
    missing : "auto", "skip", "category" or "error", for all columns or by column
        Whether a missing value is ignored, is a category of its own, or is an error. "auto" makes
        it a category where that helps.
    unseen : "skip", "smooth" or "error", for all columns or by column
        Whether a value never learned is ignored, counts as one more value, or is an error.
    n_threads : None or a number
        How many threads count and score; None takes PRIORY_NUM_THREADS, or the cores at hand.
    text : None, names of columns, or a mapping of columns to an `Analyzer`
        Columns whose words are counted. Strings of six words and more that hardly repeat, and of
        three whose words do, are found to be text without being named.
    sample_size : a number
        How many rows at most whatever is "auto" is chosen on.
    select : None or "mdl"
        "mdl" leaves out columns that save fewer bits than their parameters cost; `schema_` says
        which.
    structure : "naive", "tan", "aode", "joint", "hill-climb", or (parent, child) pairs
        Which columns depend on each other given the class: none; each on one other, in a tree; each
        in turn on every other, averaged; all on all; each on some others, found by hill climbing;
        or those that edges between columns say. Numbers are put into bins for it.
    pairs : "auto" or None
        "auto" lets pairs of columns correct the factors of the two where they depend on each other
        given the class, or say more together than alone; `schema_` says which. It goes with weights
        "auto". None is strictly naive: one term for each column.
    max_parents : a number
        How many others "hill-climb" lets a column depend on at most.

    Examples
    --------
    >>> days = {"outlook": ["Sunny", "Sunny", "Rain", "Overcast"],
    ...         "windy": [True, False, False, True]}
    >>> model = NaiveBayes.textbook().fit(days, ["No", "No", "Yes", "Yes"])
    >>> model.predict({"outlook": ["Sunny"], "windy": [None]}).tolist()
    ['No']
    >>> print(model.schema_)
    column   kind    family       why
    outlook  labels  categorical  strings
    windy    labels  bernoulli    boolean
    """

    def __init__(
        self,
        families: Any = "auto",
        smoothing: Any = "auto",
        weights: Any = "auto",
        class_prior: Any = None,
        missing: Any = "auto",
        unseen: Any = "skip",
        n_threads: int | None = None,
        text: Any = None,
        sample_size: int = 50_000,
        select: Any = None,
        structure: Any = "naive",
        pairs: str | None = "auto",
        max_parents: int = 2,
    ) -> None:
        self.families = families
        self.smoothing = smoothing
        self.weights = weights
        self.class_prior = class_prior
        self.missing = missing
        self.unseen = unseen
        self.n_threads = n_threads
        self.text = text
        self.sample_size = sample_size
        self.select = select
        self.structure = structure
        self.pairs = pairs
        self.max_parents = max_parents

    @classmethod
    def textbook(cls, smoothing: Any = 1.0, families: Any = "plain", **changes: Any) -> Self:
        """Make the lecture's classifier: what is asked for and nothing else, at any size.

            P(k | x) ∝ P(k) Π_j (n_jk + α) / (n_k + αV)

        Families go by kind, and nothing is chosen by the data; `changes` are other parameters.

        >>> model = NaiveBayes.textbook(smoothing=0, class_prior="uniform")
        >>> model.fit({"x": ["a", "a", "b"]}, [0, 0, 1]).predict_proba({"x": ["a"]}).tolist()
        [[1.0, 0.0]]
        """
        return cls(**{"families": families, "smoothing": smoothing, **TEXTBOOK, **changes})

    @classmethod
    def from_classifier(cls, classifier: Classifier) -> Self:
        """Make a fitted estimator with the settings and everything learned of a classifier.

        >>> NaiveBayes.from_classifier(Classifier().update({"x": ["a", "b"]}, [0, 1])).classes_
        array([0, 1])
        """
        settings = classifier.settings
        result = cls(**{**settings.options(), "text": settings.text or None})
        result.adopt(classifier, None, "arrow" if classifier.statistics.schema.named else "array")
        return result

    @classmethod
    def load(cls, path: str | os.PathLike[str], max_memory: int | None = None) -> Self:
        """Load the model of a file as this estimator; see `priory.load`.

        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "x.priory"
        >>> Classifier().update({"x": ["a", "b"]}, [0, 1]).save(path)
        >>> NaiveBayes.load(path).predict({"x": ["b"]}).tolist()
        [1]
        """
        from priory.estimators.loading import load

        found = load(path, max_memory)
        if type(found) is cls:
            return found
        if isinstance(found, NaiveBayes):
            found = found._fitted()
        return cls.from_classifier(found)

    @property
    def settings(self) -> Settings:
        """The parameters as settings of a classifier, checked."""
        own = vars(self)
        return Settings(**{f.name: own[f.name] for f in fields(Settings) if f.name in own})

    # Learning

    @alone
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        unlabelled: Any = None,
        unlabelled_weight: Any = "auto",
    ) -> Self:
        """Learn a table with its classes, forgetting whatever was learned before.

        Rows without a class, `unlabelled`, are learned by expectation–maximisation, each with a
        soft class. What such a row weighs is chosen on the labelled ones, 0 among it.
        """
        classifier = Classifier(self.settings)
        raw = open_table(self._rows(X))  # once: a stream may be read one time
        _warn_order(X, y)
        more = None if unlabelled is None else self._rows(unlabelled)
        classifier.fit(raw, self._targets(y), sample_weight, more, unlabelled_weight)
        self._take(classifier, X, raw, y)
        return self

    @alone
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn more rows; new classes, categories and values may come at any time.

        `classes` may name classes that have no rows yet.
        """
        classifier = getattr(self, "classifier_", None)
        if classifier is None:
            classifier = Classifier(self.settings)
        raw = open_table(self._rows(X))
        _warn_order(X, y)
        declared = None if classes is None else read_labels(classes, "classes")
        classifier.update(raw, self._targets(y), sample_weight)
        if declared is not None:
            classifier.declare(declared)
        if hasattr(self, "classifier_"):  # what the first rows were in, sample() gives back
            self._y_dtype = getattr(y, "dtype", None)
        else:
            self._take(classifier, X, raw, y)
        return self

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take away rows that were learned, as if they had never been seen."""
        self._fitted().forget(self._rows(X), self._targets(y), sample_weight)
        return self

    def merge(self, other: NaiveBayes) -> Self:
        """Add everything that another model has learned to this one."""
        self._fitted().merge(_classifier_of(other))
        return self

    def __add__(self, other: NaiveBayes) -> NaiveBayes:
        """Make a new model that has learned what both have."""
        classifier = self._fitted() + _classifier_of(other)
        result = type(self)(**self.get_params(deep=False))
        result.__dict__.update(self.__dict__)
        result.classifier_ = classifier
        return result

    def decay(self, half_life: float, elapsed: float = 1.0) -> Self:
        """Let everything learned so far count for less: half as much after each half-life."""
        self._fitted().decay(half_life, elapsed)
        return self

    def change_settings(self, **changes: Any) -> Self:
        """Change parameters by name, and estimate the model anew; no data needed.

        >>> model = NaiveBayes.textbook().fit({"x": ["a", "a", "b"]}, [0, 0, 1])
        >>> model.change_settings(smoothing=0).predict_proba({"x": ["a"]}).tolist()
        [[1.0, 0.0]]
        """
        classifier, before = self._fitted(), self.get_params(deep=False)
        try:
            classifier.change_settings(self.set_params(**changes).settings)
        except PrioryError:
            self.set_params(**before)
            raise
        return self

    def recalibrate(self, X: Any = None, y: Any = None, sample_weight: Any = None) -> Self:
        """Choose families, smoothing and weights anew, on the sample or on rows that were learned.

        Forgetting, merging and learning many more rows do this by themselves.
        """
        if X is not None:
            X, y = self._rows(X), self._targets(y)
        self._fitted().recalibrate(X, y, sample_weight)
        return self

    def with_prior(self, prior: Any) -> Self:
        """Make the same model under another class prior; nothing is learned anew.

        >>> model = NaiveBayes.textbook().fit({"x": ["a", "a", "b"]}, [0, 0, 1])
        >>> model.with_prior([0.5, 0.5]).predict_proba({"x": [None]}).tolist()
        [[0.5, 0.5]]
        """
        result = type(self)(**{**self.get_params(deep=False), "class_prior": prior})
        result.__dict__.update({**self.__dict__, "class_prior": prior})
        result.classifier_ = self._fitted().with_prior(prior)
        return result

    # Answers, beside those that every classifier gives

    def decide(self, **options: Any) -> Any:
        """Decide by costs, thresholds or another class prior; a `Decider`, see `Classifier.decide`.

        A model that is not fitted yet is fitted with the `Decider`.

        >>> model = NaiveBayes().fit({"x": ["a", "a", "b", "b"]}, [0, 1, 1, 1])
        >>> model.decide(unsure=0.99).predict({"x": ["a"]}).tolist()
        [-1]
        """
        from priory.estimators.decider import Decider  # which is made of this

        unknown = [name for name in options if name not in OPTIONS]
        if unknown:
            raise SettingError(
                f"decide takes no option {unknown[0]!r}. Options: {', '.join(OPTIONS)}."
                f"{did_you_mean(unknown[0], OPTIONS)}"
            )
        if not hasattr(self, "classifier_"):
            return Decider(self, **options)
        return Decider.of_fitted(self, options)

    def sample(self, n: int, y: Any = None, random_state: Any = None) -> tuple[Any, AnyArray]:
        """Draw n new rows from P(x | k) P(k): a table like the one learned, and classes.

        pandas, polars, Arrow and NumPy come back as they are, each column in the type that was
        learned; other tables come as Arrow.
        """
        columns, labels = super().sample(n, y, random_state)
        return like_table(columns, self._container, self._column_types, self.statistics_), labels

    def held_out(
        self, X: Any, y: Any, sample_weight: Any = None, folds: Any = None
    ) -> HeldOutScores:
        """Score rows that were learned by models without the row, or without its fold."""
        return self._fitted().held_out(self._rows(X), self._targets(y), sample_weight, folds)

    def save(self, path: Any, min_count: int = 0, keep_sample: bool = False) -> None:
        """Write the model to a file; `priory.load` gives this estimator again.

        Parameters come back as they were set, but for `n_threads`, which is of a machine, and
        arrays, which come back as tuples. A class derived from this one comes back as its
        classifier. See `Classifier.save`.
        """
        _ = self._fitted().state  # tuned once, not in every copy
        saved = self._fitted().copy()
        saved.provenance = replace(saved.provenance, estimator=self._to_plain())
        saved.save(path, min_count, keep_sample)

    # What was learned

    @property
    def classes_(self) -> AnyArray:
        """The classes, in their order."""
        return self._as_array(self._fitted().classes)

    @property
    def statistics_(self) -> Statistics:
        """The sums of everything learned."""
        return self._fitted().statistics

    @property
    def model_(self) -> Model:
        """The model that the statistics give."""
        return self._fitted().model

    @property
    def feature_importances_(self) -> FloatArray:
        """The importance of each column, normalised to sum to 1.

            importance ∝ weight · (share of the rows that have a value) · I(X; Y)

        weight is that of the column's factor, and I(X; Y) its mutual information with the target,
        in bits, less what chance adds (`column_importances`). Columns that are left out have 0. So
        `SelectFromModel` and `RFE` of scikit-learn can choose columns.

        >>> days = {"outlook": ["Sunny", "Sunny", "Rain", "Rain"], "windy": [1, 0, 1, 0]}
        >>> model = NaiveBayes.textbook().fit(days, ["No", "No", "Yes", "Yes"])
        >>> model.feature_importances_
        array([1., 0.])
        """
        told = column_importances(self.model_, self.statistics_)
        return np.array([told[str(name)] for name in getattr(self, "feature_names_in_", told)])

    @property
    def schema_(self) -> Schema:
        """What each column is, its family, and why."""
        return self._fitted().schema

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.sparse = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "classifier_")

    def _fitted(self) -> Classifier:
        check_is_fitted(self)
        classifier: Classifier = self.classifier_
        return classifier

    def _targets(self, y: Any) -> Labels:
        return _read_classes(y, type(self).__name__)

    def _take(self, classifier: Classifier, X: Any, raw: RawTable, y: Any) -> None:
        """Become fitted: keep the classifier and what scikit-learn wants to know."""
        self._become(classifier, list(raw.names), raw.named)
        self._y_dtype = getattr(y, "dtype", None)
        self._container, self._column_types = _container(X, raw), column_types(X)

    def _become(self, classifier: Classifier, columns: list[str], named: bool) -> None:
        self.classifier_ = classifier
        self.n_features_in_ = len(columns)
        if named:
            self.feature_names_in_ = np.array(columns, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def adopt(self, classifier: Classifier, y: str | None, table: str) -> None:
        """Become fitted with what a classifier has learned, from classes of a type, in a table."""
        schema = classifier.statistics.schema
        dtype = None if y is None else np.dtype(y)
        if table not in ("pandas", "polars", "arrow", "array") or (
            dtype is not None and dtype.kind not in "iuf"
        ):
            raise ValueError(f"{table!r:.40} of {y!r:.40} is no data that was learned")
        self._become(classifier, list(schema.columns), schema.named)
        self._y_dtype, self._container, self._column_types = dtype, table, None

    def _to_plain(self) -> dict[str, Any] | None:
        """Write what the constructor and `adopt` need as plain JSON values."""
        if not type(self).__module__.startswith("priory."):
            return None
        params = self.get_params(deep=False)
        del params["n_threads"]
        # A function is kept by its name, in the analyzer that is made of it.
        if callable(params.get("analyzer")):
            params["analyzer"] = as_analyzer(params["analyzer"])
        if isinstance(text := params.get("text"), Mapping):
            params["text"] = {
                name: as_analyzer(how) if callable(how) else how for name, how in text.items()
            }
        y: Any = self._y_dtype
        numeric = isinstance(y, np.dtype) and y.kind in "iuf"
        return {
            "name": type(self).__name__,
            "params": {name: to_plain(value) for name, value in params.items()},
            "y": y.str if numeric else None,
            "table": self._container,
        }

    def _as_array(self, classes: Sequence[Label]) -> AnyArray:
        return _like_y(label_array(classes), self._y_dtype)


def _container(X: Any, raw: RawTable) -> str:
    if hasattr(X, "iloc"):
        return "pandas"
    if type(X).__module__.partition(".")[0] == "polars":
        return "polars"
    return "arrow" if raw.named else "array"


def _read_classes(y: Any, estimator: str) -> Labels:
    """Read the classes of the rows, refusing a target of regression."""
    if y is None:
        raise InputError(f"{estimator} requires y to be passed, but the target y is None.")
    if len(getattr(y, "shape", ())) == 2:
        if y.shape[1] != 1:
            raise InputError(f"y should be a 1d array, got an array of shape {y.shape} instead.")
        column_or_1d(np.empty(y.shape), warn=True)  # for scikit-learn's warning
        y = only_column(y)
    labels = read_labels(y)
    broken = [v for v in labels.labels if isinstance(v, float)]
    if broken:
        raise InputError(
            f"Unknown label type: continuous. y holds {broken[0]!r}, which looks like a number "
            "to be predicted; classes are names or integers."
        )
    return labels


def _warn_order(X: Any, y: Any) -> None:
    """Warn where the rows of X and y have the same names in another order: no one looks at them."""
    a: Any = getattr(X, "index", None)
    b: Any = getattr(y, "index", None)
    if not (hasattr(a, "equals") and hasattr(b, "equals")) or len(a) != len(b) or a.equals(b):
        return
    try:
        if a.sort_values().equals(b.sort_values()):
            warn(
                "The index of y is that of X in another order. Rows are matched by position; if "
                "they should be by index, give y.loc[X.index].",
                PrioryWarning,
            )
    except TypeError:  # names that have no order
        return


def _like_y(labels: AnyArray, dtype: Any) -> AnyArray:
    """Cast classes to the number type that y had."""
    numeric = isinstance(dtype, np.dtype) and dtype.kind in "iuf" and labels.dtype.kind in "if"
    cast = labels.astype(dtype) if numeric else labels
    return cast if np.array_equal(cast, labels) else labels  # other rows had larger numbers


def _classifier_of(model: object) -> Classifier:
    if not isinstance(model, NaiveBayes):
        raise SettingError(f"NaiveBayes merges with another NaiveBayes, not with {model!r:.60}.")
    return model._fitted()
