"""What all the drop-ins share: validate as scikit-learn does, count, estimate."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import check_is_fitted, validate_data

from priory.base.errors import InputError, SettingError, listing
from priory.base.labels import label_key
from priory.base.locking import alone, lock_of
from priory.base.parallel import check_threads, in_own_threads
from priory.base.typing import AnyArray, FloatArray, Label
from priory.data.columns import Frame, Labels
from priory.data.finite import all_finite
from priory.data.reading import read_labels, read_weights
from priory.data.schema import NumberedColumns, Schema
from priory.model.class_prior import ClassPrior
from priory.model.model import Model
from priory.model.term import Choice
from priory.statistics.statistics import Statistics
from priory.tuning.leave_one_out import HeldOutScores

__all__ = ["DropIn", "Generative", "as_floats", "is_plain_target"]


class DropIn(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the drop-ins."""

    missing: str
    new_classes: str
    n_threads: int | None

    _statistics: Statistics
    _estimated: Model | None
    _shared: bool
    _reads_sparse: ClassVar[bool] = False
    _plain_dtypes: ClassVar[tuple[Any, ...]] = (np.float64, np.float32)

    # What each class must say

    @abstractmethod
    def _frame(self, X: Any, schema: Schema) -> Frame:
        """Turn validated data into the columns that are counted."""

    @abstractmethod
    def _schema(self, columns: Sequence[str]) -> Schema: ...

    @abstractmethod
    def _choices(self, statistics: Statistics) -> Mapping[str, Choice]: ...

    @abstractmethod
    def _class_prior(self) -> ClassPrior: ...

    def _keep(self, parameters: Mapping[str, Any]) -> None:
        """Keep the arguments of the constructor as they are, as scikit-learn wants."""
        self.__dict__.update({name: v for name, v in parameters.items() if name != "self"})

    # Learning

    @alone
    @in_own_threads
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn data with their classes, forgetting whatever was learned before."""
        self._check_parameters()
        with self._all_or_nothing():
            X, labels, dtype = self._validated(X, y, reset=True)
            statistics = self._count(X, labels, sample_weight, self._schema(self._columns()))
            self._become(statistics.with_classes(labels.labels), dtype)
        return self

    @alone
    @in_own_threads
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn more rows; all classes are named at the first call, unless new ones are added."""
        self._check_parameters()
        if hasattr(self, "_statistics"):
            if classes is not None:
                self._check_same_classes(classes)
            X, labels, dtype = self._validated(X, y, reset=False)
            self._check_known(labels, self._statistics)
            dtype = _common(self._y_dtype, dtype) if self.new_classes == "add" else self._y_dtype
            self._learn_on(X, labels, sample_weight, dtype)
            return self
        with self._all_or_nothing():
            X, labels, dtype = self._validated(X, y, reset=True)
            known = Statistics.zero(self._schema(self._columns()), self._first_classes(classes))
            self._check_known(labels, known)
            if classes is not None:
                named = unique_labels(classes).dtype
                dtype = _common(named, dtype) if self.new_classes == "add" else named
            new = self._count(X, labels, sample_weight, known.schema)
            self._become((known + new).with_classes(labels.labels), dtype)
        return self

    def _learn_on(self, X: Any, labels: Labels, sample_weight: Any, dtype: Any) -> None:
        """Learn rows that are known to fit what was learned before."""
        new = self._count(X, labels, sample_weight, self._statistics.schema)
        self._become((self._statistics + new).with_classes(labels.labels), dtype)

    @alone
    @in_own_threads
    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take away rows that were learned, as if they had never been seen."""
        self._check_fitted()
        X, labels, _ = self._validated(X, y, reset=False)
        classes = self._statistics.classes
        left = self._statistics - self._count(X, labels, sample_weight, self._statistics.schema)
        self._become(left.with_classes(classes), self._y_dtype)
        return self

    def merge(self, other: Self) -> Self:
        """Add everything that another estimator of the same kind has learned to this one."""
        self._check_fitted()
        check_is_fitted(other)
        theirs = other.statistics_  # before our lock: two models may merge with each other
        with lock_of(self):
            dtype = _common(self._y_dtype, other._y_dtype)
            self._become(self._statistics + theirs, dtype)
        return self

    def __add__(self, other: Self) -> Self:
        """Make a new estimator that has learned what both have."""
        self._check_fitted()
        return copy(self).merge(other)

    @alone
    def decay(self, half_life: float, elapsed: float = 1.0) -> Self:
        """Let everything learned so far count for less: half as much after each half-life."""
        self._check_fitted()
        self._become(self._statistics.decayed(half_life, elapsed), self._y_dtype)
        return self

    # Answers

    @in_own_threads
    def predict(self, X: Any) -> AnyArray:
        """Predict the most probable class of every row."""
        model = self.model_
        return self._as_array(model.classes)[model.predict(self._read(X))]

    @in_own_threads
    def predict_proba(self, X: Any) -> FloatArray:
        """Compute P(k | x), a column for each of `classes_`."""
        return self._in_dtype(self.model_.posterior(self._read(X)))

    @in_own_threads
    def predict_log_proba(self, X: Any) -> FloatArray:
        """Compute log P(k | x), a column for each of `classes_`."""
        return self._in_dtype(self.model_.log_posterior(self._read(X)))

    @in_own_threads
    def predict_joint_log_proba(self, X: Any) -> FloatArray:
        """Compute log P(k, x), but for what is the same for all classes."""
        return self._in_dtype(self.model_.log_joint(self._read(X)))

    @in_own_threads
    def held_out(
        self, X: Any, y: Any, sample_weight: Any = None, folds: Any = None
    ) -> HeldOutScores:
        """Score rows that were learned by models without the row, or without its fold."""
        self._check_fitted()
        X, labels, _ = self._validated(X, y, reset=False)
        statistics = self._statistics
        return HeldOutScores.of(
            statistics,
            self._choices(statistics),
            self._frame(X, statistics.schema),
            labels,
            read_weights(sample_weight, len(labels)),
            self._class_prior(),
            folds,
        )

    # What was learned

    @property
    def classes_(self) -> AnyArray:
        """The classes, in their order."""
        self._check_fitted()
        return self._as_array(self._statistics.classes)

    @property
    def statistics_(self) -> Statistics:
        """The sums of everything learned."""
        self._check_fitted()
        with lock_of(self):
            self._shared = True  # what others hold must not change under them
            return self._statistics

    @property
    def model_(self) -> Model:
        """The model that the statistics give."""
        self._check_fitted()
        model = self._estimated
        if model is None:
            with lock_of(self):  # rows may be added in place meanwhile
                model = self._estimated
                if model is None:
                    model = self._estimated = self._estimate(self._statistics)
        return model

    @property
    def class_count_(self) -> FloatArray:
        """The weight of the rows of each class."""
        self._check_fitted()
        return self._in_dtype(self._statistics.weight)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_statistics")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "skip"
        return tags

    # How it is done

    def _check_parameters(self) -> None:
        if self.n_threads is not None:
            check_threads(self.n_threads)
        for name, allowed in (("missing", ("error", "skip")), ("new_classes", ("error", "add"))):
            value = getattr(self, name)
            if value not in allowed:
                raise SettingError(
                    f"{name} must be {allowed[0]!r} or {allowed[1]!r}, not {value!r}."
                )

    def _validated(self, X: Any, y: Any, reset: bool) -> tuple[Any, Labels, Any]:
        """Validate the data; give them, the class of each row, and the type that y had."""
        if y is None:
            raise InputError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        X = _without_mask(X)
        if np.ma.is_masked(y):
            read_labels(y)  # which says that a row needs its class
        if self._is_plain(X) and is_plain_target(y, X.shape[0]):
            # Arrays that the kernels read as they are need not be looked at twice: whatever is
            # not finite is found while counting.
            if reset:
                self._take_columns(X)
            elif not self._has_our_columns(X):
                validate_data(self, X, reset=False, skip_check_array=True)
        else:
            X, y = validate_data(self, X, y, reset=reset, **self._data_rules())
            check_classification_targets(y)
        return X, read_labels(y), y.dtype

    def _is_plain(self, X: Any) -> bool:
        """Tell whether the kernels can read X as it is."""
        array = type(X) is np.ndarray and X.ndim == 2 and X.size > 0
        sparse = self._reads_sparse and getattr(X, "format", None) == "csr" and min(X.shape) > 0
        return (array or sparse) and X.dtype in self._plain_dtypes and bool(X.dtype.isnative)

    def _take_columns(self, X: Any) -> None:
        """Keep what scikit-learn wants to know of columns without names."""
        self.n_features_in_ = X.shape[1]
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _has_our_columns(self, X: Any) -> bool:
        """Tell whether X and what was learned have no column names, and as many columns."""
        return X.shape[1] == self.n_features_in_ and not hasattr(self, "feature_names_in_")

    def _refuse(self, X: Any, error: InputError) -> None:
        """Say what scikit-learn would have said of data that turned out not to be finite."""
        validate_data(self, X, reset=False, **self._data_rules())
        raise error

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Leave the estimator as it was if what follows fails."""
        before = self.__dict__.copy()
        try:
            yield
        except BaseException:
            for name in self.__dict__.keys() - before.keys():
                del self.__dict__[name]
            self.__dict__.update(before)
            raise

    def _check_fitted(self) -> None:
        if not hasattr(self, "_statistics"):
            check_is_fitted(self)

    def _data_rules(self) -> dict[str, Any]:
        finite: Any = "allow-nan" if self.missing == "skip" else True
        return {"ensure_all_finite": finite}

    def _columns(self) -> Sequence[str]:
        names = getattr(self, "feature_names_in_", None)
        if names is not None:
            return tuple(map(str, names))
        return NumberedColumns(self.n_features_in_)

    def _count(self, X: Any, y: Labels, sample_weight: Any, schema: Schema) -> Statistics:
        weight = read_weights(sample_weight, X.shape[0])
        if weight is not None and not weight.any():
            raise InputError(
                "sample_weight is zero in every row. Sample weights must contain at least one "
                "non-zero number."
            )
        try:
            counted = Statistics.count(self._frame(X, schema), y, schema, weight)
            self._check_counted(counted)
        except InputError as error:
            self._refuse(X, error)
        return counted

    def _check_counted(self, counted: Statistics) -> None:
        """Refuse missing values that were skipped while counting, unless they may be."""

    def _read(self, X: Any) -> Frame:
        self._check_fitted()
        X = _without_mask(X)
        if not (self._is_plain(X) and self._has_our_columns(X) and self._is_finite(X)):
            X = validate_data(self, X, reset=False, **self._data_rules())
        return self._frame(X, self._statistics.schema)

    def _is_finite(self, X: Any) -> bool:
        if X.dtype.kind == "i":
            return True
        if self.missing == "skip":
            return False
        return all_finite(X.data if hasattr(X, "tocsr") else X)

    def _become(self, statistics: Statistics, y_dtype: Any) -> None:
        """Keep new statistics, once a model was estimated without an error."""
        model = self._estimate(statistics)
        self._y_dtype = y_dtype  # first: it fits the classes known so far as well
        self._statistics, self._estimated, self._shared = statistics, model, False

    @alone
    def __copy__(self) -> Self:
        self._shared = True
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        del other.__dict__["_lock"]  # it has its own
        return other

    def _estimate(self, statistics: Statistics) -> Model:
        return Model.read(statistics, self._choices(statistics), self._class_prior())

    def _as_array(self, classes: Sequence[Label]) -> AnyArray:
        return np.array(classes, dtype=self._y_dtype)

    def _in_dtype(self, values: FloatArray) -> FloatArray:
        return values

    def _first_classes(self, classes: Any) -> tuple[Label, ...]:
        if classes is None:
            if self.new_classes == "add":
                return ()
            raise InputError("classes must be passed on the first call to partial_fit.")
        return read_labels(unique_labels(classes), "classes").labels

    def _check_known(self, y: Labels, known: Statistics) -> None:
        if self.new_classes == "add":
            return
        never = [label for label in y.labels if label_key(label) not in known.places]
        if never:
            raise InputError(
                f"The target label(s) {never} in y do not exist in the initial classes "
                f"{listing(known.classes)}. new_classes='add' lets them in."
            )

    def _check_same_classes(self, classes: Any) -> None:
        if self.new_classes == "error" and not np.array_equal(self.classes_, np.sort(classes)):
            raise InputError(
                f"`classes={classes!r}` is not the same as on last call to partial_fit, was: "
                f"{self.classes_!r}"
            )


class Generative(DropIn):
    """Base of the drop-ins whose scores are likelihoods."""

    @in_own_threads
    def score_samples(self, X: Any) -> FloatArray:
        """Compute log P(x), how likely each row is at all."""
        return self.model_.log_evidence(self._read(X))


def _without_mask(X: Any) -> Any:
    """Replace masked entries by NaN; scikit-learn would read them unmasked."""
    if not np.ma.is_masked(X):
        return X
    numbers = X if X.dtype.kind == "f" else X.astype(np.float64)
    return numbers.filled(np.nan)


def as_floats(X: Any) -> AnyArray:
    """Convert numbers to floats; float32 and float64 stay as they are."""
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)


def _common(a: Any, b: Any) -> Any:
    """Find the type that holds classes of both types, without cutting names."""
    numbers = a.kind in "iuf" and b.kind in "iuf"
    return np.promote_types(a, b) if numbers or a.kind == b.kind else np.dtype(object)


def is_plain_target(y: Any, n_rows: int) -> bool:
    """Tell whether y holds the classes of so many rows as integers or booleans."""
    return type(y) is np.ndarray and y.dtype.kind in "ib" and y.shape == (n_rows,)
