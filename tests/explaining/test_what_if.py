"""What-if answers are those of trying every row, with the model itself."""

import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from priory import Classifier, NaiveBayes, Settings, TextNB
from priory.base.errors import ImpossibleEvidenceWarning, InputError, SettingError
from priory.examples import play_tennis
from priory.reporting.axes import axes_of

STRUCTURES = [
    {},
    {"structure": "tan"},
    {"structure": "joint"},
    {"structure": "aode"},
    {"structure": [("a", "b"), ("c", "b")]},
    {"weights": "auto", "pairs": "auto"},
    {"smoothing": 0.0},
    {"missing": "category"},
    {"class_prior": "uniform"},
]


def table(seed, n_classes, n=60):
    """Make columns that depend on the class and on each other, with gaps."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    y[:n_classes] = range(n_classes)
    a = (y + rng.integers(0, 2, n)) % 3
    b = (a + rng.integers(0, 2, n)) % 3
    c = rng.integers(0, 3, n).astype(float)
    c[rng.random(n) < 0.1] = np.nan
    X = {
        "a": np.array(["x", "y", "z"], dtype=object)[a],
        "b": np.array(["p", "q", "r"], dtype=object)[b],
        "c": c,
        "d": rng.random(n) < 0.3 + 0.3 * (y == 0),
    }
    X["a"][rng.random(n) < 0.1] = None
    return X, np.array(list("uvwx"))[y]


def values_of(X, name):
    seen = {v for v in X[name].tolist() if v is not None and v == v}
    return sorted(seen)


def scores(model, rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ImpossibleEvidenceWarning)
        return model.predict_joint_log_proba(rows), model.predict_proba(rows)


def brute_force(model, X, row, target, probability, cost, free):
    """Find the least cost of all rows that are predicted as wanted."""
    names = list(row)
    options = [
        [row[c], *(v for v in values_of(X, c) if v != row[c])] if c in free else [row[c]]
        for c in names
    ]
    every = list(product(*options))
    rows = {c: np.array([r[i] for r in every], dtype=object) for i, c in enumerate(names)}
    rows["c"] = rows["c"].astype(float)
    joint, p = scores(model, rows)
    here = int(np.argmax(scores(model, {c: [v] for c, v in row.items()})[1][0]))
    classes = model.classes.index if hasattr(model.classes, "index") else None
    k = None if target is None else classes(target)
    if probability is not None and k is None:
        k = 1 - here
    if k is None:
        others = np.delete(joint, here, axis=1)
        wanted = others.max(axis=1) > joint[:, here] + 1e-9
    elif probability is None:
        wanted = joint[:, k] > np.delete(joint, k, axis=1).max(axis=1) + 1e-9
    else:
        wanted = np.isfinite(joint[:, k]) & (p[:, k] >= probability - 1e-12)

    def same(old, new):
        return old is new or old == new or (old != old and new != new)

    costs = [
        sum(
            cost(c, old, new)
            for c, old, new in zip(names, row.values(), r, strict=True)
            if not same(old, new)
        )
        for r in every
    ]
    return min((x for x, ok in zip(costs, wanted, strict=True) if ok), default=np.inf)


COSTS = {
    "unit": (None, lambda c, old, new: 1.0),
    "columns": (
        {"a": 2, "b": 1, "c": 3, "d": 1},
        lambda c, old, new: {"a": 2, "b": 1, "c": 3, "d": 1}[c],
    ),
    "any": (
        {"a": 1.7, "b": 0.9, "c": lambda old, new: 0.5 + (0 if old != old else abs(old - new))},
        lambda c, old, new: (
            {"a": 1.7, "b": 0.9, "d": 1.0}.get(c)
            or 0.5 + (0 if old is None or old != old else abs(old - new))
        ),
    ),
}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    seed=st.integers(0, 10**6),
    n_classes=st.integers(2, 4),
    more=st.sampled_from(STRUCTURES),
    costs=st.sampled_from(list(COSTS)),
    wanted=st.sampled_from(["leave", "reach", "probability"]),
    fixed=st.sampled_from([(), ("d",)]),
)
def test_nothing_is_cheaper(seed, n_classes, more, costs, wanted, fixed):
    X, y = table(seed, n_classes)
    classifier = Classifier(Settings.textbook(**{"smoothing": 1.0, **more})).fit(X, y)
    i = seed % 60
    row = {c: v[i] for c, v in X.items()}
    target = None if wanted == "leave" else classifier.classes[seed % n_classes]
    p = 0.7 if wanted == "probability" else None
    given_costs, cost = COSTS[costs]
    if given_costs and callable(given_costs.get("c")):
        by_number = given_costs["c"]
        given_costs = {
            **given_costs,
            "c": lambda old, new: by_number(np.nan if old is None else old, new),
        }
    one = {c: [v] for c, v in row.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ImpossibleEvidenceWarning)
        found = classifier.what_if(
            one, target, probability=p, costs=given_costs, fixed=fixed, seconds=60.0
        )
    free = [c for c in X if c not in fixed]
    best = brute_force(classifier, X, row, target, p, cost, free)
    assert found.is_proved
    assert found.cost == pytest.approx(best)
    if found.changes is not None:
        changed = {**one, **{c.column: [c.new] for c in found.changes}}
        after = scores(classifier, changed)[1][0]
        assert after.max() == pytest.approx(found.new_probability)
        if target is not None and p is None:
            assert found.becomes == target
        if p is not None:
            assert after[classifier.classes.index(target)] >= p - 1e-9
        if wanted == "leave":
            assert found.becomes != found.prediction
        assert all(c.column not in fixed for c in found.changes)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n_classes=st.integers(2, 4),
    more=st.sampled_from(STRUCTURES[:2] + STRUCTURES[5:6]),
)
def test_reasons_are_sufficient_and_fewest(seed, n_classes, more):
    X, y = table(seed, n_classes)
    classifier = Classifier(Settings.textbook(**{"smoothing": 1.0, **more})).fit(X, y)
    row = {c: v[seed % 60] for c, v in X.items()}
    found = classifier.sufficient_reasons({c: [v] for c, v in row.items()})

    def is_sufficient(kept):
        free = [c for c in X if c not in kept]
        return brute_force(classifier, X, row, None, None, lambda *_: 1.0, free) == np.inf

    assert is_sufficient(found.values)
    if found.is_smallest:
        names = list(X)
        fewer = [
            [c for c, keep in zip(names, keeps, strict=True) if keep]
            for keeps in product([False, True], repeat=4)
            if sum(keeps) < len(found.values)
        ]
        assert not any(is_sufficient(kept) for kept in fewer)
    assert found.is_smallest or more


def test_numbers_of_many_values_stand_for_their_bins():
    rng = np.random.default_rng(0)
    y = rng.random(2000) < 0.5
    X = {"x": rng.normal(y * 2.0, 1.0), "z": rng.normal(size=2000)}
    model = NaiveBayes.textbook(families="histogram").fit(X, y)
    found = model.what_if({"x": [-1.0], "z": [0.0]}, True)
    assert [c.column for c in found.changes] == ["x"]
    grid = np.sort(X["x"])
    better = grid[model.predict({"x": grid, "z": np.zeros(2000)})]
    np.testing.assert_allclose(found.changes[0].new, better.min(), atol=0.02)


def test_ranges_directions_and_steps():
    X = {"n": [1, 2, 3, 4, 5] * 8, "k": ["a", "b"] * 20}
    y = ["low", "low", "mid", "high", "high"] * 8
    model = NaiveBayes.textbook(families={"n": "categorical"}).fit(X, y)
    row = {"n": [1], "k": ["a"]}
    assert model.what_if(row, "high", costs={"n": "steps"}).cost == 3
    assert model.what_if(row, "high", ranges={"n": (None, 3)}).changes is None
    assert model.what_if(row, "high", ranges={"n": (5, None)}).changes[0].new == 5
    assert model.what_if({"n": [5], "k": ["a"]}, "low", direction={"n": "up"}).changes is None
    assert model.what_if({"n": [5], "k": ["a"]}, "low", direction={"n": "down"}).changes
    assert model.what_if(row, "low").changes == ()


def test_ordered_categories_have_steps():
    pd = pytest.importorskip("pandas")
    sizes = pd.Categorical(["s", "m", "l", "xl"] * 10, ["s", "m", "l", "xl"], ordered=True)
    X = pd.DataFrame({"size": sizes})
    model = NaiveBayes.textbook().fit(X, ["no", "no", "no", "yes"] * 10)
    found = model.what_if(X[:1], costs={"size": "steps"})
    assert found.cost >= 1


def test_texts_and_blocks_stay_and_are_named():
    X = {"note": ["red sea", "blue sky", "red rose", "blue sea"] * 5, "k": ["a", "b", "a", "b"] * 5}
    settings_ = Settings.textbook(text=("note",))
    classifier = Classifier(settings_).fit(X, [0, 1, 0, 1] * 5)
    found = classifier.what_if({"note": ["red"], "k": ["a"]})
    assert found.left == {"note": "a text"}
    assert TextNB.textbook().fit(X["note"], [0, 1, 0, 1] * 5).what_if(["red"]).changes is None


def test_errors():
    model = NaiveBayes.textbook().fit(*play_tennis())
    day = {"outlook": "Sunny", "temperature": "Cool", "humidity": "High", "wind": "Strong"}
    with pytest.raises(SettingError, match=r"fixed has the column 'windy'.*Did you mean 'wind'"):
        model.what_if(day, fixed=["windy"])
    with pytest.raises(SettingError, match="fixed must be a list of columns, not 'wind'"):
        model.what_if(day, fixed="wind")
    with pytest.raises(SettingError, match=r"costs\['wind'\] must be a finite number above 0"):
        model.what_if(day, costs={"wind": 0})
    with pytest.raises(SettingError, match="Column 'outlook' has no order"):
        model.what_if(day, costs={"outlook": "steps"})
    with pytest.raises(SettingError, match=r"ranges\['wind'\] must be a pair"):
        model.what_if(day, ranges={"wind": 3})
    with pytest.raises(SettingError, match=r"direction\['wind'\] must be 'up' or 'down'"):
        model.what_if(day, direction={"wind": "left"})
    with pytest.raises(SettingError, match="probability must be below 1, not 1"):
        model.what_if(day, probability=1)
    with pytest.raises(SettingError, match="target must be one of the classes, 'No', 'Yes'"):
        model.what_if(day, "Maybe")
    with pytest.raises(InputError, match="what_if takes one row, not 14"):
        model.what_if(play_tennis()[0])
    three = NaiveBayes.textbook().fit({"x": [1, 2, 3]}, list("abc"))
    with pytest.raises(SettingError, match="probability needs a target"):
        three.what_if({"x": [1]}, probability=0.9)
    joint = NaiveBayes.textbook(structure="joint").fit(*play_tennis())
    with pytest.raises(SettingError, match="out of reach"):
        joint.sufficient_reasons(day)
    with pytest.raises(SettingError, match=r"costs\['wind'\] must give a finite number above 0"):
        model.what_if(day, costs={"wind": lambda old, new: -1})


@settings(max_examples=10, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n_classes=st.integers(2, 4),
    more=st.sampled_from([{}, {"missing": "category"}, {"weights": "columns"}]),
)
def test_fewest_changes_are_those_of_what_if(seed, n_classes, more):
    X, y = table(seed, n_classes, 40)
    classifier = Classifier(Settings.textbook(**more)).fit(X, y)
    found = classifier.fewest_changes(X)
    for i in range(0, 40, 7):
        one = classifier.what_if({c: v[i : i + 1] for c, v in X.items()})
        assert one.is_proved
        assert found[i] == (-1 if one.changes is None else len(one.changes))


def test_fewest_changes_need_columns_of_their_own():
    X, y = table(0, 2)
    classifier = Classifier(Settings.textbook(structure="tan")).fit(X, y)
    with pytest.raises(SettingError, match="Columns of this model depend on each other"):
        classifier.fewest_changes(X)
    zeros = Classifier(Settings.textbook(smoothing=0)).fit(*play_tennis())
    with pytest.raises(SettingError, match="give it a smoothing above 0"):
        zeros.fewest_changes(play_tennis()[0])


@pytest.mark.parametrize("family", ["categorical", "gaussian"])
def test_ordered_categories_are_told_by_their_names(family):
    """Also where their places are counted as numbers; pictures have them in order."""
    names = ["low", "mid", "high"]
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 90)
    places = np.clip(rng.integers(0, 2, 90) + y, 0, 2)
    grade = pd.Categorical([names[i] for i in places], names, ordered=True)
    X = pd.DataFrame({"grade": grade, "x": rng.normal(size=90)})
    model = NaiveBayes.textbook(families={"grade": family}).fit(X, y)
    row = X.iloc[int(np.flatnonzero(places == 2)[0])].to_dict()
    found = model.what_if(
        row, ranges={"grade": ("low", "mid")}, costs={"grade": "steps"}, fixed=["x"]
    )
    assert [(c.old, c.new, c.cost) for c in found.changes] in (
        [("high", "mid", 1.0)],
        [("high", "low", 2.0)],
    )
    assert model.nomogram() is not None and model.report(X, y) is not None
    axis = next(a for a in axes_of(model.classifier_).axes if a.columns == ("grade",))
    assert list(axis.names) == names


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"ranges": {"x": (5, 1)}}, r"in this order, not \(5, 1\)"),
        ({"costs": {"x": "step"}}, "'steps' or a function of the old and the new value"),
        ({"costs": [1]}, r"costs must be a dict by column, not \[1\]"),
    ],
)
def test_what_cannot_be_meant_is_refused(given, told):
    model = NaiveBayes.textbook().fit({"x": [0.0, 1.0, 2.0, 3.0]}, [0, 0, 1, 1])
    with pytest.raises(SettingError, match=told):
        model.what_if({"x": 0.5}, **given)
