"""Several threads may learn into one model: no row is lost, and the sums are those of one pass."""

import pickle
import sys
import threading
from copy import copy, deepcopy

import numpy as np
import pytest

from priory import (
    BernoulliNB,
    CategoricalNB,
    Classifier,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
    NaiveBayes,
    Settings,
    TextNB,
)
from priory.base.locking import Lock, lock_of

THREADS, BATCHES, ROWS = 8, 30, 5
N = THREADS * BATCHES * ROWS


@pytest.fixture(autouse=True)
def impatient():
    """Let threads take turns very often, so that whatever can go wrong does."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def at_once(*tasks):
    """Run tasks in threads of their own that begin together; raise what they raised."""
    barrier, errors = threading.Barrier(len(tasks)), []

    def run(task):
        barrier.wait()
        try:
            task()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(task,)) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def batches(share):
    """Return the rows of each batch of a thread."""
    first = share * BATCHES * ROWS
    return [slice(first + i * ROWS, first + (i + 1) * ROWS) for i in range(BATCHES)]


def rows_of(kind):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, N)
    counts = rng.poisson(1.0, (N, 4))
    if kind == "texts":
        # One word each: sums of logarithms of how often there are more would be rounded.
        return np.array([f"word{j}" for j in counts.argmax(axis=1)]), y
    return counts.astype(np.float64) if kind == "floats" else counts, y


MODELS = {
    "GaussianNB": (GaussianNB, "floats"),
    "MultinomialNB": (MultinomialNB, "counts"),
    "ComplementNB": (ComplementNB, "counts"),
    "BernoulliNB": (BernoulliNB, "counts"),
    "CategoricalNB": (lambda: CategoricalNB(min_categories=20), "counts"),
    "NaiveBayes": (NaiveBayes.textbook, "counts"),
    "TextNB": (TextNB.textbook, "texts"),
}


@pytest.mark.parametrize("name", MODELS)
def test_threads_learn_every_row_from_the_first_call_on(name):
    make, kind = MODELS[name]
    X, y = rows_of(kind)
    model = make()

    def learn(share):
        for rows in batches(share):
            model.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
            model.predict(X[rows])  # reads the model out, while others learn

    at_once(*(lambda share=share: learn(share) for share in range(THREADS)))
    whole = make().partial_fit(X, y, classes=[0, 1, 2])
    assert model.statistics_.n_rows == N
    assert model.statistics_ == whole.statistics_
    np.testing.assert_array_equal(model.predict_proba(X[:50]), whole.predict_proba(X[:50]))


@pytest.mark.parametrize("name", MODELS)
def test_threads_forget_and_merge_while_others_learn(name):
    make, kind = MODELS[name]
    X, y = rows_of(kind)
    model = make().partial_fit(X, y, classes=[0, 1, 2])
    part = make().partial_fit(X[:ROWS], y[:ROWS], classes=[0, 1, 2])

    def learn(share):
        for rows in batches(share):
            model.partial_fit(X[rows], y[rows])

    def forget(share):
        for rows in batches(share):
            model.forget(X[rows], y[rows])

    def merge():
        for _ in range(BATCHES):
            model.merge(part)

    at_once(
        *(lambda s=s: learn(s) for s in range(4)),
        *(lambda s=s: forget(s) for s in range(4, 7)),
        merge,
    )
    expected = make().partial_fit(X, y, classes=[0, 1, 2])
    expected.partial_fit(X[: 4 * BATCHES * ROWS], y[: 4 * BATCHES * ROWS])
    kept = slice(4 * BATCHES * ROWS, 7 * BATCHES * ROWS)
    expected.forget(X[kept], y[kept])
    for _ in range(BATCHES):
        expected.merge(part)
    assert model.statistics_ == expected.statistics_


def test_a_classifier_learns_declares_and_merges_in_threads():
    X, y = rows_of("counts")
    classifier = Classifier(Settings.textbook())
    part = Classifier(Settings.textbook()).update(X[:ROWS], y[:ROWS])

    def learn(share):
        for rows in batches(share):
            classifier.update(X[rows], y[rows])
            classifier.declare([f"class {share}"] if share else [0])
            assert classifier.predict(X[rows]).shape == (ROWS,)
        classifier.merge(part)

    at_once(*(lambda share=share: learn(share) for share in range(THREADS)))
    assert classifier.statistics.n_rows == N + THREADS * ROWS
    assert len(classifier.classes) == 3 + THREADS - 1


def test_models_that_merge_with_each_other_do_not_wait_for_ever():
    X, y = rows_of("floats")
    a, b = GaussianNB().fit(X[:100], y[:100]), GaussianNB().fit(X[100:300], y[100:300])
    at_once(lambda: [a.merge(b) for _ in range(20)], lambda: [b.merge(a) for _ in range(20)])
    assert a.statistics_.n_rows > 300


@pytest.mark.parametrize("again", [copy, deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_what_is_copied_or_pickled_learns_on(again):
    X, y = rows_of("floats")
    for model in (GaussianNB().fit(X[:50], y[:50]), NaiveBayes.textbook().fit(X[:50], y[:50])):
        with lock_of(model):  # held here, the copy is free
            other = again(model)
        if again is not copy:
            at_once(lambda other=other: other.partial_fit(X[50:], y[50:]))
            assert (model.statistics_.n_rows, other.statistics_.n_rows) == (50, N)
    classifier = again(Classifier(Settings.textbook()).update(X[:50], y[:50]))
    assert classifier.update(X[50:], y[50:]).statistics.n_rows == N


def test_a_lock_lets_the_same_thread_in_again_and_no_other():
    lock, entered = Lock(), threading.Event()

    def enter():
        with lock:
            entered.set()

    with lock, lock:
        thread = threading.Thread(target=enter)
        thread.start()
        assert not entered.wait(0.05)
    thread.join()
    assert entered.is_set()


def test_a_call_that_fails_gives_the_lock_back():
    X, y = rows_of("floats")
    model = GaussianNB().fit(X, y)
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:, :2], y)
    at_once(lambda: model.partial_fit(X, y))
    assert model.statistics_.n_rows == 2 * N
