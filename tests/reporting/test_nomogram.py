"""What is read from the picture is what the model predicts."""

import warnings
from xml.etree import ElementTree

import numpy as np
import pytest

from priory import NaiveBayes, TextNB, nomogram
from priory.base.errors import ImpossibleEvidenceWarning, InputError, SettingError
from priory.examples import play_tennis

from ..export.test_export_json import columns_of

SVG = "{http://www.w3.org/2000/svg}"


class Reader:
    """Read a nomogram as a person does: positions, the ruler above them, the scales below."""

    def __init__(self, drawn):
        self.drawn, self.root = drawn, ElementTree.fromstring(drawn.svg)
        self.points = self._ruler("points")
        self.total = self._ruler("sum")
        self.probability = self._ruler("probability")
        groups = self.root.iter(f"{SVG}g")
        self.axes = {int(g.get("data-axis")): g for g in groups if g.get("data-axis") is not None}

    def _ruler(self, name):
        """Return the positions of a ruler's marks, and the numbers beside them."""
        group = next(g for g in self.root.iter(f"{SVG}g") if g.get("data-ruler") == name)
        at = {}
        for text in group.iter(f"{SVG}text"):
            if text.get("text-anchor") == "middle":
                at[percent(text.get("x"))] = float(text.text.replace("−", "-"))
        places = sorted(at)
        return np.array(places), np.array([at[x] for x in places])

    def read(self, x):
        """Read the points above a position: the ruler is even."""
        (first, *_, last), (low, *_, high) = self.points
        return low + (x - first) / (last - first) * (high - low)

    def start(self):
        group = next(g for g in self.root.iter(f"{SVG}g") if g.get("data-start") is not None)
        tick = next(line for line in group.iter(f"{SVG}line") if line.get("class") == "tick")
        return self.read(percent(tick.get("x1")))

    def marked(self, number, place):
        for group in self.axes[number].iter(f"{SVG}g"):
            if group.get("data-value") == str(place):
                return self.read(percent(next(group.iter(f"{SVG}line")).get("x1")))
        raise KeyError(place)

    def on_curve(self, number, value):
        """Go from a value at the side to the curve, and from there up to the ruler."""
        axis = self.drawn.axes.axes[number]
        path = next(self.axes[number].iter(f"{SVG}path")).get("d")
        x, y = np.array([pair.split() for pair in path[1:].split(" L")], dtype=float).T
        tall = float(next(self.axes[number].iter(f"{SVG}svg")).get("height"))
        low, high = axis.values[0], axis.values[-1]
        down = tall - (value - low) / (high - low) * tall
        return self.read(np.interp(down, y[::-1], x[::-1]))

    def in_table(self, number, place):
        cells = [g for g in self.axes[number].iter(f"{SVG}g") if g.get("data-cell") is not None]
        names = {g.find(f"{SVG}title").text.rpartition(": ")[0]: g for g in cells}
        told = names[self.drawn.axes.axes[number].names[place]].find(f"{SVG}text").text
        return float(told.replace("−", "-"))

    def posterior(self, row, bins):
        """Read P(target) of a row: add all points up, and read the probability below the sum."""
        total = self.start()
        for number, axis in enumerate(self.drawn.axes.axes):
            total += self._of_axis(number, axis, row, bins)
        (first, *_, last), (low, *_, high) = self.total
        x = first + (total - low) / (high - low) * (last - first)
        # Between two marks of the probability a person guesses along the curve of the odds.
        at, p = self.probability
        return 1 / (1 + np.exp(-np.interp(x, at, np.log(p / (1 - p)))))

    def _of_axis(self, number, axis, row, bins):
        values = [row[name] for name in axis.columns]
        missing = [v is None or v != v for v in values]
        if axis.kind == "constant":
            return self.marked(number, 0) * (len(values) - sum(missing))
        if axis.kind == "cells":
            key = tuple(bins(axis.columns, values))
            return self.in_table(number, axis.values.index(key)) if key in axis.values else 0.0
        if missing[0]:
            return 0.0 if axis.missing is None else self.marked(number, -1)
        if axis.kind == "curve":
            return self.on_curve(number, values[0])
        if len(axis.values) == 1:
            return self.marked(number, 0)
        return (
            self.marked(number, axis.values.index(values[0])) if values[0] in axis.values else 0.0
        )


def percent(text):
    return float(text.removesuffix("%"))


def cells_of(model):
    """Return a function that finds the cells of values of columns that are counted together."""
    pairs = {t.block.columns: t.block.pairing for t in model.model_.terms if t.block.pairing}

    def bins(columns, values):
        pairing = pairs[columns]
        for j, value in enumerate(values):
            if value is None or value != value or pairing.edges[j] is None:
                yield None if value is not None and value != value else value
            else:
                yield int(pairing.bins(j, np.array([value]))[0])

    return bins


def hold(model, X, n, atol, target=None, against=None):
    """Hold the readings of rows to the model's posteriors."""
    drawn = nomogram(model, target, against)
    reader, bins = Reader(drawn), cells_of(model)
    classes = model.classes_.tolist()
    a, b = classes.index(drawn.target), classes.index(drawn.against)
    listed = {name: np.asarray(values, dtype=object).tolist() for name, values in X.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ImpossibleEvidenceWarning)
        p = model.predict_proba(X)[:n]
    for i in range(n):
        expected = p[i, a] / (p[i, a] + p[i, b])
        found = reader.posterior({name: values[i] for name, values in listed.items()}, bins)
        assert found == pytest.approx(np.clip(expected, 0.001, 0.999), abs=atol)
    return drawn


def test_play_tennis():
    X, y = play_tennis()
    columns = {name: [row[name] for row in X] for name in X[0]}
    model = NaiveBayes.textbook(smoothing=0.5).fit(columns, y)
    drawn = hold(model, columns, 14, 1e-5)
    assert repr(drawn) == "<Nomogram of 4 axes: Yes against No>"
    assert drawn._repr_svg_() == drawn.svg


@pytest.mark.parametrize("seed", range(3))
def test_labels_gaps_and_several_classes(seed):
    rng = np.random.default_rng(seed)
    n = 300
    y = rng.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2])
    X = {
        f"c{j}": np.where(rng.random(n) < 0.1, None, rng.choice(list("uvwx"), n)) for j in range(5)
    }
    X["c0"] = np.where(y == "a", "u", X["c0"])
    options = {"missing": "category", "weights": "columns"} if seed else {}
    model = NaiveBayes.textbook(1.0, **options).fit(X, y)
    hold(model, X, 60, 1e-5)
    hold(model, X, 60, 1e-5, "c", "b")


@pytest.mark.parametrize("family", ["gaussian", "student-t", "kernel-density", "histogram"])
def test_numbers_are_read_from_curves(family):
    rng = np.random.default_rng(3)
    y = rng.choice(["no", "yes"], 400)
    X = {"x": rng.normal(y == "yes", 1.5), "z": rng.choice([1.0, 2.0, 5.0], 400)}
    X["x"] = np.clip(X["x"], *np.quantile(X["x"], [0.02, 0.98]))
    X["x"][::9] = np.nan
    model = NaiveBayes.textbook(families={"x": family}).fit(X, y)
    hold(model, X, 100, 2e-3 if family != "histogram" else 2e-2)


def test_corrections_and_pairs_are_tables():
    rng = np.random.default_rng(2)
    n = 3000
    a, b = rng.choice(list("abcd"), n), rng.normal(size=n).round(2).clip(-1.9, 1.9)
    b[rng.random(n) < 0.1] = np.nan
    y = np.where((a == "a") ^ (np.nan_to_num(b) > 0), "yes", "no")
    y[rng.random(n) < 0.1] = "no"
    X = {"a": a.astype(object), "b": b, "c": rng.integers(0, 5, n)}
    model = NaiveBayes().fit(X, y)
    drawn = hold(model, X, 100, 0.01)
    assert any(axis.kind == "cells" for axis in drawn.axes.axes)


def test_trees_are_tables_with_rows_for_missing_parents():
    rng = np.random.default_rng(0)
    n = 400
    a = rng.choice(list("uvw"), n)
    X = {"a": a.astype(object), "b": np.where(rng.random(n) < 0.8, a, "u").astype(object)}
    X["c"] = np.where(rng.random(n) < 0.1, None, rng.choice(list("xy"), n))
    y = np.where((a == "u") ^ (rng.random(n) < 0.2), "yes", "no")
    model = NaiveBayes.textbook(structure="tan").fit(X, y)
    X["a"][::7] = None
    hold(model, X, 60, 0.005)


def test_without_smoothing_what_is_impossible_stands_at_the_edge():
    X, y = play_tennis()
    columns = {name: [row[name] for row in X] for name in X[0]}
    drawn = nomogram(NaiveBayes.textbook(smoothing=0).fit(columns, y))
    assert "Overcast: +∞" in drawn.svg
    places = [
        percent(line.get("x1"))
        for line in Reader(drawn).root.iter(f"{SVG}line")
        if (line.get("x1") or "").endswith("%")
    ]
    assert min(places) >= 0 and max(places) <= 100


def test_counts_in_a_block():
    rng = np.random.default_rng(1)
    X = {f"w{j}": rng.poisson(0.8, 200) for j in range(4)}
    y = rng.choice(["a", "b"], 200)
    for family in "multinomial", "bernoulli":
        model = NaiveBayes.textbook(families={tuple(X): family}).fit(X, y)
        hold(model, X, 50, 2e-3)


def test_it_is_saved(tmp_path):
    model, X = NaiveBayes.textbook(), columns_of(60)
    drawn = model.fit(*X).nomogram("mid", "low")
    drawn.save(tmp_path / "model.svg")
    assert (tmp_path / "model.svg").read_text("utf-8") == drawn.svg


def test_names_are_escaped():
    hostile = "</svg><script>alert(1)</script>\u202e"
    model = NaiveBayes.textbook().fit({hostile: [hostile, "b", "b"]}, [hostile, "n", "n"])
    svg = nomogram(model).svg
    ElementTree.fromstring(svg)
    assert "<script" not in svg and "\u202e" not in svg


def test_what_has_no_nomogram_says_why():
    with pytest.raises(SettingError, match="'text' has no axis in a nomogram: its words"):
        nomogram(TextNB().fit(["a day", "no day"] * 3, [0, 1] * 3))
    X, y = columns_of(90)
    with pytest.raises(SettingError, match="no axis in a nomogram: averaged one-dependence"):
        NaiveBayes.textbook(structure="aode").fit(X, y).nomogram()
    model = NaiveBayes.textbook().fit(X, y)
    with pytest.raises(SettingError, match=r"target must be a class of the model, not 'hig'.*high"):
        model.nomogram("hig")
    with pytest.raises(SettingError, match="target and against must differ"):
        model.nomogram("high", "high")
    with pytest.raises(InputError, match="tells classes apart"):
        NaiveBayes.textbook().fit({"x": ["a"]}, ["b"]).nomogram()
