"""Histogram against plain counting."""

import numpy as np
import pytest
from scipy.special import logsumexp

from priory import Classifier, Settings
from priory.base.errors import SettingError
from priory.families import Histogram
from priory.families.histogram import HistogramParameters
from priory.families.priors import Laplace, MEstimate


@pytest.fixture
def data():
    rng = np.random.default_rng(10)
    y = rng.integers(0, 2, 240)
    return {"x": rng.normal(loc=1.5 * y)}, y


@pytest.mark.parametrize("family", [Histogram(bins=6), Histogram(), Histogram(cut="mdl")])
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_agrees_with_plain_counting(data, family, alpha):
    X, y = data
    x = X["x"]
    classifier = Classifier(Settings.textbook(family, alpha)).update(X, y)
    cuts = classifier.model.terms[0].parameters.cuts
    assert len(cuts) >= 1
    edges = np.array([x.min(), *cuts, x.max()])
    bins = np.searchsorted(cuts, x, side="left")
    counts = np.stack([np.bincount(bins[y == k], minlength=len(cuts) + 1) for k in (0, 1)])
    p = (counts + alpha) / (counts.sum(axis=1, keepdims=True) + alpha * (len(cuts) + 1))
    with np.errstate(divide="ignore"):
        scores = np.log(p[:, bins]).T + np.log(np.bincount(y) / len(y))
    np.testing.assert_allclose(classifier.predict_joint_log_proba(X), scores, rtol=0, atol=1e-10)
    widths, n = np.diff(edges), np.bincount(bins, minlength=len(cuts) + 1)
    within = np.ones(len(n))
    within[[0, -1]] -= 1 / (n[[0, -1]] + 2)  # the tails have the rest
    expected = logsumexp(scores, axis=1) + np.log(within / widths)[bins]
    np.testing.assert_allclose(classifier.score_samples(X), expected, rtol=0, atol=1e-10)


def test_density_adds_up_to_one(data):
    X, y = data
    classifier = Classifier(Settings.textbook(Histogram(bins=8), 1.0)).update(X, y)
    edges = classifier.model.terms[0].parameters.edges
    middle, widths = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    inside = np.exp(classifier.score_samples({"x": middle})) @ widths
    # An exponential tail has as much as its density where it begins, times its width.
    ends = {"x": [np.nextafter(edges[0], -np.inf), np.nextafter(edges[-1], np.inf)]}
    beyond = np.exp(classifier.score_samples(ends)) @ widths[[0, -1]]
    assert inside + beyond == pytest.approx(1.0, rel=1e-12)
    n = classifier.statistics.n_rows
    assert 1 / n < beyond < 3 / n  # one row more lies beyond one of the two ends


@pytest.mark.parametrize("bins", [1, 2, 5])
def test_density_of_draws(data, bins):
    X, y = data
    classifier = Classifier(Settings.textbook(Histogram(bins=bins), 1.0)).update(X, y)
    edges = classifier.model.terms[0].parameters.edges
    drawn = classifier.sample(40_000, random_state=0)[0]["x"]
    wide = edges[-1] - edges[0]
    for low, high in ((edges[0] - 9 * wide, edges[0]), (edges[-1], edges[-1] + 9 * wide)):
        x = np.linspace(low, high, 20_001)[1:-1]
        mass = np.trapezoid(np.exp(classifier.score_samples({"x": x})), x)
        among = float(((drawn > low) & (drawn < high)).mean())
        assert among == pytest.approx(mass, abs=4 * np.sqrt(mass / 40_000) + 1e-4)


def test_a_lone_value_has_tails_too():
    classifier = Classifier(Settings.textbook(Histogram(), 1.0)).update(
        {"x": [2.0] * 8}, [0, 1] * 4
    )
    at, near, far = classifier.score_samples({"x": [2.0, 2.5, 9.0]})
    assert np.isfinite(far) and at > near > far


def test_beyond_the_numbers_seen(data):
    X, y = data
    classifier = Classifier(Settings.textbook(Histogram(bins=5), 1.0)).update(X, y)
    ends = {"x": [X["x"].min(), X["x"].max()]}
    far = {"x": [-1e9, 1e9]}
    np.testing.assert_array_equal(
        classifier.predict_joint_log_proba(far), classifier.predict_joint_log_proba(ends)
    )
    near = {"x": [ends["x"][0] - 0.1, ends["x"][1] + 0.1]}
    assert (classifier.score_samples(near) < classifier.score_samples(ends)).all()
    assert np.isfinite(classifier.score_samples(far)).all()
    assert (classifier.score_samples(far) < -1e6).all()


def test_default_is_the_root_of_n_between_5_and_20():
    for n, bins in ((16, 5), (100, 10), (1000, 20)):
        x = np.arange(n, dtype=float)
        classifier = Classifier(Settings.textbook(families="histogram")).update(
            {"x": x}, np.arange(n) % 2
        )
        assert len(classifier.model.terms[0].parameters.cuts) == bins - 1


def test_gap_says_nothing(data):
    X, y = data
    classifier = Classifier(Settings.textbook(families="histogram", smoothing=0.0)).update(X, y)
    gap = {"x": [np.nan]}
    np.testing.assert_array_equal(
        classifier.predict_joint_log_proba(gap)[0], classifier.model.log_prior
    )
    assert classifier.score_samples(gap)[0] == pytest.approx(0.0, abs=1e-15)


def test_m_estimate():
    x, y = np.arange(8.0), [0, 0, 0, 1, 1, 1, 1, 1]
    settings = Settings.textbook(Histogram(bins=2), MEstimate(4.0, "marginal"))
    p = np.exp(Classifier(settings).update({"x": x}, y).model.terms[0].parameters.log_p)
    # Both bins hold 4 of 8 rows, so each is lent 4 · 5/10 = 2.
    np.testing.assert_allclose(p.T, [[5 / 7, 2 / 7], [3 / 9, 6 / 9]], rtol=1e-14)


def test_constant_column_is_one_bin():
    classifier = Classifier(Settings.textbook(families="histogram")).update(
        {"x": [2.0] * 4}, [0, 0, 1, 1]
    )
    np.testing.assert_allclose(classifier.predict_proba({"x": [2.0, 7.0]}), 0.5, rtol=1e-14)
    # A point mass, and a tail on either side: a fifth number may be another one.
    assert np.exp(classifier.score_samples({"x": [2.0]})[0]) == pytest.approx(1 - 2 / 6)


def test_sample_frequencies():
    p = np.array([[0.5, 0.0], [0.3, 0.1], [0.2, 0.9]])
    with np.errstate(divide="ignore"):
        parameters = HistogramParameters(np.array([1.0, 3.0]), np.log(p), 0.0, 10.0, np.zeros(2))
    y = np.repeat(np.array([0, 1], dtype=np.int32), 20_000)
    drawn = Histogram().sample(parameters, y, np.random.default_rng(0)).reshape(2, -1)
    for k in (0, 1):
        found = np.histogram(drawn[k], bins=[0, 1, 3, 10])[0] / 20_000
        np.testing.assert_allclose(found, p[:, k], atol=0.02)
        assert drawn[k][drawn[k] > 3].mean() == pytest.approx(6.5, abs=0.1)


def test_linear_form_is_the_log_odds(data):
    X, y = data
    classifier = Classifier(Settings.textbook(Histogram(bins=4), Laplace(1.0))).update(X, y)
    form, scores = classifier.linear_form(), classifier.predict_joint_log_proba(X)
    cuts = classifier.model.terms[0].parameters.cuts
    one_hot = np.eye(4)[np.searchsorted(cuts, X["x"], side="left")]
    assert form.features[0] == f"x in (-inf, {cuts[0]:g}]"
    np.testing.assert_allclose(one_hot @ form.w + form.b, scores[:, 1] - scores[:, 0], atol=1e-10)


def test_settings_that_make_no_sense_are_refused():
    with pytest.raises(SettingError, match=r"cut must be 'equal-frequency' or 'mdl', not 'equal'"):
        Histogram(cut="equal")
    with pytest.raises(SettingError, match=r"bins must be at least 1 .* not 0"):
        Histogram(bins=0)
    with pytest.raises(SettingError, match=r"bins .* is for equal-frequency cuts alone, not 3"):
        Histogram(cut="mdl", bins=3)
