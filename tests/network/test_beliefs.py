"""Beliefs: closed forms against scipy and numerical integrals; beliefs as hypotheses."""

import time
from math import comb, exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from priory import NaiveBayes
from priory.base import errors
from priory.network import Beta, Dirichlet, GammaPoisson, Hypotheses, Normal


def test_a_coin():
    """Seven heads in ten: Beta(8, 4), and P(heads) = 8/12 by Laplace's rule of succession."""
    coin = Beta().update([True] * 7 + [False] * 3)
    assert (coin.a, coin.b) == (8, 4)
    assert coin.predictive(True) == pytest.approx(2 / 3)
    assert coin.mean == pytest.approx(2 / 3)
    assert coin.variance == pytest.approx(stats.beta(8, 4).var())
    # P(D) = 1 / ((n + 1) (n over k)) of a sequence
    assert Beta().log_evidence([1] * 7 + [0] * 3) == pytest.approx(-log(11 * comb(10, 7)))
    assert Beta().update(np.array([1, 0, 1])) == Beta(3.0, 2.0)


@given(a=st.floats(0.3, 20), b=st.floats(0.3, 20), n=st.integers(0, 12), k=st.integers(0, 12))
def test_beta_against_integrals(a, b, n, k):
    k = min(k, n)
    data = [True] * k + [False] * (n - k)
    belief = Beta(a, b)

    density = stats.beta(a, b).pdf

    def joint(p):
        return p**k * (1 - p) ** (n - k) * density(p)

    found, _ = integrate.quad(joint, 0, 1, limit=200, points=[0.5])
    assert exp(belief.log_evidence(data)) == pytest.approx(found, rel=1e-4)
    one = sum(np.log([belief.update(data[:i]).predictive(x) for i, x in enumerate(data)]))
    assert belief.log_evidence(data) == pytest.approx(one, abs=1e-9)


def test_shortest_intervals():
    belief = Beta(8, 4)
    low, high = belief.hpd(0.9)
    d = belief.distribution
    assert d.cdf(high) - d.cdf(low) == pytest.approx(0.9, abs=1e-9)
    assert d.pdf(low) == pytest.approx(d.pdf(high), rel=1e-4)
    wide = belief.interval(0.9)
    assert high - low < wide[1] - wide[0]
    assert Beta(1, 9).hpd(0.9)[0] == 0.0
    assert Beta(9, 1).hpd(0.9)[1] == 1.0
    with pytest.raises(errors.SettingError, match="level must be between 0 and 1"):
        belief.hpd(1.5)
    symmetric = Normal(3, 2, variance=4)
    assert symmetric.hpd() == pytest.approx(symmetric.interval(), abs=1e-5)


def test_dirichlet():
    urn = Dirichlet({"red": 2, "green": 1, "blue": 1}).update(["red", "blue", "red"])
    assert urn.mean == pytest.approx({"red": 4 / 7, "green": 1 / 7, "blue": 2 / 7})
    assert urn.predictive(["red", "green"]) == pytest.approx([4 / 7, 1 / 7])
    assert urn.interval()["red"] == pytest.approx(stats.beta(4, 3).ppf([0.025, 0.975]).tolist())
    assert urn.variance["red"] == pytest.approx(stats.beta(4, 3).var())
    assert urn.hpd()["red"][0] > urn.interval()["green"][0]
    assert Dirichlet({"a": 1}).hpd() == {"a": (1.0, 1.0)}
    with pytest.raises(errors.InputError, match=r"does not know 'redd'.*Did you mean 'red'"):
        urn.update("redd")
    smoothed = NaiveBayes.textbook(smoothing={"x": Dirichlet({"a": 1, "b": 3})})
    assert smoothed.fit({"x": ["a", "b", "b"]}, [0, 0, 1]).predict({"x": ["a"]}).tolist() == [0]


@given(st.lists(st.floats(-20, 20), min_size=1, max_size=6), st.floats(0.2, 5), st.floats(0.5, 6))
def test_normal_evidence_is_that_of_a_multivariate(x, kappa, variance):
    n = len(x)
    spread = variance * (np.eye(n) + 1 / kappa)
    expected = stats.multivariate_normal(np.full(n, 1.0), spread).logpdf(x)
    assert Normal(1.0, kappa, variance=variance).log_evidence(x) == pytest.approx(
        expected, abs=1e-7
    )
    alpha, beta = 1.5, 2.0
    shape = beta / alpha * (np.eye(n) + 1 / kappa)
    expected = stats.multivariate_t(np.full(n, 1.0), shape, df=2 * alpha).logpdf(x)
    belief = Normal(1.0, kappa, alpha=alpha, beta=beta)
    assert belief.log_evidence(x) == pytest.approx(expected, abs=1e-7)
    halves = belief.update(x[:2]).update(x[2:])
    whole = belief.update(x)
    assert (halves.mean, halves.beta) == pytest.approx((whole.mean, whole.beta))


def test_gamma_poisson():
    belief = GammaPoisson(2, 1).update([3, 5, 4])
    assert (belief.shape, belief.rate) == (14, 4)
    predictive = stats.nbinom(14, 4 / 5)
    assert belief.predictive([0, 4, 9]) == pytest.approx(predictive.pmf([0, 4, 9]))
    assert belief.interval() == pytest.approx(stats.gamma(14, scale=0.25).ppf([0.025, 0.975]))
    for wrong in (-1, 1.5):
        with pytest.raises(errors.InputError, match="takes counts"):
            belief.update(wrong)
    with pytest.raises(errors.InputError, match="takes finite numbers, not 'three'"):
        belief.update("three")


def test_wrong_beliefs_are_refused():
    for make, message in [
        (lambda: Beta(0, 1), "a must be a finite number above 0"),
        (lambda: Beta(1, 1, ("x", "x")), "two different values"),
        (lambda: Dirichlet({}), "counts must be a mapping"),
        (lambda: Dirichlet({"a": 0}), "above 0"),
        (lambda: Normal(mean=float("nan")), "mean must be a finite number"),
        (lambda: Normal(variance=0), "variance must be a finite number above 0"),
        (lambda: GammaPoisson(rate=0), "rate must be"),
    ]:
        with pytest.raises(errors.SettingError, match=message):
            make()
    with pytest.raises(errors.InputError, match="Beta does not know 'heads'"):
        Beta().update("heads")
    with pytest.raises(errors.InputError, match="takes finite numbers"):
        Normal().update([1.0, None])


def test_a_fair_coin_against_a_bent_one():
    """The Bayes factor of 7 heads in 10 is 1/(11 · C(10, 7)) / 2⁻¹⁰."""
    sides = ("t", "h")
    coin = Hypotheses({"fair": {"h": 0.5, "t": 0.5}, "bent": Beta(1, 1, values=sides)})
    after = coin.update(["h"] * 7 + ["t"] * 3)
    expected = 2**10 / (11 * comb(10, 7))
    assert after.bayes_factor("bent", "fair") == pytest.approx(expected)
    one_by_one = coin
    for side in ["h"] * 7 + ["t"] * 3:
        one_by_one = one_by_one.update(side)
    assert one_by_one.bayes_factor("bent", "fair") == pytest.approx(expected)
    bent = after.posterior["bent"]
    assert after.p("h") == pytest.approx((1 - bent) * 0.5 + bent * 8 / 12)
    assert coin.update([]).posterior == coin.posterior
    with pytest.raises(errors.InputError, match="Hypothesis 'bent': Beta does not know 'x'"):
        Hypotheses({"bent": Beta(1, 1, values=sides)}).update("x")


def test_bayes_optimal_and_gibbs():
    """Three hypotheses of .4, .3, .3: the most probable one is outvoted (Mitchell 1997, 6.7)."""
    said = {"h1": {"+": 1.0, "-": 0.0}, "h2": {"+": 0.0, "-": 1.0}, "h3": {"+": 0.0, "-": 1.0}}
    rivals = Hypotheses(said, prior={"h1": 0.4, "h2": 0.3, "h3": 0.3})
    assert rivals.map == "h1"
    assert rivals.predict() == "-"
    assert rivals.predict(method="map") == "+"
    drawn = [rivals.predict(method="gibbs", random_state=seed) for seed in range(200)]
    assert np.mean([d == "+" for d in drawn]) == pytest.approx(0.4, abs=0.1)
    assert rivals.predict(values=["+"]) == "+"
    with pytest.raises(errors.SettingError, match="method must be"):
        rivals.predict(method="best")
    with pytest.raises(errors.SettingError, match="values must list"):
        Hypotheses({"f": lambda x: 0.5}).predict()
    with pytest.raises(errors.SettingError, match="'h1' is none"):
        rivals.predict({"x": [1]})
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b"], 300)
    X = {"x": rng.normal(np.where(y == "a", 0.0, 2.0), 1.0)}
    models = {
        name: NaiveBayes.textbook(families={"x": name}).fit(X, y)
        for name in ("gaussian", "student-t")
    }
    both = Hypotheses(models).update(X, y)
    best = both.predict(X)
    share = both.posterior
    p = sum(share[name] * model.predict_proba(X) for name, model in models.items())
    assert best.tolist() == models["gaussian"].classes_[p.argmax(axis=1)].tolist()
    assert np.mean(both.predict(X, method="gibbs", random_state=0) == y) > 0.7


def test_many_hypotheses_share_one_count():
    """999 coins and 10,000 flips took 69 seconds."""
    coins = {f"{i}": {"h": i / 1000, "t": 1 - i / 1000} for i in range(1, 1000)}
    flips = ["h"] * 7000 + ["t"] * 3000
    rivals = Hypotheses(coins)
    start = time.process_time()
    after = rivals.update(flips)
    assert time.process_time() - start < 0.5
    assert after.map == "700"
    normals = Hypotheses({f"{m}": stats.norm(m, 1) for m in range(50)})
    x = np.random.default_rng(0).normal(17, 1, 2000)
    assert normals.update(x).map == "17"
    expected = stats.norm(17, 1).logpdf(x).sum()
    assert normals.update(x).log_likelihood["17"] == pytest.approx(expected)


def test_they_are_shown():
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    for belief in (Beta(2, 3), Dirichlet({"a": 1, "b": 2}), Normal(), GammaPoisson(2, 1)):
        assert belief.plot().axes[0].lines
    coin = Hypotheses({"<fair>": {"h": 0.5, "t": 0.5}, "bent": Beta(1, 1, ("t", "h"))}).update("h")
    assert len(coin.plot().axes[0].patches) == 4
    assert "&lt;fair&gt;" in coin._repr_html_()
    many = Hypotheses({f"{i}": {"h": i / 100, "t": 1 - i / 100} for i in range(1, 100)})
    assert len(many.plot().axes[0].lines) == 2
    plt.close("all")
