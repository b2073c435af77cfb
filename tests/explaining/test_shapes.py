"""Shapes are what explanations add up, and their bands hold the truth as often as they say."""

import numpy as np
import pytest
from tests.model.test_explanation import FAMILIES, mixed

from priory import Classifier, NaiveBayes, Settings
from priory.base.errors import InputError, SettingError
from priory.examples import play_tennis


@pytest.mark.parametrize("families", FAMILIES[:5], ids=range(5))
def test_shapes_are_what_explanations_say(families):
    X, y = mixed(1, 120, 3)
    classifier = Classifier(Settings.textbook(families)).fit(X, y)
    shapes = classifier.shapes()
    assert set(shapes) == set(X)
    for name, shape in shapes.items():
        nothing = {c: [None] * len(shape.values) for c in X}
        said = classifier.explain({**nothing, name: shape.values}).to_frame("column")[name]
        told = said.to_numpy().reshape(shape.log_odds.shape)
        np.testing.assert_allclose(shape.log_odds, told, atol=1e-9)
        column = np.array([v for v in X[name].tolist() if v is not None and v == v], dtype=object)
        assert shape.counts.sum() == pytest.approx(len(column))


def test_corrections_and_weights_are_in_it():
    X, y = mixed(2, 400, 2)
    classifier = Classifier(Settings(pairs=None)).fit(X, y)
    for name, shape in classifier.shapes().items():
        nothing = {c: [None] * len(shape.values) for c in X}
        frame = classifier.explain({**nothing, name: shape.values}).to_frame()
        own = [c for c in frame.columns if c in (name, f"{name}, corrected")]
        told = frame[own].sum(axis=1).to_numpy().reshape(shape.log_odds.shape)
        np.testing.assert_allclose(shape.log_odds, told, atol=1e-9)
        assert shape.is_corrected == (f"{name}, corrected" in frame)


def test_bands_of_labels_hold_the_truth():
    rng = np.random.default_rng(0)
    inside = []
    for _ in range(150):
        truth = rng.dirichlet(np.ones(4), size=2)
        y = rng.integers(0, 2, 80)
        x = np.array([rng.choice(4, p=truth[k]) for k in y])
        domain = {"x": [f"v{v}" for v in x]}
        shape = NaiveBayes.textbook().fit(domain, y).shapes()["x"]
        for v, name in enumerate(shape.values):
            code = int(name[1:])
            odds = np.log(truth[1, code] / truth[0, code])
            inside.append(shape.low[v, 1] <= odds <= shape.high[v, 1])
    assert 0.86 < np.mean(inside) < 0.94


def test_bands_of_normals_hold_the_truth():
    rng = np.random.default_rng(0)
    inside = []
    for _ in range(120):
        mean, spread = rng.normal(0, 1, 2), rng.uniform(0.5, 2, 2)
        y = rng.integers(0, 2, 200)
        shape = NaiveBayes.textbook().fit({"x": rng.normal(mean[y], spread[y])}, y).shapes()["x"]
        z = (shape.values[:, None] - mean) / spread
        log_p = -0.5 * z**2 - np.log(spread)
        odds = log_p[:, 1] - log_p[:, 0]
        inside.append(np.mean((shape.low[:, 1] <= odds) & (odds <= shape.high[:, 1])))
    assert 0.85 < np.mean(inside) < 0.95


@pytest.mark.parametrize("rows", [12, 100])
def test_bands_of_counts_hold_the_truth(rows):
    rng = np.random.default_rng(0)
    inside = []
    for _ in range(200):
        rate, y = rng.gamma(3, 1, 2), np.arange(rows) % 2
        model = NaiveBayes.textbook(families={"x": "poisson"}).fit({"x": rng.poisson(rate[y])}, y)
        shape = model.shapes()["x"]
        odds = shape.values * np.log(rate[1] / rate[0]) - rate[1] + rate[0]
        inside.append(np.mean((shape.low[:, 1] <= odds) & (odds <= shape.high[:, 1])))
    assert 0.85 < np.mean(inside) < 0.95


def test_a_family_without_a_posterior_has_no_band():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 100)
    model = NaiveBayes.textbook(families={"x": "kernel-density"}).fit({"x": rng.normal(y)}, y)
    shape = model.shapes()["x"]
    assert np.isnan(shape.low).all() and np.isnan(shape.high).all()
    shape.plot().canvas.draw()


def test_what_is_impossible_is_so_in_the_band():
    shapes = NaiveBayes.textbook(smoothing=0).fit(*play_tennis()).shapes()
    shape = shapes["outlook"]
    overcast = shape.values.tolist().index("Overcast")
    for ends in (shape.log_odds, shape.low, shape.high):
        assert ends[overcast].tolist() == [-np.inf, np.inf]
        assert np.isfinite(np.delete(ends, overcast, axis=0)).all()
    shapes.plot().canvas.draw()


def test_errors():
    model = NaiveBayes.textbook().fit(*play_tennis())
    with pytest.raises(SettingError, match=r"columns must be columns .*Did you mean 'wind'"):
        model.shapes(["windy"])
    with pytest.raises(SettingError, match="columns must be a list of columns, not 'wind'"):
        model.shapes("wind")
    with pytest.raises(SettingError, match="level must be between 0 and 1"):
        model.shapes(level=90)
    with pytest.raises(SettingError, match="There is no shape of 'windy'"):
        _ = model.shapes()["windy"]
    with pytest.raises(InputError, match="no column with a shape"):
        NaiveBayes.textbook(structure="joint").fit(*play_tennis()).shapes().plot()


def test_plots():
    plt = pytest.importorskip("matplotlib.pyplot")
    X, y = mixed(1, 120, 3)
    X["$_<b>"] = X.pop("word")
    shapes = Classifier(Settings.textbook()).fit(X, y).shapes()
    shapes.plot().canvas.draw()
    figure = shapes["number"].plot("mid")
    assert figure.axes[0].get_ylabel() == "log-odds of mid"
    figure.canvas.draw()
    plt.close("all")
    assert shapes.to_frame().shape[1] == 7
    assert shapes.to_dict()["number"]["edges"]


def test_columns_that_say_the_same_are_found():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 1000)
    a = (y + (rng.random(1000) < 0.3)) % 2
    b = rng.integers(0, 2, 1000)
    xor = (b + y + (rng.random(1000) < 0.2)) % 2
    X = {"a": a, "again": a * 10, "b": b, "xor": xor}
    X = {name: [f"v{v}" for v in values] for name, values in X.items()}
    model = NaiveBayes.textbook().fit(X, y)
    found = model.diagnose(X, y)
    assert [set(pair.columns) for pair in found] == [{"a", "again"}, {"b", "xor"}]
    same, together = found
    assert same.share == pytest.approx(1.0)
    assert "say the same, which naive Bayes counts twice" in same.advice
    assert together.gain > 0.2  # neither tells anything alone
    assert "say more together" in together.advice
    assert not same.is_joined
    tan = NaiveBayes.textbook(structure="tan").fit(X, y).diagnose(X, y)
    assert all(pair.is_joined for pair in tan)
    assert "the model allows for it" in tan[0].advice
    assert "The model allows for 2 of 2 pairs" in str(tan)
    assert found.to_frame().shape == (2, 7)
    assert "<table>" in found._repr_html_()


def test_independent_columns_are_left_alone():
    rng = np.random.default_rng(1)
    X = {f"x{i}": rng.integers(0, 3, 600) for i in range(6)}
    y = rng.integers(0, 2, 600)
    found = NaiveBayes.textbook(families="categorical").fit(X, y).diagnose(X, y)
    assert len(found) <= 1
    default = NaiveBayes().fit(X, y)
    assert len(default.diagnose()) == len(found)  # by the sample that it keeps


def test_doctor_needs_rows():
    model = NaiveBayes.textbook().fit(*play_tennis())
    with pytest.raises(SettingError, match="keeps no rows to look at"):
        model.diagnose()
    with pytest.raises(SettingError, match="rows and their classes, or neither"):
        model.diagnose(play_tennis()[0])


def test_what_was_done_is_not_advised():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 800)
    number = rng.normal(y)
    X = {"a": number, "again": 2 * number + rng.normal(0, 0.05, 800), "b": rng.random(800)}
    told = str(NaiveBayes(pairs=None).fit(X, y).diagnose())
    assert "the model weighs and corrects them" in told and "let the default" not in told
    assert "let the default" in str(NaiveBayes.textbook().fit(X, y).diagnose(X, y))
