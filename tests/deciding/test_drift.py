"""Drift: p-values that are right where nothing drifted, and small where something did."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.stats import chi2_contingency

from priory import Classifier, NaiveBayes, Settings, TextNB
from priory.base.errors import InputError
from priory.deciding.new_rows import homogeneity
from priory.deciding.priors import estimate_prior


def drawn(n, rng):
    y = rng.integers(0, 2, n)
    X = pd.DataFrame(
        {
            "number": rng.normal(size=n) + y,
            "whole": rng.poisson(3, n).astype(float),
            "skewed": rng.exponential(size=n) ** 3,
            "label": rng.choice(list("abcd"), n, p=[0.6, 0.3, 0.08, 0.02]),
            "rare": [f"v{i}" for i in rng.zipf(1.6, n).clip(1, 60)],
            "flag": rng.random(n) < 0.03,
        }
    )
    X.loc[rng.random(n) < 0.15, "number"] = np.nan
    return X, y


def test_p_values_are_right_where_nothing_drifted():
    p, corrected = [], []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        model = Classifier(Settings.textbook()).update(*drawn(400, rng))
        found = model.compare_with(drawn(250, rng)[0])
        p.append([one.p for one in found.columns])
        corrected.append(min(one.p_corrected for one in found.columns))
    shares = (np.array(p) <= 0.05).mean()
    assert 0.03 < shares < 0.07
    assert (np.array(p) <= 0.5).mean() == pytest.approx(0.5, abs=0.07)
    assert np.mean(np.array(corrected) <= 0.05) < 0.1


def test_p_values_of_the_prior_are_right_where_the_model_is():
    p = []
    for seed in range(120):
        rng = np.random.default_rng(seed)
        (X, y), (new, _) = drawn(400, rng), drawn(250, rng)
        model = Classifier(Settings.textbook()).update(X[["number"]], y)
        p.append(model.compare_with(new[["number"]]).prior.p_value)
    assert np.mean(np.array(p) <= 0.05) < 0.11


@pytest.mark.filterwarnings("ignore::priory.base.errors.DriftWarning")
@pytest.mark.parametrize("column", ["number", "whole", "skewed", "label", "rare", "flag"])
def test_each_column_that_drifts_is_found(column):
    rng = np.random.default_rng(1)
    X, y = drawn(600, rng)
    new, _ = drawn(400, rng)
    changed = {
        "number": lambda x: x + 1.0,
        "whole": lambda x: x + 2.0,
        "skewed": lambda x: x * 6,
        "label": lambda x: x.replace("a", "never seen"),
        "rare": lambda x: "v1",
        "flag": lambda x: ~x,
    }[column]
    found = (
        Classifier(Settings.textbook())
        .update(X, y)
        .compare_with(new.assign(**{column: changed(new[column])}))
    )
    assert found.drifted == (column,)
    assert found.columns[0].column == column and found.columns[0].distance > 0.2


@pytest.mark.filterwarnings("ignore::priory.base.errors.DriftWarning")
def test_shares_of_what_is_unseen_and_missing():
    model = Classifier(Settings.textbook()).update(
        {"x": [0.0, 1.0, 2.0, None], "c": ["a", "b", "a", "b"]}, [0, 1, 0, 1]
    )
    new = {"x": [0.5, 3.0, None, None], "c": ["a", "z", "z", None]}
    of = {one.column: one for one in model.compare_with(new).columns}
    assert (of["x"].unseen, of["x"].missing, of["x"].learned_missing) == (0.5, 0.5, 0.25)
    assert of["c"].unseen == pytest.approx(2 / 3) and of["c"].missing == 0.25
    assert of["c"].distance == pytest.approx(0.5 * (0.25 + 0.5 + 0.5 + 0.25))


def test_the_test_is_that_of_scipy():
    rng = np.random.default_rng(2)
    for _ in range(20):
        learned, new = rng.integers(20, 90, 6), rng.integers(20, 60, 6)
        expected = chi2_contingency(np.stack([learned, new]), correction=False).pvalue
        assert homogeneity(learned.astype(float), new.astype(float)) == pytest.approx(expected)
    assert homogeneity(np.array([9.0, 1.0]), np.array([1.0, 0.0])) == 1.0  # too few to tell
    assert homogeneity(np.zeros(2), np.array([3.0, 4.0])) == 1.0


@pytest.mark.filterwarnings("ignore::priory.base.errors.DriftWarning")
@pytest.mark.parametrize(("n_learned", "n_new"), [(1_000, 6), (1_000, 40), (30, 400)])
def test_few_rows_drift_too(n_learned, n_new):
    """Numbers beyond all learned, and labels never learned, are found in few rows or by few."""
    rng = np.random.default_rng(0)

    def rows(n, shift=0.0, label="a"):
        return {"x": rng.normal(shift, 1, n), "c": [label] * n, "same": rng.normal(size=n)}

    model = Classifier(Settings.textbook()).update(rows(n_learned), np.arange(n_learned) % 2)
    found = model.compare_with(rows(n_new, 9.0, "z"))
    assert set(found.drifted) == {"x", "c"}
    assert model.compare_with(rows(n_new)).drifted == ()


def test_p_values_of_few_rows_are_no_smaller_than_they_should_be():
    rng = np.random.default_rng(1)
    p = []
    for _ in range(300):
        shares = rng.dirichlet(np.ones(12))
        learned, new = rng.multinomial(300, shares), rng.multinomial(15, shares)
        p.append(homogeneity(learned.astype(float), new.astype(float)))
    assert np.mean(np.array(p) <= 0.05) < 0.075
    assert np.mean(np.array(p) <= 0.5) == pytest.approx(0.47, abs=0.08)


def test_the_prior_is_told():
    rng = np.random.default_rng(3)
    X, y = drawn(800, rng)
    new, labels = drawn(2_000, rng)
    kept = (labels == 1) | (rng.random(2_000) < 0.1)
    model = NaiveBayes().fit(X, y)
    found = model.compare_with(new[kept])
    assert found.prior.p_value < 1e-3 and found.is_calibrated
    assert "drifted" in str(found) and "class prior\n" in str(found)
    textbook = NaiveBayes.textbook().fit(X, y).compare_with(new)
    assert "not to be trusted" in str(textbook)
    assert found.to_dict()["rows"] == kept.sum() and len(found.to_frame()) == 6
    assert "drifted" in found._repr_html_() and "6 columns" in repr(found)
    found.plot()
    plt.close("all")


def test_words_and_counts_drift():
    rng = np.random.default_rng(4)
    words = np.array([f"w{i}" for i in range(50)])

    def texts(n, among):
        return [" ".join(rng.choice(among, 8)) for _ in range(n)]

    y = rng.integers(0, 2, 300)
    model = TextNB().fit(texts(300, words), y)
    same, other = model.compare_with(texts(200, words)), model.compare_with(texts(200, words[:30]))
    assert not same.drifted and other.drifted
    assert model.compare_with(["entirely new words"] * 30).columns[0].unseen == 1.0
    counts = sp.csr_matrix(rng.poisson(0.5, (300, 40)))
    model = NaiveBayes.textbook().fit(counts, y)
    assert not model.compare_with(sp.csr_matrix(rng.poisson(0.5, (200, 40)))).drifted
    assert model.compare_with(sp.csr_matrix(rng.poisson(2.0, (200, 40)))).drifted


def test_no_rows():
    model = Classifier(Settings.textbook()).update({"x": [1.0, 2.0]}, [0, 1])
    with pytest.raises(InputError, match="no rows to compare"):
        model.compare_with({"x": np.empty(0)})


@pytest.mark.parametrize("n", [10, 100, 1_000])
def test_where_one_class_is_left_the_interval_says_how_sure_that_is(n):
    """At the edge log-odds have no end: the interval was 0 to 1 there, of however many rows."""
    p = np.tile([0.95, 0.04, 0.01], (n, 1))
    found = estimate_prior(p, np.array([0.4, 0.3, 0.3]), ("a", "b", "c"))
    assert found.prior[0] > 0.99 and found.high[0] == 1.0
    assert 1 - 5 / n <= found.low[0] <= found.prior[0] - 0.5 / n
    assert (found.high[1:] < 10 / n).all()
    assert ((found.low <= found.prior) & (found.prior <= found.high)).all()


@pytest.mark.parametrize("K", [2, 4])
@pytest.mark.parametrize("share", [0.0, 0.02, 0.3])
def test_the_interval_of_a_prior_covers(K, share):
    """Of rare classes too, whose estimate is often 0."""
    rng = np.random.default_rng(K)
    prior = np.append(share, np.full(K - 1, (1 - share) / (K - 1)))
    learned, means, covered = np.full(K, 1 / K), 1.5 * np.arange(K), []
    for _ in range(100):
        x = rng.normal(means[rng.choice(K, 200, p=prior)])
        p = np.exp(-np.square(x[:, None] - means) / 2)
        found = estimate_prior(p / p.sum(axis=1, keepdims=True), learned, tuple(range(K)))
        covered.append((found.low <= prior) & (prior <= found.high))
    assert np.mean(covered, axis=0)[[0, -1]].min() >= 0.88  # three standard errors
