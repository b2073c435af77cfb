"""Posteriors over parameters: against the model, SciPy, and data sets drawn from a known prior."""

import numpy as np
import pytest
from scipy import stats
from sklearn.exceptions import NotFittedError

from priory import NaiveBayes
from priory.base.errors import NoPosteriorError, SchemaError, SettingError
from priory.families import Binomial, KernelDensity, MultivariateGaussian
from priory.families.posteriors import (
    DirichletPosterior,
    GammaPosterior,
    NormalInverseGammaPosterior,
)
from priory.families.priors import Dirichlet, Laplace, MEstimate, NormalInverseGamma


@pytest.fixture
def data():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, 60)
    table = {
        "colour": np.array(["blue", "green", "red", "white"])[(y + rng.integers(0, 3, 60)) % 4],
        "wet": rng.random(60) < 0.2 + 0.3 * y,
        "calls": rng.poisson(1.0 + 2 * y).astype(float),
        "length": rng.normal(y, 1.0 + y),
    }
    return table, np.array(["a", "b", "c"])[y]


def of(data, column, family, smoothing):
    table, y = data
    model = NaiveBayes(
        weights=None, missing="skip", families={column: family}, smoothing=smoothing
    ).fit({column: table[column]}, y)
    return model, model.posterior(column)


def likelihood(model, column, values):
    return np.exp(model.predict_joint_log_proba({column: values}) - model.model_.log_prior)


# Probabilities


@pytest.mark.parametrize(
    "smoothing",
    [
        0.5,
        1.0,
        MEstimate(3.0, "marginal"),
        Dirichlet({"blue": 1, "green": 2, "red": 3, "white": 4}),
    ],
    ids=str,
)
def test_the_mean_is_the_smoothed_probability(data, smoothing):
    model, belief = of(data, "colour", "categorical", smoothing)
    assert belief.values == ("blue", "green", "red", "white")
    expected = likelihood(model, "colour", list(belief.values)).T
    np.testing.assert_allclose(belief.mean, expected, rtol=1e-12)


def test_each_probability_is_beta_distributed(data):
    table, y = data
    _, belief = of(data, "colour", "categorical", 2.0)
    for k, label in enumerate("abc"):
        n = np.sum(y == label)
        for v, value in enumerate(belief.values):
            seen = np.sum((y == label) & (table["colour"] == value))
            beta = stats.beta(seen + 2.0, n - seen + 6.0)
            assert belief.mean[k, v] == pytest.approx(beta.mean(), rel=1e-12)
            assert belief.variance[k, v] == pytest.approx(beta.var(), rel=1e-10)
            for level in (0.5, 0.95):
                ends = [end[k, v] for end in belief.interval(level)]
                np.testing.assert_allclose(ends, beta.interval(level), rtol=1e-9)


def test_bernoulli_and_binomial_are_betas(data):
    table, y = data
    model, belief = of(data, "wet", "bernoulli", 1.0)
    assert belief.values == (False, True)
    np.testing.assert_allclose(belief.mean[:, 1], likelihood(model, "wet", [True])[0], rtol=1e-12)
    _, belief = of(data, "calls", Binomial(50), 1.0)
    sums, n = np.array([[table["calls"][y == c].sum(), 50 * np.sum(y == c)] for c in "abc"]).T
    low, high = belief.interval(0.8)
    np.testing.assert_allclose(low[:, 1], stats.beta.ppf(0.1, sums + 1, n - sums + 1), rtol=1e-9)
    np.testing.assert_allclose(high[:, 1], stats.beta.ppf(0.9, sums + 1, n - sums + 1), rtol=1e-9)


def test_columns_of_counts_each_have_one():
    X, y = np.array([[2.0, 0.0, 1.0], [0.0, 3.0, 1.0], [1.0, 1.0, 0.0]]), [0, 1, 1]
    for family in ("multinomial", "bernoulli"):
        names = ("x0", "x1", "x2")
        model = NaiveBayes(
            weights=None, missing="skip", families={names: family}, smoothing=1.0
        ).fit(X, y)
        belief = model.posterior("x1")
        log_p = model.model_.terms[0].parameters
        on = np.exp(log_p.table if family == "multinomial" else log_p.log_on)
        where = belief.values.index("x1") if family == "multinomial" else belief.values.index(True)
        np.testing.assert_allclose(belief.mean[:, where], on[1], rtol=1e-12)


def test_bins_and_combinations(data):
    table, y = data
    model, belief = of(data, "length", "histogram", 1.0)
    assert isinstance(belief, DirichletPosterior)
    np.testing.assert_allclose(belief.mean.sum(axis=1), 1.0)
    columns = {"colour": table["colour"], "wet": table["wet"]}
    model = NaiveBayes(
        weights=None, missing="skip", families={("colour", "wet"): "joint"}, smoothing=1.0
    ).fit(columns, y)
    belief = model.posterior("wet")
    assert belief.values[-1] == "any other"
    some = {"colour": ["blue"], "wet": [True]}
    expected = np.exp(model.predict_joint_log_proba(some)[0] - model.model_.log_prior)
    found = belief.mean[:, belief.values.index(("blue", True))]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(belief.mean.sum(axis=1), 1.0)


def test_without_a_prior_what_was_never_seen_is_certain():
    model = NaiveBayes.textbook(0).fit({"x": ["a", "a", "b", "c"]}, [0, 0, 1, 1])
    low, high = model.posterior("x").interval()
    assert low[0].tolist() == high[0].tolist() == [1.0, 0.0, 0.0]
    assert 0 < low[1, 1] < high[1, 1] < 1


# Rates, means and variances


@pytest.mark.parametrize("smoothing", [Laplace(2.0), MEstimate(2.0)], ids=str)
def test_rates_are_gamma_distributed(data, smoothing):
    table, y = data
    model, belief = of(data, "calls", "poisson", smoothing)
    overall = table["calls"].mean()
    for k, label in enumerate("abc"):
        mine = table["calls"][y == label]
        gamma = stats.gamma(mine.sum() + 2 * overall, scale=1 / (len(mine) + 2))
        assert belief.mean[k] == pytest.approx(gamma.mean(), rel=1e-10)
        assert belief.variance[k] == pytest.approx(gamma.var(), rel=1e-10)
        ends = [end[k] for end in belief.interval(0.9)]
        np.testing.assert_allclose(ends, gamma.interval(0.9), rtol=1e-9)
    np.testing.assert_allclose(belief.mean, model.model_.terms[0].parameters.rate[:, 0])


@pytest.mark.parametrize("family", ["gaussian", "student-t"])
def test_means_and_variances_agree_with_scipy(data, family):
    table, y = data
    prior = NormalInverseGamma(mean=0.5, kappa=2.0, alpha=3.0, beta=4.0)
    _, belief = of(data, "length", family, prior)
    for k, label in enumerate("abc"):
        x = table["length"][y == label]
        n, mean = len(x), x.mean()
        kappa, alpha = 2.0 + n, 3.0 + n / 2
        beta = 4.0 + ((x - mean) ** 2).sum() / 2 + 2.0 * n * (mean - 0.5) ** 2 / (2 * kappa)
        mu = stats.t(2 * alpha, (1.0 + n * mean) / kappa, np.sqrt(beta / (alpha * kappa)))
        variance = stats.invgamma(alpha, scale=beta)
        assert belief.mean[k] == pytest.approx(mu.mean(), rel=1e-10)
        assert belief.variance[k] == pytest.approx(mu.var(), rel=1e-10)
        assert belief.variance_mean[k] == pytest.approx(variance.mean(), rel=1e-10)
        ends = [end[k] for end in belief.interval(0.9)]
        np.testing.assert_allclose(ends, mu.interval(0.9), rtol=1e-9)
        ends = [end[k] for end in belief.variance_interval(0.9)]
        np.testing.assert_allclose(ends, variance.interval(0.9), rtol=1e-9)


# Coverage: of parameters drawn from the prior, a 90 % interval holds 90 %

N_SETS, LEVEL = 1000, 0.9
ALLOWED = 4 * np.sqrt(LEVEL * (1 - LEVEL) / N_SETS)
"""Four standard deviations of the share of a thousand."""


def covered(ends, truth):
    low, high = ends
    return np.mean((low <= truth) & (truth <= high))


def test_intervals_of_probabilities_cover():
    rng = np.random.default_rng(0)
    prior = Dirichlet({"x": 1.0, "y": 2.0, "z": 0.5})
    truth = rng.dirichlet([1.0, 2.0, 0.5], N_SETS)
    # A class for each data set: one fit answers for all of them.
    y = np.repeat(np.arange(N_SETS), 12)
    values = np.concatenate([rng.choice(["x", "y", "z"], 12, p=p) for p in truth])
    belief = (
        NaiveBayes(weights=None, missing="skip", smoothing={"v": prior})
        .fit({"v": values}, y)
        .posterior("v")
    )
    for v in range(3):
        ends = [end[:, v] for end in belief.interval(LEVEL)]
        assert covered(ends, truth[:, v]) == pytest.approx(LEVEL, abs=ALLOWED)


def test_intervals_of_means_and_variances_cover():
    rng = np.random.default_rng(1)
    prior = NormalInverseGamma(mean=3.0, kappa=0.5, alpha=3.0, beta=4.0)
    variance = stats.invgamma(3.0, scale=4.0).rvs(N_SETS, random_state=rng)
    mean = rng.normal(3.0, np.sqrt(variance / 0.5))
    y = np.repeat(np.arange(N_SETS), 6)
    x = rng.normal(mean[y], np.sqrt(variance[y]))
    model = NaiveBayes(weights=None, missing="skip", families="student-t", smoothing=prior).fit(
        {"x": x}, y
    )
    belief = model.posterior("x")
    assert covered(belief.interval(LEVEL), mean) == pytest.approx(LEVEL, abs=ALLOWED)
    assert covered(belief.variance_interval(LEVEL), variance) == pytest.approx(LEVEL, abs=ALLOWED)


def test_intervals_of_rates_cover():
    rng = np.random.default_rng(2)
    # Poisson's prior is worth m rows of the overall rate, here 5: Gamma(2 · 5, 2).
    truth = rng.gamma(10.0, 1 / 2, N_SETS)
    y = np.repeat(np.arange(N_SETS), 4)
    x = rng.poisson(truth[y]).astype(float)
    model = NaiveBayes(
        weights=None, missing="skip", families="poisson", smoothing=MEstimate(2.0)
    ).fit({"x": x}, y)
    found = covered(model.posterior("x").interval(LEVEL), truth)
    assert found == pytest.approx(LEVEL, abs=ALLOWED)


# What has none, and how they look


@pytest.mark.parametrize(
    ("columns", "family", "name"),
    [
        (("calls",), KernelDensity(), "kernel-density"),
        (("calls", "length"), MultivariateGaussian(), "multivariate-gaussian"),
        (("calls", "length"), "complement", "complement"),
    ],
    ids=lambda x: str(x)[:20],
)
def test_families_without_one_refuse(data, columns, family, name):
    table, y = data
    X = {c: np.abs(table[c]) for c in columns}
    model = NaiveBayes(
        weights=None, missing="skip", families={columns if len(columns) > 1 else columns[0]: family}
    ).fit(X, y)
    with pytest.raises(NoPosteriorError, match=rf"Column 'calls': {name} has no conjugate"):
        model.posterior("calls")


def test_unknown_column_is_named(data):
    model = NaiveBayes.textbook().fit(*data)
    with pytest.raises(SchemaError, match=r"no column 'color'.*Did you mean 'colour'\?"):
        model.posterior("color")
    with pytest.raises(NotFittedError, match="not fitted"):
        NaiveBayes().posterior("colour")


@pytest.mark.parametrize("level", [0, 1, -0.5, 95])
def test_level_is_a_share(data, level):
    model = NaiveBayes.textbook().fit(*data)
    for column in ("colour", "length"):
        with pytest.raises(SettingError, match=r"level must be between 0 and 1"):
            model.posterior(column).interval(level)


def test_they_print_as_tables():
    counts = np.array([[3.0, 4.0], [4.0, 3.0]])
    lines = str(DirichletPosterior(("No", "Yes"), ("Rain", "Sunny"), counts)).splitlines()
    assert lines[0].split() == ["Rain", "Sunny"]
    assert lines[1].split() == ["No", "0.429", "(0.118–0.777)", "0.571", "(0.223–0.882)"]
    lines = str(GammaPosterior(("a",), np.array([8.0]), np.array([4.0]))).splitlines()
    assert [line.split() for line in lines] == [["rate"], ["a", "2", "(0.8635–3.606)"]]
    one, ten = np.array([1.0]), np.array([10.0])
    lines = str(NormalInverseGammaPosterior(("a",), one, ten, ten, ten)).splitlines()
    assert lines[0].split() == ["mean", "variance"]
    assert lines[1].split()[:3] == ["a", "1", "(0.3404–1.66)"]
