"""With n_threads=1 no thread is started, whatever is done."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import numpy as np
import pytest
from scipy import sparse

from priory import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
    NaiveBayes,
    TextNB,
    cross_validate,
    leave_one_out,
)
from priory.base import parallel
from priory.base.errors import NoLikelihoodError

N = 3000


@pytest.fixture
def threads(monkeypatch):
    """Return the names of the threads that were started; little work is worth one."""
    started = []
    start, submit = threading.Thread.start, ThreadPoolExecutor.submit

    def watched(thread):
        started.append(thread.name)
        start(thread)

    def watched_submit(pool, *given, **named):  # a pool may have its threads already
        started.append("a pool's")
        return submit(pool, *given, **named)

    monkeypatch.setattr(threading.Thread, "start", watched)
    monkeypatch.setattr(ThreadPoolExecutor, "submit", watched_submit)
    monkeypatch.setattr(parallel, "WORTHWHILE", 500)
    monkeypatch.setenv("PRIORY_NUM_THREADS", "3")
    return started


def data(kind):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, N)
    counts = rng.poisson(0.4, (N, 8)) + (y[:, None] == np.arange(8))
    if kind == "sparse":
        return sparse.csr_matrix(counts.astype(np.float64)), y
    if kind == "counts":
        return counts, y
    if kind == "numbers":
        return rng.normal(size=(N, 8)) + y[:, None], y
    if kind == "texts":
        return [" ".join(f"word{j}" for j in np.flatnonzero(row)) for row in counts], y
    return {
        "number": rng.normal(size=N) + y,
        "whole": counts[:, 0],
        "label": rng.choice(["a", "b", "c"], N),
        "truth": rng.random(N) < 0.5,
        "gaps": np.where(rng.random(N) < 0.2, np.nan, rng.normal(size=N)),
    }, y


MODELS = {
    "GaussianNB": (GaussianNB, "numbers"),
    "MultinomialNB": (MultinomialNB, "counts"),
    "MultinomialNB, sparse": (MultinomialNB, "sparse"),
    "ComplementNB, sparse": (ComplementNB, "sparse"),
    "ComplementNB": (ComplementNB, "counts"),
    "BernoulliNB": (BernoulliNB, "counts"),
    "BernoulliNB, sparse": (BernoulliNB, "sparse"),
    "CategoricalNB": (CategoricalNB, "counts"),
    "NaiveBayes": (NaiveBayes, "table"),
    "NaiveBayes, sparse": (NaiveBayes, "sparse"),
    "NaiveBayes.textbook": (NaiveBayes.textbook, "table"),
    "TextNB": (TextNB, "texts"),
    "TextNB.textbook": (TextNB.textbook, "texts"),
}


def some(X, rows):
    return {name: column[rows] for name, column in X.items()} if isinstance(X, dict) else X[rows]


def use(model, X, y):
    """Do whatever a model does with rows."""
    model.fit(X, y)
    model.predict(X), model.predict_proba(X), model.predict_log_proba(X)
    model.predict_joint_log_proba(X)
    with suppress(AttributeError, NoLikelihoodError):  # what a complement says is no likelihood
        model.score_samples(X)
    leave_one_out(model, X, y)
    cross_validate(model, X, y, 2)
    half = slice(0, N // 2)
    model.partial_fit(some(X, half), y[half]).forget(some(X, half), y[half])
    if isinstance(model, NaiveBayes):
        model.recalibrate(X, y)


@pytest.mark.filterwarnings("ignore::priory.base.errors.StaleTuningWarning")
@pytest.mark.parametrize("name", MODELS)
def test_one_thread_is_this_one(name, threads):
    make, kind = MODELS[name]
    model = make().set_params(n_threads=1)
    use(model, *data(kind))
    assert threads == []


@pytest.mark.parametrize("name", MODELS)
def test_the_test_would_see_threads(name, threads):
    make, kind = MODELS[name]
    X, y = data(kind)
    make().set_params(n_threads=2).fit(X, y).predict(X)
    assert threads
