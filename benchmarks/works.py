"""What is measured: the data, what priory is asked to do, and the same asked of its peers."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn import naive_bayes as sk
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

import priory

__all__ = [
    "FULL",
    "GAUSSIAN_FITS",
    "QUICK",
    "WORKS",
    "Peer",
    "Sizes",
    "Work",
    "gaussian_data",
    "works",
]

SEED = 20_240_229
COLUMNS, CLASSES, CODES = 30, 10, 8
SKLEARN, MLPACK, RIVER, WNB = "scikit-learn", "mlpack", "river", "wnb"

Call = Callable[[], Any]


@dataclass(frozen=True)
class Sizes:
    """Say how large the data are and how long is measured."""

    rows: int
    documents: int
    words: int
    nonzeros: int
    text_bytes: int
    chart: tuple[int, ...]
    calls: int
    """How many one-row calls make one measurement."""
    seconds: float
    """What all repeats of one piece of work may take, if the fewest repeats allow it."""
    repeats: tuple[int, int]
    """The fewest and the most repeats."""
    processes: int
    """Fits of which the memory is measured, each in a process of its own."""
    limit: float
    """A peer that a trial says would take more seconds for one call is not run."""


FULL = Sizes(
    rows=1_000_000,
    documents=200_000,
    words=95_000,
    nonzeros=11_500_000,
    text_bytes=120_000_000,
    chart=(10**4, 10**5, 10**6, 10**7),
    calls=200,
    seconds=30.0,
    repeats=(5, 25),
    processes=3,
    limit=120.0,
)
QUICK = Sizes(
    rows=2_000,
    documents=500,
    words=2_000,
    nonzeros=20_000,
    text_bytes=100_000,
    chart=(500, 1_000, 2_000),
    calls=5,
    seconds=0.05,
    repeats=(2, 3),
    processes=1,
    limit=1.0,
)


@dataclass(frozen=True)
class Peer:
    """A peer's way to do the work, and how its result is compared with priory's."""

    name: str
    call: Call
    difference: Callable[[Any, Any], float] | None
    """Largest absolute difference between priory's result and the peer's; None: another model."""
    required: float | None = None
    """How many times faster priory has to be."""
    tolerance: float = 1e-8
    trial: Call | None = None
    """The same work on a thousandth of the rows, for a peer that may take too long."""


@dataclass(frozen=True)
class Work:
    """A piece of work: what priory does and what its peers do."""

    name: str
    data: str
    ours: Call
    peers: Sequence[Peer]
    calls: int = 1
    """How many times the work is done in one call."""
    absent: Mapping[str, float | None] = field(default_factory=dict)
    """Peers that are not installed, with what is required of the ratio to them."""


def works(
    sizes: Sizes,
    installed: frozenset[str],
    makers: Sequence[Callable[[Sizes], Iterator[Work]]] | None = None,
) -> Iterator[Work]:
    """Make the works one after the other, so that only one set of data is in memory."""
    for make in makers or MAKERS:
        for work in make(sizes):
            there = [peer for peer in work.peers if peer.name in installed]
            absent = {p.name: p.required for p in work.peers if p.name not in installed}
            yield Work(work.name, work.data, work.ours, there, work.calls, absent)


# Gaussian


def gaussian_data(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw numbers around the means of their classes, block by block to spare memory."""
    rng = np.random.default_rng(SEED)
    means = rng.normal(scale=0.3, size=(CLASSES, COLUMNS))
    y = rng.integers(0, CLASSES, rows)
    X = np.empty((rows, COLUMNS))
    for start in range(0, rows, 10_000):
        block = slice(start, start + 10_000)
        rng.standard_normal(out=X[block])
        X[block] += means[y[block]]
    return X, y


def _mlpack_fit() -> Callable[[Any, Any], Any]:
    import mlpack

    return lambda X, y: mlpack.nbc(training=X, labels=y)["output_model"]


def _wnb_fit() -> Callable[[Any, Any], Any]:
    from wnb import Distribution, GeneralNB

    return lambda X, y: GeneralNB(distributions=[Distribution.NORMAL] * X.shape[1]).fit(X, y)


GAUSSIAN_FITS: Mapping[str, Callable[[], Callable[[Any, Any], Any]]] = {
    "priory": lambda: lambda X, y: priory.GaussianNB().fit(X, y),
    SKLEARN: lambda: lambda X, y: sk.GaussianNB().fit(X, y),
    MLPACK: _mlpack_fit,
    WNB: _wnb_fit,
}
"""Imports what is needed and returns the fit; the key "priory" is ours."""


def gaussian(sizes: Sizes, rows: int | None = None) -> Iterator[Work]:
    """Fit and predict Gaussians, at the size of the table or, for the chart, at another."""
    X, y = gaussian_data(rows or sizes.rows)
    few, little = X[:1000], X[: max(1, len(X) // 1000)]
    fits = {name: _if_there(load) for name, load in GAUSSIAN_FITS.items()}
    fitted = functools.cache(lambda name: fits[name](X, y))
    data = _shape(X, "float64")

    def mlpack_predict(model: Any, X: Any) -> Any:
        import mlpack

        return mlpack.nbc(input_model=model, test=X)["probabilities"]

    def from_mlpack(model: Any, probabilities: Any) -> float:
        """Compare: mlpack divides by n − 1 and takes the classes in the order they come in."""
        came = np.argsort(np.unique(y, return_index=True)[1])
        expected = np.exp(_log_posterior(model, few, ddof=1))[:, came]
        return _largest(expected, probabilities[: len(few)])

    yield Work(
        "GaussianNB fit",
        data,
        lambda: fits["priory"](X, y),
        [
            Peer(SKLEARN, lambda: fits[SKLEARN](X, y), _joints(few), 20),
            Peer(
                MLPACK,
                lambda: fits[MLPACK](X, y),
                lambda a, b: from_mlpack(a, mlpack_predict(b, few)),
                3,
                1e-6,
            ),
            Peer(
                WNB,
                lambda: fits[WNB](X, y),
                lambda a, b: _largest(a.predict_log_proba(X[:20]), b.predict_log_proba(X[:20])),
                tolerance=1e-6,
            ),
        ],
    )
    yield Work(
        "GaussianNB predict_log_proba",
        data,
        lambda: fitted("priory").predict_log_proba(X),
        [
            Peer(SKLEARN, lambda: fitted(SKLEARN).predict_log_proba(X), _slices, 15),
            Peer(
                MLPACK,
                lambda: mlpack_predict(fitted(MLPACK), X),
                lambda _, b: from_mlpack(fitted("priory"), b),
                None,
                1e-6,
            ),
            Peer(
                WNB,
                lambda: fitted(WNB).predict_log_proba(X),
                _slices,
                tolerance=1e-6,
                trial=lambda: fitted(WNB).predict_log_proba(little),
            ),
        ],
    )


def _log_posterior(model: Any, X: np.ndarray, ddof: int) -> np.ndarray:
    """Work out log P(k | x) from priory's parameters with variances over n − ddof."""
    n = model.class_count_[:, None]
    variance = model.var_ * n / (n - ddof)
    squares = (X[:, None] - model.theta_) ** 2 / variance + np.log(2 * np.pi * variance)
    joint = np.log(model.class_prior_) - squares.sum(axis=2) / 2
    return joint - np.logaddexp.reduce(joint, axis=1)[:, None]


# The discrete ones


def categorical(sizes: Sizes) -> Iterator[Work]:
    """Fit and predict codes."""
    rng = np.random.default_rng(SEED)
    y = rng.integers(0, CLASSES, sizes.rows)
    X = rng.integers(0, CODES, (sizes.rows, COLUMNS))
    X[:, ::3] = (X[:, ::3] * rng.integers(0, 2, (sizes.rows, 1)) + y[:, None]) % CODES
    data = _shape(X, f"int64, {CODES} values")
    yield from _both("CategoricalNB", X, y, data, priory.CategoricalNB, sk.CategoricalNB, (30, 10))


def bernoulli(sizes: Sizes) -> Iterator[Work]:
    """Fit and predict zeros and ones; as floats, which is what scikit-learn is fastest on."""
    rng = np.random.default_rng(SEED)
    y = rng.integers(0, CLASSES, sizes.rows)
    chance = rng.random((CLASSES, COLUMNS))
    X = (rng.random((sizes.rows, COLUMNS)) < chance[y]).astype(np.float64)
    data = _shape(X, "float64, 0 or 1")
    yield from _both("BernoulliNB", X, y, data, priory.BernoulliNB, sk.BernoulliNB, (8, 8))


def multinomial(sizes: Sizes) -> Iterator[Work]:
    """Fit and predict counts in a dense matrix; as floats, as above."""
    rng = np.random.default_rng(SEED)
    y = rng.integers(0, CLASSES, sizes.rows)
    rate = rng.gamma(1.0, size=(CLASSES, COLUMNS))
    X = rng.poisson(rate[y]).astype(np.float64)
    data = _shape(X, "float64 counts")
    yield from _both("MultinomialNB", X, y, data, priory.MultinomialNB, sk.MultinomialNB, (4, 3))


def text(sizes: Sizes) -> Iterator[Work]:
    """Fit and predict a sparse matrix of word counts; as floats, as above."""
    X, y = text_data(sizes)
    data = f"CSR {X.shape[0]:,} × {X.shape[1]:,}, {X.nnz:,} nonzeros, 20 classes"
    yield from _both(
        "MultinomialNB CSR", X, y, data, priory.MultinomialNB, sk.MultinomialNB, (6, 3)
    )


def text_data(sizes: Sizes) -> tuple[sp.csr_matrix, np.ndarray]:
    """Draw documents of words whose frequencies fall as Zipf's law says."""
    rng = np.random.default_rng(SEED)
    y = rng.integers(0, 20, sizes.documents)
    chance = 1 / (np.arange(sizes.words) + 3.0)
    steps = np.cumsum(chance / chance.sum())
    steps[-1] = 1.0
    scattered = rng.permutation(sizes.words)  # frequent words stand anywhere, as in a dictionary
    cells = counts = np.empty(0, np.int64)
    tokens = 2 * sizes.nonzeros
    while len(cells) < sizes.nonzeros:
        document = rng.integers(0, sizes.documents, tokens)
        word = np.searchsorted(steps, rng.random(tokens))
        own = rng.random(tokens) < 0.2  # every class has words of its own
        word[own] = (word[own] + 101 * (1 + y[document[own]])) % sizes.words
        cells, counts = np.unique(document * sizes.words + scattered[word], return_counts=True)
        tokens *= 2
    kept = np.sort(rng.permutation(len(cells))[: sizes.nonzeros])
    document, word = np.divmod(cells[kept], sizes.words)
    shape = (sizes.documents, sizes.words)
    return sp.csr_matrix((counts[kept].astype(np.float64), (document, word)), shape), y


def _both(
    name: str, X: Any, y: Any, data: str, our: Any, their: Any, required: tuple[float, float]
) -> Iterator[Work]:
    """Yield the fit and the prediction of one of the drop-ins."""
    yield Work(
        f"{name} fit",
        data,
        lambda: our().fit(X, y),
        [Peer(SKLEARN, lambda: their().fit(X, y), _joints(X[:1000]), required[0])],
    )
    ours, theirs = our().fit(X, y), their().fit(X, y)
    yield Work(
        f"{name} predict_log_proba",
        data,
        lambda: ours.predict_log_proba(X),
        [Peer(SKLEARN, lambda: theirs.predict_log_proba(X), _slices, required[1])],
    )


# A mixed table with gaps


class TwoModels:
    """Do what a scikit-learn user must write for one naive Bayes over a mixed table.

    No scikit-learn model takes numbers and categories together: so a GaussianNB and a
    CategoricalNB are fitted, and their log-joints added less one log prior. Neither takes
    gaps: so they are filled in first.
    """

    def __init__(self, numbers: list[str], categories: list[str], truths: list[str]) -> None:
        self.n = len(numbers)
        often = {"strategy": "most_frequent"}
        self.columns = ColumnTransformer(
            [
                ("numbers", SimpleImputer(), numbers),
                ("labels", make_pipeline(SimpleImputer(**often), OrdinalEncoder()), categories),
                ("truths", make_pipeline(SimpleImputer(**often), OrdinalEncoder()), truths),
            ]
        )
        self.gaussian, self.categorical = sk.GaussianNB(var_smoothing=0), sk.CategoricalNB()

    def fit(self, frame: pd.DataFrame, y: np.ndarray) -> TwoModels:
        """Fill in, encode, and fit both."""
        Z = self.columns.fit_transform(frame)
        self.gaussian.fit(Z[:, : self.n], y)
        self.categorical.fit(Z[:, self.n :], y)
        return self

    def predict_joint_log_proba(self, frame: pd.DataFrame) -> np.ndarray:
        """Add the log-joints, the prior once."""
        Z = self.columns.transform(frame)
        joint = self.gaussian.predict_joint_log_proba(Z[:, : self.n])
        joint += self.categorical.predict_joint_log_proba(Z[:, self.n :])
        return joint - self.categorical.class_log_prior_

    def predict_proba(self, frame: pd.DataFrame) -> np.ndarray:
        """Normalise."""
        joint = self.predict_joint_log_proba(frame)
        joint -= joint.max(axis=1, keepdims=True)
        np.exp(joint, out=joint)
        return joint / joint.sum(axis=1, keepdims=True)


def frame_data(rows: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Draw 10 columns of floats, 10 of categories and 5 of booleans, 5 % of them missing."""
    rng = np.random.default_rng(SEED)
    y = rng.integers(0, CLASSES, rows)
    columns: dict[str, Any] = {}
    for j in range(10):
        numbers = rng.standard_normal(rows) + rng.normal(scale=0.3, size=CLASSES)[y]
        numbers[rng.random(rows) < 0.05] = np.nan
        columns[f"number{j}"] = numbers
    values = [f"value {i}" for i in range(CODES)]
    for j in range(10):
        codes = (rng.integers(0, CODES, rows) * rng.integers(0, 2, rows) + y) % CODES
        codes[rng.random(rows) < 0.05] = -1
        columns[f"category{j}"] = pd.Categorical.from_codes(codes, values)
    for j in range(5):
        truths = rng.random(rows) < rng.random(CLASSES)[y]
        columns[f"truth{j}"] = pd.arrays.BooleanArray(truths, rng.random(rows) < 0.05)
    return pd.DataFrame(columns), y


def frame(sizes: Sizes) -> Iterator[Work]:
    """Fit and predict a pandas frame as it comes."""
    X, y = frame_data(sizes.rows)
    names = [[c for c in X if c.startswith(kind)] for kind in ("number", "category", "truth")]
    data = f"pandas {len(X):,} rows, 10 float, 10 category, 5 boolean columns, 5 % missing"

    def without_gaps(*_: Any) -> float:
        """Compare where both are the same model: fitted to rows in which nothing is missing."""
        full = X[:50_000].dropna()
        classes = y[full.index]
        ours = priory.NaiveBayes.textbook().fit(full, classes)
        theirs = TwoModels(*names).fit(full, classes)
        return _joints(full[:1000])(ours, theirs)

    yield Work(
        "NaiveBayes.textbook fit",
        data,
        lambda: priory.NaiveBayes.textbook().fit(X, y),
        [Peer(SKLEARN, lambda: TwoModels(*names).fit(X, y), without_gaps, 10)],
    )
    ours, theirs = priory.NaiveBayes.textbook().fit(X, y), TwoModels(*names).fit(X, y)
    yield Work(
        "NaiveBayes.textbook predict_proba",
        data,
        lambda: ours.predict_proba(X),
        [Peer(SKLEARN, lambda: theirs.predict_proba(X), without_gaps, 10)],
    )


# Row by row


def one_row(sizes: Sizes) -> Iterator[Work]:
    """Predict and learn one row at a time."""
    X, y = gaussian_data(1000)
    rows = [X[i : i + 1] for i in range(len(X))]
    classes = [y[i : i + 1] for i in range(len(y))]
    dicts = [dict(enumerate(row)) for row in X.tolist()]
    ours, theirs = (module.GaussianNB().fit(X, y) for module in (priory, sk))
    rivers = _river(dicts, y.tolist())
    data, turns = f"1 × {COLUMNS} float64, {CLASSES} classes", range(sizes.calls)

    def river_difference(model: Any, river: Any) -> float:
        told = [[river.predict_proba_one(row)[k] for k in range(CLASSES)] for row in dicts[:50]]
        return _largest(model.predict_proba(X[:50]), np.array(told))

    yield Work(
        "GaussianNB predict_proba of one row",
        data,
        lambda: [ours.predict_proba(rows[i]) for i in turns],
        [
            Peer(SKLEARN, lambda: [theirs.predict_proba(rows[i]) for i in turns], _lists, 5),
            Peer(
                RIVER,
                lambda: [rivers.predict_proba_one(dicts[i]) for i in turns],
                lambda *_: river_difference(ours, rivers),
                None,
                1e-5,
            ),
        ],
        sizes.calls,
    )

    def learn(model: Any) -> Call:
        """Go on from row to row, the same rows for every contender."""
        place = itertools.cycle(range(len(rows)))

        def call() -> Any:
            for i in itertools.islice(place, sizes.calls):
                model.partial_fit(rows[i], classes[i])
            return model

        return call

    def learn_river() -> Call:
        place, targets = itertools.cycle(range(len(rows))), y.tolist()

        def call() -> Any:
            for i in itertools.islice(place, sizes.calls):
                rivers.learn_one(dicts[i], targets[i])
            return rivers

        return call

    yield Work(
        "GaussianNB partial_fit of one row",
        data,
        learn(ours),
        [
            Peer(SKLEARN, learn(theirs), _joints(X), 5, 1e-6),
            Peer(RIVER, learn_river(), river_difference, 1, 1e-5),
        ],
        sizes.calls,
    )


def _river(rows: list[dict[int, float]], y: list[int]) -> Any:
    try:
        from river.naive_bayes import GaussianNB
    except ImportError:
        return None
    model = GaussianNB()
    for row, k in zip(rows, y, strict=True):
        model.learn_one(row, k)
    return model


# Comparing


def _joints(X: Any) -> Callable[[Any, Any], float]:
    """Return a comparison of two models by their log-joints on a slice."""
    return lambda a, b: _largest(a.predict_joint_log_proba(X), b.predict_joint_log_proba(X))


def _slices(a: Any, b: Any) -> float:
    return _largest(a[:1000], b[:1000])


def _lists(a: Any, b: Any) -> float:
    return _largest(np.concatenate(a), np.concatenate(b))


def _largest(a: Any, b: Any) -> float:
    return float(np.abs(np.asarray(a) - np.asarray(b)).max())


def _if_there(load: Callable[[], Callable[[Any, Any], Any]]) -> Callable[[Any, Any], Any]:
    try:
        return load()
    except ImportError:
        return lambda X, y: None


def _shape(X: Any, what: str) -> str:
    return f"{X.shape[0]:,} × {X.shape[1]} {what}, {CLASSES} classes"


MAKERS: Sequence[Callable[[Sizes], Iterator[Work]]] = (
    gaussian, categorical, bernoulli, multinomial, text, frame, one_row,
)  # fmt: skip
WORKS = 2 * len(MAKERS)
"""How many works there are: each maker yields two."""
