"""Hypotheses: Bayes' rule over explanations, the lecture's three choices, models as rivals."""

from fractions import Fraction
from math import exp, log, log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from priory import Classifier, NaiveBayes
from priory.base import errors
from priory.network import Hypotheses
from priory.tuning.settings import Settings

TEST = {"cancer": {"+": 0.98, "-": 0.02}, "none": {"+": 0.03, "-": 0.97}}
PRIOR = {"cancer": 0.008, "none": 0.992}
LIMES = {"h1": 0.0, "h2": 0.25, "h3": 0.5, "h4": 0.75, "h5": 1.0}
BAGS = {name: {"lime": p, "cherry": 1 - p} for name, p in LIMES.items()}
BAG_PRIOR = {"h1": 0.1, "h2": 0.2, "h3": 0.4, "h4": 0.2, "h5": 0.1}


def test_a_positive_test_for_a_rare_cancer():
    """P(+ | cancer) P(cancer) = .0078, P(+ | none) P(none) = .0298 (Mitchell 1997, 6.2.1)."""
    after = Hypotheses(TEST, PRIOR).update("+")
    exact = Fraction("0.98") * Fraction("0.008")
    exact = exact / (exact + Fraction("0.03") * Fraction("0.992"))
    assert after.posterior["cancer"] == pytest.approx(float(exact), abs=1e-15)
    assert round(after.posterior["cancer"], 2) == 0.21
    assert (after.map, after.mle, after.mdl) == ("none", "cancer", "none")
    assert after.log_evidence == pytest.approx(log(0.0078400 + 0.0297600))
    lengths = after.description_lengths["none"]
    assert lengths == pytest.approx((-log2(0.992), -log2(0.03)))
    assert lengths.total == pytest.approx(-log2(0.992 * 0.03))


def test_bags_of_candy():
    """Ten limes in a row (Russell and Norvig, 20.1)."""
    bags = Hypotheses(BAGS, BAG_PRIOR)
    expected = {name: BAG_PRIOR[name] * LIMES[name] ** 10 for name in LIMES}
    total = sum(expected.values())
    after = bags.update(["lime"] * 10)
    for name, p in after.posterior.items():
        assert p == pytest.approx(expected[name] / total, abs=1e-15)
    assert [round(bags.update(["lime"] * n).p("lime"), 4) for n in range(4)] == [
        0.5,
        0.65,
        0.7308,
        0.7961,
    ]
    assert [bags.update(["lime"] * n).map for n in range(4)] == ["h3", "h3", "h4", "h5"]
    assert bags.update("lime").mle == "h5"
    assert after.bayes_factor("h5", "h4") == pytest.approx(0.75**-10)
    assert bags.posterior == pytest.approx(BAG_PRIOR)  # updating left it as it was
    assert "h5          0.1   0.895628" in repr(after)


@given(
    data=st.lists(st.sampled_from(["lime", "cherry"]), max_size=20),
    cut=st.integers(0, 20),
)
def test_one_at_a_time_is_all_at_once(data, cut):
    bags = Hypotheses(BAGS, BAG_PRIOR)
    together = bags.update(data)
    one_by_one = bags
    for datum in data:
        one_by_one = one_by_one.update(datum)
    in_two = bags.update(data[:cut]).update(data[cut:])
    for other in (one_by_one, in_two):
        assert other.posterior == pytest.approx(together.posterior, abs=1e-12)
        assert other.log_evidence == pytest.approx(together.log_evidence)
    assert sum(together.posterior.values()) == pytest.approx(1)
    assert together.p("lime") + together.p("cherry") == pytest.approx(1)


def test_functions_distributions_and_logarithms_agree():
    data = [0.3, -1.2, 2.5]
    means = {"low": 0.0, "high": 2.0}
    frozen = Hypotheses({name: stats.norm(m, 1) for name, m in means.items()})
    plain = Hypotheses({n: (lambda x, m=m: stats.norm.pdf(x, m, 1)) for n, m in means.items()})
    logs = Hypotheses(
        {n: (lambda x, m=m: -0.5 * (x - m) ** 2 - 0.5 * log(2 * np.pi)) for n, m in means.items()},
        log=True,
    )
    expected = frozen.update(data).posterior
    for other in (plain, logs):
        assert other.update(np.array(data)).posterior == pytest.approx(expected)
    counts = Hypotheses({"often": stats.poisson(9), "seldom": stats.poisson(1)})
    assert counts.update([0, 1, 2]).map == "seldom"


def test_a_thousand_observations_do_not_underflow():
    coin = Hypotheses({"fair": {0: 0.5, 1: 0.5}, "bent": {0: 0.49, 1: 0.51}})
    after = coin.update(np.tile([0, 1], 5000))
    assert after.map == "fair"
    odds = exp(5000 * (log(0.49) + log(0.51) - 2 * log(0.5)))
    assert after.posterior["bent"] == pytest.approx(odds / (1 + odds), rel=1e-9)


def test_lengths_are_priors_in_bits():
    lengths = {"cancer": 7.0, "none": 1.0}
    by_bits = Hypotheses(TEST, lengths=lengths).update("+")
    weights = {name: 2.0**-bits for name, bits in lengths.items()}
    prior = {name: w / sum(weights.values()) for name, w in weights.items()}
    assert by_bits.posterior == pytest.approx(Hypotheses(TEST, prior).update("+").posterior)
    assert by_bits.description_lengths["cancer"].hypothesis == 7.0
    assert by_bits.mdl == by_bits.map


@given(
    prior=st.lists(st.integers(1, 9), min_size=5, max_size=5),
    data=st.lists(st.sampled_from(["lime", "cherry"]), max_size=8),
)
def test_the_shortest_description_is_the_most_probable(prior, data):
    shares = {name: n / sum(prior) for name, n in zip(LIMES, prior, strict=True)}
    after = Hypotheses(BAGS, shares).update(data)
    best = max(after.posterior.values())
    assert after.posterior[after.mdl] == pytest.approx(best)
    assert after.posterior[after.map] == best


def test_a_hypothesis_without_a_prior_stays_impossible():
    after = Hypotheses(TEST, {"cancer": 0.0, "none": 1.0}).update("+")
    assert after.posterior == {"cancer": 0.0, "none": 1.0}
    assert after.description_lengths["cancer"].hypothesis == np.inf
    assert after.mle == "cancer"


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    x = rng.normal(np.where(y, 3.0, 0.0), 1.0) ** 3
    return {"x": x, "z": rng.choice(["p", "q", "r"], 300)}, y


def cut(rows, start, stop):
    X, y = rows
    return {name: column[start:stop] for name, column in X.items()}, y[start:stop]


def test_fitted_models_are_hypotheses(rows):
    families = ("gaussian", "histogram", "kernel-density")
    train, (X, y) = cut(rows, 0, 200), cut(rows, 200, 300)
    models = {name: NaiveBayes({"x": name}).fit(*train) for name in families}
    rivals = Hypotheses(models)
    by_rows = rivals.update(X)
    for name, model in models.items():
        assert by_rows.log_likelihood[name] == pytest.approx(model.score_samples(X).sum())
    by_classes = rivals.update(X, y)
    for name, model in models.items():
        posterior = model.predict_log_proba(X)[np.arange(len(y)), y]
        expected = (model.score_samples(X) + posterior).sum()
        assert by_classes.log_likelihood[name] == pytest.approx(expected)
    assert by_classes.map != "gaussian"  # the cube of a normal is none
    halves = rivals.update(*cut(rows, 200, 250)).update(*cut(rows, 250, 300))
    assert halves.log_likelihood == pytest.approx(by_classes.log_likelihood)


@pytest.mark.parametrize("make", [NaiveBayes, Classifier])
def test_models_that_learn_forecast_every_row(rows, make):
    first, rest = cut(rows, 0, 20), cut(rows, 20, 50)
    models = {}
    for alpha in (0.1, 5.0):
        if make is NaiveBayes:
            models[f"{alpha}"] = NaiveBayes(
                "plain", weights=None, missing="skip", smoothing={"z": alpha}
            ).fit(*first)
        else:
            models[f"{alpha}"] = Classifier(Settings.textbook(smoothing={"z": alpha})).update(
                *first
            )
    after = Hypotheses(models, learning=True).update(*rest)
    for name in models:
        expected = 0.0
        for i in range(20, 50):
            model = NaiveBayes(
                "plain", weights=None, missing="skip", smoothing={"z": float(name)}
            ).fit(*cut(rows, 0, i))
            X, y = cut(rows, i, i + 1)
            expected += (model.score_samples(X) + model.predict_log_proba(X)[0, y])[0]
        assert after.log_likelihood[name] == pytest.approx(expected)
    halves = Hypotheses(models, learning=True).update(*cut(rows, 20, 30))
    assert halves.update(*cut(rows, 30, 50)).log_likelihood == pytest.approx(after.log_likelihood)
    X, _ = cut(rows, 0, 1)  # and the models given are as they were
    again = make is NaiveBayes and NaiveBayes(
        "plain", weights=None, missing="skip", smoothing={"z": 0.1}
    ).fit(*first)
    if again:
        assert models["0.1"].score_samples(X) == pytest.approx(again.score_samples(X))


def test_errors_say_what_is_wrong(rows):
    coin = Hypotheses(TEST, PRIOR)
    with pytest.raises(errors.InputError, match=r"'cancer' does not know '\*'. It knows '\+', '-'"):
        coin.update("*")
    with pytest.raises(errors.ZeroProbabilityError, match="impossible under every hypothesis"):
        Hypotheses({"a": {0: 1.0, 1: 0.0}}).update(1)
    with pytest.raises(errors.SettingError, match=r"add up to 1; they add up to 0\.5"):
        Hypotheses({"a": {0: 0.5}})
    with pytest.raises(errors.SettingError, match="likelihoods must be a mapping"):
        Hypotheses({})
    with pytest.raises(errors.SettingError, match="prior must give a number to each hypothesis"):
        Hypotheses(TEST, {"cancer": 1.0})
    with pytest.raises(errors.SettingError, match=r"prior must add up to 1, but adds up to 0\.9"):
        Hypotheses(TEST, {"cancer": 0.5, "none": 0.4})
    with pytest.raises(errors.SettingError, match="prior or lengths, not both"):
        Hypotheses(TEST, PRIOR, lengths={"cancer": 1, "none": 1})
    with pytest.raises(errors.SettingError, match=r"lengths\['none'\] must be a finite number"):
        Hypotheses(TEST, lengths={"cancer": 1, "none": -1})
    with pytest.raises(errors.SettingError, match="Hypothesis 'a' must be a function"):
        Hypotheses({"a": 3})
    with pytest.raises(errors.InputError, match="gives 1 the likelihood -1"):
        Hypotheses({"a": lambda x: -1.0}).update(1)
    with pytest.raises(errors.InputError, match="gives 1 the log-likelihood nan"):
        Hypotheses({"a": lambda x: np.nan}, log=True).update(1)
    with pytest.raises(errors.SettingError, match=r"no hypothesis 'cancr'.*Did you mean 'cancer'"):
        coin.bayes_factor("cancr", "none")
    with pytest.raises(errors.SettingError, match="y is for hypotheses that are classifiers"):
        coin.update("+", y=[1])
    with pytest.raises(errors.SettingError, match="learning=True is for models"):
        Hypotheses(TEST, learning=True)
    X, y = rows
    model = NaiveBayes().fit(X, y)
    with pytest.raises(errors.InputError, match="does not know the class 7"):
        Hypotheses({"m": model}).update(X, np.full(300, 7))
    with pytest.raises(errors.SettingError, match="learns with classes"):
        Hypotheses({"m": model}, learning=True).update(X)
    nothing = Hypotheses({"a": {0: 1.0, 1: 0.0}, "b": {0: 1.0, 1: 0.0}, "c": {0: 0.0, 1: 1.0}})
    with pytest.raises(errors.ZeroProbabilityError, match="impossible under 'a' and under 'b'"):
        nothing.update(1).bayes_factor("a", "b")
