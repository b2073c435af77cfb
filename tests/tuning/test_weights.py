"""Sample weights of any size: a right answer, or an error that names them."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import priory
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
from priory.base.errors import InputError
from priory.families import KernelDensity

N = 24
RNG = np.random.default_rng(0)
Y = np.arange(N) % 3
COUNTS = RNG.poisson(1.0, (N, 4))
TABLE = {
    "number": RNG.normal(size=N),
    "whole": COUNTS[:, 0],
    "label": RNG.choice(["a", "b", "c", "d"], N),
    "truth": RNG.random(N) < 0.5,
}


BLOCKS = {("number", "whole"): "gaussian", ("label", "truth"): "joint"}


def with_families(families):
    return lambda: NaiveBayes(families=families, smoothing=1.0, weights=None, missing="skip")


MODELS = {
    "GaussianNB": (GaussianNB, RNG.normal(size=(N, 4))),
    "MultinomialNB": (MultinomialNB, COUNTS),
    "MultinomialNB, sparse": (MultinomialNB, sparse.csr_matrix(COUNTS.astype(np.float64))),
    "ComplementNB": (ComplementNB, COUNTS),
    "BernoulliNB": (BernoulliNB, COUNTS),
    "CategoricalNB": (CategoricalNB, COUNTS),
    "textbook": (NaiveBayes.textbook, TABLE),
    "textbook, no smoothing": (lambda: NaiveBayes.textbook(smoothing=0), TABLE),
    "histogram, Poisson": (with_families({"number": "histogram", "whole": "poisson"}), TABLE),
    "Student-t": (with_families({"number": "student-t"}), TABLE),
    "kernel density": (with_families({"number": KernelDensity()}), TABLE),
    "blocks": (with_families(BLOCKS), TABLE),
    "TextNB": (TextNB.textbook, [" ".join(f"w{j}" for j in row) for row in COUNTS]),
    "edges": (
        lambda: NaiveBayes.textbook(structure=[("label", "truth"), ("truth", "whole")]),
        TABLE,
    ),
    "hill-climb": (lambda: NaiveBayes.textbook(structure="hill-climb"), TABLE),
}


def ones_but(value):
    weights = [1.0] * N
    weights[3] = value
    return weights


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([0.0] * N, "sample_weight is zero in every row"),
        (ones_but(np.nan), r"sample_weight must be finite and at least 0; row 3 has nan"),
        (ones_but(np.inf), r"sample_weight must be finite and at least 0; row 3 has inf"),
        (ones_but(-1.0), r"sample_weight must be finite and at least 0; row 3 has -1\.0.*forget"),
        (
            ones_but(1e308),
            r"sample_weight must be 0 or between 1e-100 and 1e\+100; row 3 has 1e\+308",
        ),
        (ones_but(1e-308), r"sample_weight must be 0 or between .*row 3 has 1e-308.*Multiply all"),
        (ones_but(5e-324), r"sample_weight must be 0 or between .*row 3 has 5e-324"),
        (ones_but(10**400), r"sample_weight must be numbers: int too large"),
        (["heavy"] * N, r"sample_weight must be numbers: .*'heavy'"),
        ([1.0, 2.0], r"sample_weight must have one number a row: it has shape \(2,\)"),
    ],
)
@pytest.mark.parametrize("name", MODELS)
def test_weights_that_cannot_be_are_named(name, weights, message):
    make, X = MODELS[name]
    for learn in ("fit", "partial_fit"):
        more = {"classes": [0, 1, 2]} if learn == "partial_fit" else {}
        with pytest.raises(InputError, match=message):
            getattr(make(), learn)(X, Y, sample_weight=weights, **more)


some_weights = st.lists(
    st.sampled_from([0.0, 1e-100, 1e-12, 0.1, 1.0, 3.0, 1e12, 1e100]), min_size=N, max_size=N
).filter(any)


# A single row of some weight may be all that is learned: the others then drift.
@pytest.mark.filterwarnings("ignore::priory.base.errors.DriftWarning")
@pytest.mark.filterwarnings("ignore::priory.base.errors.ImpossibleEvidenceWarning")
@pytest.mark.parametrize("name", MODELS)
def test_weights_of_any_size_give_probabilities(name, tmp_path_factory):
    make, X = MODELS[name]
    path = tmp_path_factory.mktemp("weights") / "model.priory"

    @settings(max_examples=15)
    @given(some_weights)
    def check(weights):
        model = make().fit(X, Y, sample_weight=weights)
        p = model.predict_proba(X)
        assert np.isfinite(p).all()
        np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
        assert (model.classes_[p.argmax(axis=1)] == model.predict(X)).all()
        if hasattr(model, "save"):
            model.save(path)
            assert priory.load(path).statistics_ == model.statistics_

    check()


@given(some_weights)
def test_weights_of_any_size_give_the_right_shares(weights):
    model = NaiveBayes.textbook(smoothing=0).fit({"x": TABLE["label"]}, Y, sample_weight=weights)
    w = [Fraction(v) for v in weights]
    for label in set(TABLE["label"].tolist()):
        here = TABLE["label"] == label
        exact = {
            k: sum((w[i] for i in np.flatnonzero(here & (k == Y))), Fraction(0))
            for k in model.classes_.tolist()
        }
        total = sum(exact.values())
        if total:
            (p,) = model.predict_proba({"x": [label]})
            expected = [float(exact[k] / total) for k in model.classes_.tolist()]
            np.testing.assert_allclose(p, expected, rtol=1e-9, atol=1e-300)


@given(some_weights)
def test_weights_of_any_size_give_the_right_moments(weights):
    X = MODELS["GaussianNB"][1]
    model = GaussianNB(var_smoothing=0).fit(X, Y, sample_weight=np.array(weights))
    moments = model.statistics_.tables["X"]
    w = [Fraction(v) for v in weights]
    for k, label in enumerate(model.classes_):
        rows = np.flatnonzero(label == Y)
        total = sum(w[i] for i in rows)
        for j in range(X.shape[1]) if total else ():
            x = {i: Fraction(X[i, j]) for i in rows}
            mean = sum(w[i] * x[i] for i in rows) / total
            variance = sum(w[i] * (x[i] - mean) ** 2 for i in rows) / total
            assert moments.mean[k, j] == pytest.approx(float(mean), rel=1e-14)
            assert moments.variance[k, j] == pytest.approx(float(variance), rel=1e-9, abs=1e-28)


@pytest.mark.parametrize("make", [GaussianNB, NaiveBayes.textbook])
def test_numbers_and_weights_that_overflow_together_are_named(make):
    X = np.full((N, 2), 1e150) * np.arange(1, 3) / 2
    with pytest.raises(InputError, match=r"sums of column .* overflow.*sample_weight.*Rescale"):
        make().fit(X, Y, sample_weight=np.full(N, 1e10))


def test_products_and_counts_that_overflow_are_named():
    families = {("a", "b"): "gaussian"}
    X = {"a": np.linspace(1e149, 1e150, N), "b": RNG.normal(size=N)}
    with pytest.raises(InputError, match=r"sums of column 'a' overflow"):
        Classifier(Settings.textbook(families=families)).update(X, Y, np.full(N, 1e20))
    with pytest.raises(InputError, match=r"sums of column .* overflow"):
        MultinomialNB().fit(np.full((N, 2), 1e300), Y, sample_weight=np.full(N, 1e20))


def test_rows_whose_weight_is_lost_are_named():
    model = MultinomialNB().fit(COUNTS, Y)
    model.partial_fit(COUNTS, Y, sample_weight=np.full(N, 1e-30))
    with pytest.raises(InputError, match="24 rows that were learned weigh nothing any more"):
        model.forget(COUNTS, Y)
    assert model.statistics_.n_rows == 2 * N  # a call that fails changes nothing


def test_rows_that_fade_for_ever_are_named():
    classifier = Classifier(Settings.textbook()).update(TABLE, Y)
    classifier.decay(1.0, elapsed=1000.0).decay(1.0, elapsed=1000.0)
    with pytest.raises(InputError, match="weigh nothing any more: their weight has faded"):
        classifier.predict(TABLE)
