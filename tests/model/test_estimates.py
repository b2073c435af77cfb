"""The table of parameters holds what the model computes with, and says it exactly."""

import subprocess
import sys
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from priory import Classifier, NaiveBayes, Settings, TextNB
from priory.base.errors import SettingError
from priory.examples import play_tennis
from priory.families import Binomial, Categorical, Gaussian, Words, class_names, family_class
from priory.families.priors import Dirichlet, MEstimate

TEXTS = ["red sea, red sky", "blue sea", "red red rose", "blue sky and sea", "a rose", "sky blue"]
PRIORS = [0, 0.1, 1, MEstimate(2, "marginal"), MEstimate(3, "uniform")]


def table_of(seed=0, n=40):
    rng = np.random.default_rng(seed)
    word = rng.choice(["uu", "vv", "ww"], n).astype(object)
    truth = (word == "uu") | (rng.random(n) < 0.1)  # dependent, so that there are trees and edges
    word[:3] = None
    number = rng.normal(size=n).round(2)
    return pd.DataFrame(
        {
            "word": word,
            "truth": truth,
            "whole": rng.poisson(2, n),
            "number": number,
            "spread": np.abs(number),
        }
    ), rng.choice(["a", "b", "c"], n)


def fitted(families, smoothing=1.0, **more):
    X, y = table_of()
    return Classifier(Settings.textbook(families, smoothing, **more)).fit(X, y)


def exactly(table):
    """Hold every fraction to its estimate, and return how many there are."""
    some = table[table["fraction"].notna()]
    told = [float(Fraction(text)) for text in some["fraction"]]
    np.testing.assert_allclose(told, some["estimate"].to_numpy(), rtol=1e-12, atol=1e-15)
    return len(some)


def test_play_tennis_to_the_fraction():
    X, y = play_tennis()
    table = NaiveBayes.textbook(smoothing=0).fit(X, y).tables(fractions=True)
    assert list(table) == [
        "column",
        "parameter",
        "value",
        "class",
        "estimate",
        "count",
        "total",
        "fraction",
    ]
    sunny = table[(table["column"] == "outlook") & (table["value"] == "Sunny")]
    assert sunny[["class", "fraction", "count", "total"]].values.tolist() == [
        ["No", "3/5", 3.0, 5.0],
        ["Yes", "2/9", 2.0, 9.0],
    ]
    overcast = table[(table["value"] == "Overcast") & (table["class"] == "No")]
    assert overcast["fraction"].tolist() == ["0"]
    assert table["parameter"].tolist()[:2] == ["P(class)", "P(class)"]
    assert exactly(table) == len(table)


@pytest.mark.parametrize("smoothing", PRIORS, ids=str)
@pytest.mark.parametrize("how", ["alone", "joint", "tan", "aode", "edges", "pairs"])
def test_fractions_are_the_estimates(smoothing, how):
    families = {"whole": "poisson", "number": "histogram", "spread": Binomial(trials=9)}
    edges = [("truth", "word"), ("whole", "word"), ("word", "number")]
    more = {"tan": {"structure": "tan"}, "aode": {"structure": "aode"}, "pairs": {"pairs": "auto"}}
    more = {**more, "edges": {"structure": edges}}.get(how, {})
    if how == "joint":
        families = {("word", "truth"): "joint", "whole": "categorical"}
    X, y = table_of()
    X["spread"] = np.minimum(X["spread"].round(), 9)
    if "structure" in more:
        families = "plain"
    missing = "category" if how == "alone" else "skip"
    settings = Settings.textbook(families, smoothing, missing=missing, **more)
    table = Classifier(settings).update(X, y).tables(fractions=True)
    discrete = table["parameter"].str.startswith(("P(", "rate"))
    assert exactly(table) == discrete.sum() > 20


def test_a_column_without_words_says_so():
    X = {"t": ["! ?", "..."], "x": ["u", "v"]}
    table = Classifier(Settings.textbook(text=["t"])).update(X, [0, 1]).tables()
    assert table[table["column"] == "t"]["parameter"].tolist() == ["no data"]


def test_shares_add_up_to_1():
    table = fitted({"whole": Categorical(unseen="smooth"), "number": "histogram"}).tables()
    some = table[table["parameter"].isin(["P(value | class)", "P(bin | class)", "P(class)"])]
    sums = some.groupby(["column", "class"], dropna=False)["estimate"].sum()
    np.testing.assert_allclose(sums[sums.index.get_level_values(0).notna()], 1.0)


EVERY = {
    "aode": ("plain", {"structure": "aode"}),
    "bernoulli": ("plain", {}),
    "binomial": ({"whole": Binomial(trials=99)}, {}),
    "categorical": ({"whole": "categorical"}, {}),
    "complement": ({("whole", "spread"): "complement"}, {}),
    "conditional": ("plain", {"structure": "tan"}),
    "gaussian": ({"number": Gaussian(shared=True)}, {}),
    "histogram": ({"number": "histogram"}, {}),
    "joint": ({("word", "truth"): "joint"}, {}),
    "kernel-density": ({"number": "kernel-density"}, {}),
    "multinomial": ({("whole", "spread"): "multinomial"}, {}),
    "multivariate-gaussian": ({("number", "spread"): "multivariate-gaussian"}, {}),
    "poisson": ({"whole": "poisson"}, {}),
    "student-t": ({"number": "log-normal", "spread": "rank-normal", "whole": "student-t"}, {}),
    "telling-words": ({"word": "telling-words"}, {"text": ["word"]}),
    "words": ({"word": "words"}, {"text": ["word"]}),
}


@pytest.mark.parametrize("family", [family_class(name).name for name in class_names()])
def test_every_family_is_in_the_table(family):
    families, more = EVERY[family]
    X, y = table_of()
    if family == "telling-words":  # of two classes
        y = np.where(y == "c", "a", y)
    classifier = Classifier(Settings.textbook(families, 1.0, **more)).fit(X, y)
    table = classifier.tables(fractions=True)
    exactly(table)
    for term in classifier.model.terms:
        columns = {term.block.title, *term.block.columns}
        assert table["column"].isin(columns).any(), term.title
    numbers = table[table["estimate"].notna()]
    assert np.isfinite(numbers["estimate"]).all()
    without = table[table["estimate"].isna()]["parameter"]
    assert set(without) <= {"transform", "a sum of kernels, no table"}


def test_parameters_of_numbers():
    X = {"x": [2.0, -1.2, 2.2, 5.0]}
    table = Classifier(Settings.textbook()).update(X, ["y", "y", "y", "z"]).tables()
    found = {
        (row.parameter, row["class"]): (row.estimate, row.total) for _, row in table.iterrows()
    }
    assert found["mean", "y"] == pytest.approx((1.0, 3.0))
    assert found["variance", "y"] == pytest.approx((2.42666667, 3.0))
    assert "fraction" not in table


@pytest.mark.parametrize(
    ("readout", "parameter", "expected"),
    [
        ("multinomial", "P(word | class)", "4/11"),
        ("bernoulli", "P(word is there | class)", "3/4"),
        ("complement", "P(word | not class)", "1/17"),
    ],
)
def test_words(readout, parameter, expected):
    model = TextNB(readout, 1.0, weights=None).fit(TEXTS[:4], ["a", "b", "a", "b"])
    table = model.tables(fractions=True)
    red = table[(table["value"] == "red") & (table["class"] == "a")]
    assert red["parameter"].tolist() == [parameter]
    if readout == "multinomial":  # red 4 times in 7 words, and 6 words in all
        expected = str(Fraction(4 + 1, 7 + 6))
    elif readout == "complement":  # never in the 6 words of the other class
        expected = str(Fraction(0 + 1, 6 + 6))
    assert red["fraction"].tolist() == [expected]
    assert exactly(table) == len(table)


def test_weighted_words_have_weights():
    model = TextNB(Words("multinomial", idf=True), 1.0, weights=None).fit(TEXTS[:2], ["a", "b"])
    table = model.tables(fractions=True)
    assert set(table["parameter"]) == {"P(class)", "weight of a word"}
    assert table["fraction"].notna().sum() == 2


def test_priors_of_every_kind_are_exact():
    X, y = {"x": ["a", "a", "b"]}, [0, 0, 1]
    for prior, expected in (
        (Dirichlet({"a": 0.5, "b": 0.25, "c": 0.25}), "5/6"),
        (MEstimate(1, {"a": 0.5, "b": 0.5}), "5/6"),
        (0.1, "21/22"),
    ):
        table = Classifier(Settings.textbook(smoothing=prior)).update(X, y).tables(fractions=True)
        found = table[(table["value"] == "a") & (table["class"] == 0)]
        assert found["fraction"].tolist() == [expected]


def test_class_priors_of_every_kind():
    X, y = {"x": ["a", "a", "b"]}, ["p", "p", "q"]
    for given, expected in (
        (None, ["2/3", "1/3"]),
        ("uniform", ["1/2", "1/2"]),
        ({"q": 0.75, "p": 0.25}, ["1/4", "3/4"]),
        ([0.9, 0.1], ["9/10", "1/10"]),
    ):
        settings = Settings.textbook(class_prior=given)
        table = Classifier(settings).update(X, y).tables(fractions=True)
        assert table["fraction"][:2].tolist() == expected
    words = TextNB("multinomial", 1.0, weights=None, class_prior="words").fit(TEXTS[:2], ["a", "b"])
    assert words.tables(fractions=True)["fraction"][:2].tolist() == ["2/3", "1/3"]


def test_weights_of_rows_that_are_not_whole_have_no_fractions():
    classifier = Classifier(Settings.textbook()).update({"x": ["a", "b"]}, [0, 1], [0.5, 1.0])
    table = classifier.tables(fractions=True)
    assert table["fraction"].isna().all()
    assert table["count"][:2].tolist() == [0.5, 1.0]


def test_weights_biases_and_gaps_are_in_the_table():
    X, y = table_of()
    X.loc[::3, "number"] = np.nan
    settings = Settings.textbook(weights="columns", missing={"number": "category"})
    classifier = Classifier(settings).fit(X, y)
    table = classifier.tables(fractions=True)
    weights = table[table["parameter"] == "weight"].set_index("column")["estimate"]
    for name, weight in weights.items():
        assert weight == classifier.weights[name]
    assert (table["parameter"] == "bias").sum() == 3
    gaps = table[table["parameter"] == "P(missing | class)"]
    assert gaps["column"].tolist() == ["number"] * 3
    assert exactly(gaps) == 3
    assert gaps["total"].sum() == 40


def test_fractions_must_be_a_truth():
    with pytest.raises(SettingError, match=r"fractions must be True or False, not 'yes'"):
        fitted("plain").tables(fractions="yes")


def test_pandas_is_needed_for_the_frame_alone():
    code = """
import sys
sys.modules["pandas"] = None
from priory import Classifier
classifier = Classifier().update({"x": ["a", "b"]}, [0, 1])
assert classifier.table_columns(True)["fraction"][:2] == ["1/2", "1/2"]
try:
    classifier.tables()
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "tables() returns a DataFrame, which needs pandas.\n"
