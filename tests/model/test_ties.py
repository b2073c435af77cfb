"""A tie goes to the first class: exact posteriors, as fractions, against what is predicted."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from priory import BernoulliNB, CategoricalNB, Hypotheses, MultinomialNB, NaiveBayes, TextNB
from priory.evaluation import Evaluation
from priory.export.onnx import to_onnx
from priory.export.sql import to_sql

Table = np.ndarray[Any, np.dtype[np.int64]]
Joint = list[Fraction]
Case = Callable[[np.random.Generator], tuple[Any, Any, list[Joint]]]


def shares(y: Table, n_classes: int) -> Joint:
    """Return P(k)."""
    return [Fraction(int((y == k).sum()), len(y)) for k in range(n_classes)]


def drawn(rng: np.random.Generator, values: int) -> tuple[Table, Table, Table]:
    """Return a small table, its classes and rows to classify.

    In every other table the classes hold the same rows with the columns in another order, so that
    products of the same factors, in another order, are common.
    """
    d, n_classes, rows = int(rng.integers(4, 8)), int(rng.integers(2, 4)), 5
    parts = [rng.integers(0, values, (rows, d)) for _ in range(n_classes)]
    if rng.random() < 0.5:
        parts = [parts[0][:, rng.permutation(d)] for _ in parts]
    known = np.repeat(np.arange(values)[:, None], d, axis=1)  # every value is in every column
    X = np.concatenate([np.concatenate([known, part]) for part in parts])
    y = np.repeat(np.arange(n_classes), rows + values)
    more = int(rng.integers(0, 2))  # classes of the same size, or not
    return X[more:], y[more:], rng.integers(0, values, (20, d))


def of_labels(X: Table, y: Table, new: Table, alpha: int) -> list[Joint]:
    """Return P(k) Π (n_vk + α) / (n_k + α V) of every new row and class."""
    prior, values = shares(y, y.max() + 1), X.max() + 1
    return [
        [
            p
            * prod(
                Fraction(
                    int((X[y == k, j] == v).sum()) + alpha, int((y == k).sum() + alpha * values)
                )
                for j, v in enumerate(row)
            )
            for k, p in enumerate(prior)
        ]
        for row in new
    ]


def of_counts(X: Table, y: Table, new: Table) -> list[Joint]:
    """Return P(k) Π ((n_jk + 1) / (n_k + d))^x_j of every new row and class."""
    theta = [
        [
            Fraction(int(X[y == k, j].sum()) + 1, int(X[y == k].sum()) + X.shape[1])
            for j in range(X.shape[1])
        ]
        for k in range(y.max() + 1)
    ]
    return [
        [
            p * prod(t ** int(x) for t, x in zip(theta[k], row, strict=True))
            for k, p in enumerate(shares(y, y.max() + 1))
        ]
        for row in new
    ]


def named(X: Table) -> dict[str, Any]:
    return {f"c{j}": np.array(list("abc"))[X[:, j]] for j in range(X.shape[1])}


def truths(X: Table) -> dict[str, Any]:
    return {f"c{j}": X[:, j] == 1 for j in range(X.shape[1])}


def texts(X: Table) -> list[str]:
    return [" ".join(f"word{j}" for j, n in enumerate(row) for _ in range(n)) for row in X]


def labels(alpha: int) -> Case:
    def case(rng: np.random.Generator) -> tuple[Any, Any, list[Joint]]:
        X, y, new = drawn(rng, 3)
        model = NaiveBayes.textbook(smoothing=alpha).fit(named(X), y)
        return model, named(new), of_labels(X, y, new, alpha)

    return case


def booleans(rng: np.random.Generator) -> tuple[Any, Any, list[Joint]]:
    X, y, new = drawn(rng, 2)
    return NaiveBayes.textbook().fit(truths(X), y), truths(new), of_labels(X, y, new, 1)


def categorical_nb(rng: np.random.Generator) -> tuple[Any, Any, list[Joint]]:
    X, y, new = drawn(rng, 3)
    return CategoricalNB().fit(X, y), new, of_labels(X, y, new, 1)


def bernoulli_nb(rng: np.random.Generator) -> tuple[Any, Any, list[Joint]]:
    X, y, new = drawn(rng, 2)
    return BernoulliNB().fit(X, y), new, of_labels(X, y, new, 1)


def multinomial_nb(rng: np.random.Generator) -> tuple[Any, Any, list[Joint]]:
    X, y, new = drawn(rng, 3)
    return MultinomialNB().fit(X, y), new, of_counts(X, y, new)


def text_nb(rng: np.random.Generator) -> tuple[Any, Any, list[Joint]]:
    X, y, new = drawn(rng, 3)
    return TextNB.textbook().fit(texts(X), y), texts(new), of_counts(X, y, new)


CASES = {
    "labels": labels(1),
    "labels, no smoothing": labels(0),
    "booleans": booleans,
    "CategoricalNB": categorical_nb,
    "BernoulliNB": bernoulli_nb,
    "MultinomialNB": multinomial_nb,
    "TextNB": text_nb,
}


@pytest.mark.filterwarnings("ignore::priory.base.errors.ImpossibleEvidenceWarning")
@pytest.mark.parametrize("name", CASES)
def test_the_first_of_the_most_probable_classes_is_predicted(name):
    n_ties = 0
    for seed in range(40):
        model, new, exact = CASES[name](np.random.default_rng(seed))
        predicted, p = model.predict(new).tolist(), model.predict_proba(new)
        evaluated = Evaluation(predicted, p, model.classes_).predicted_codes.tolist()
        for i, joint in enumerate(exact):
            if not any(joint):
                continue
            tied = [k for k, value in enumerate(joint) if value == max(joint)]
            n_ties += len(tied) > 1
            assert predicted[i] == evaluated[i] == p[i].argmax() == tied[0]
            assert len({p[i, k] for k in tied}) == 1  # not nearly: the very same number
    assert n_ties > 20


def test_ties_of_long_sums_are_still_ties():
    """Thousands of words in another order for each class: the sums differ in more digits."""
    rng = np.random.default_rng(0)
    counts = rng.integers(1, 2000, 3000)
    X = np.stack([counts, counts[::-1]])
    both = rng.integers(0, 5, 1500)
    model = MultinomialNB().fit(X, [0, 1])
    assert model.predict([np.concatenate([both, both[::-1]])]).tolist() == [0]


def test_what_is_no_tie_is_not_made_one():
    X = [[1_000_000, 1_000_001], [1_000_001, 1_000_000]]
    model = MultinomialNB().fit(X, [0, 1])
    assert model.predict([[1, 0], [0, 1]]).tolist() == [1, 0]  # one part in a million apart


def test_an_evaluation_decides_ties_as_a_model_does():
    assert Evaluation(
        ["a"], [[0.3, 0.1 + 0.2, 0.4 - 1e-9]], ["a", "b", "c"]
    ).predicted_codes.tolist() == [2]
    e = Evaluation(["a", "a"], [[0.5, 0.5 + 1e-14], [0.5 - 1e-9, 0.5 + 1e-9]], ["a", "b"])
    assert e.predicted_codes.tolist() == [0, 1]


def test_hypotheses_decide_ties_as_a_model_does():
    first = {"x": 0.1, "y": 0.3, "z": 0.6}
    other = {"x": 0.3, "y": 0.1, "z": 0.6}
    for names in (("a", "b"), ("b", "a")):
        h = Hypotheses({names[0]: first, names[1]: other}).update(["x", "y", "z"] * 7)
        assert h.map == h.mle == h.mdl == names[0]


def test_sql_decides_ties_as_a_model_does():
    duckdb = pytest.importorskip("duckdb")
    for seed in range(30):
        model, new, _ = booleans(np.random.default_rng(seed))
        data = pa.table(new)  # noqa: F841, the query reads it
        answer = duckdb.sql(to_sql(model.classifier_, "data")).to_arrow_table()
        assert answer["prediction"].to_pylist() == model.predict(new).tolist()
        p = np.column_stack([answer[f"P({k})"] for k in model.classes_])
        assert p.argmax(axis=1).tolist() == model.predict(new).tolist()


def test_onnx_decides_ties_as_a_model_does():
    runtime = pytest.importorskip("onnxruntime")
    for seed in range(30):
        model, new, _ = booleans(np.random.default_rng(seed))
        session = runtime.InferenceSession(
            to_onnx(model.classifier_), providers=["CPUExecutionProvider"]
        )
        rows = {name: values[:, None].astype(np.float64) for name, values in new.items()}
        found, p = session.run(None, rows)
        assert found.tolist() == p.argmax(axis=1).tolist() == model.predict(new).tolist()
