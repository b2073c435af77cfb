"""Exported models give the posteriors that Python gives, gaps and unseen values included."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from priory import Classifier, Settings, train
from priory.base.errors import SettingError
from priory.export import to_json
from priory.export.onnx import to_onnx
from priory.export.sql import to_sql
from priory.families import Binomial, Categorical, Gaussian
from priory.families.priors import MEstimate

from .engines import ENGINES, NO_POSTGRES

runtime = pytest.importorskip("onnxruntime")
sqlglot = pytest.importorskip("sqlglot")

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data"


def by_sql(classifier, table, engine, query=None):
    """Run exported SQL where it is meant to be run."""
    numbered = table.assign(**{"row number": np.arange(len(table))})  # a query keeps no order
    query = query or to_sql(classifier, "days", engine.__name__)
    found = engine(numbered, query).sort_values("row number")
    assert list(found)[: table.shape[1]] == list(table)
    columns = [f"P({label})" for label in classifier.classes]
    return found["prediction"].tolist(), found[columns].to_numpy(dtype=np.float64)


def by_onnx(classifier, table):
    session = runtime.InferenceSession(to_onnx(classifier), providers=["CPUExecutionProvider"])
    feed = {}
    for given in session.get_inputs():
        values = table[given.name]
        if given.type == "tensor(string)":
            feed[given.name] = values.fillna("").to_numpy(dtype=object).reshape(-1, 1)
        else:
            feed[given.name] = values.astype("float64").to_numpy().reshape(-1, 1)
    labels, p = session.run(["label", "probabilities"], feed)
    return labels.tolist(), p


def hold(classifier, *tables, sql=1e-9, onnx=1e-9):
    """Hold both exports to Python's posteriors and classes."""
    queries = {engine: to_sql(classifier, "days", engine.__name__) for engine in ENGINES}
    for table in tables:
        _hold(classifier, table, queries, sql, onnx)


def _hold(classifier, table, queries, sql, onnx):
    expected = classifier.predict_proba(table[list(classifier.statistics.schema.columns)])
    classes = [classifier.classes[k] for k in expected.argmax(axis=1)]
    sure = np.sort(expected, axis=1)[:, -1] - np.sort(expected, axis=1)[:, -2] > 1e-6
    for engine, query in queries.items():
        labels, p = by_sql(classifier, table, engine, query)
        if classes and isinstance(classes[0], bool):
            labels = [bool(label) for label in labels]  # 1 and 0 in SQLite
        np.testing.assert_allclose(p, expected, rtol=0, atol=sql)
        assert [a for a, s in zip(labels, sure, strict=True) if s] == [
            b for b, s in zip(classes, sure, strict=True) if s
        ]
    labels, p = by_onnx(classifier, table)
    np.testing.assert_allclose(p, expected, rtol=0, atol=onnx)
    assert [a for a, s in zip(labels, sure, strict=True) if s] == [
        b for b, s in zip(classes, sure, strict=True) if s
    ]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    n = 300
    y = rng.integers(0, 3, n)
    number = rng.normal(y, 1.0, n).round(2)
    number[rng.random(n) < 0.2] = np.nan
    word = rng.choice(["it's", "b", "ü", "d"], n).astype(object)
    word[rng.random(n) < 0.2] = None
    return pd.DataFrame(
        {
            "word": word,
            "truth": rng.random(n) < 0.2 + 0.3 * y,
            "number": number,
            "whole": rng.poisson(1 + y),
            "spread": rng.exponential(1 + y, n).round(3),
            "y": np.array(["low", "mid", "high"], dtype=object)[y],
        }
    )


@pytest.fixture(scope="module")
def strange(table):
    """Rows with gaps and values that were never learned."""
    other = table.copy()
    other.loc[::3, "word"] = "never"
    other.loc[::5, "word"] = None
    other.loc[::4, "number"] = 1e6
    other.loc[::7, "number"] = np.nan
    other.loc[::6, "whole"] = 77
    other["odd column"] = 1
    return other


FAMILIES = [
    {},
    {"number": "student-t", "spread": "log-normal", "whole": "poisson"},
    {"number": "histogram", "spread": "histogram-mdl", "whole": "categorical"},
    {"number": Gaussian(shared=True), "whole": Binomial(trials=100), "word": "categorical"},
    {"whole": Categorical(unseen="smooth"), "word": Categorical(unseen="smooth")},
]


@pytest.mark.parametrize("families", FAMILIES, ids=range(len(FAMILIES)))
@pytest.mark.parametrize("missing", ["skip", "category"])
def test_every_family_that_has_a_form(table, strange, families, missing):
    settings = Settings.textbook(families or "plain", MEstimate(2.0, "marginal"), missing=missing)
    classifier = Classifier(settings).update(table.drop(columns="y"), table["y"])
    hold(classifier, table, strange)


EDGES = [("truth", "word"), ("truth", "number"), ("word", "number"), ("whole", "spread")]


@pytest.mark.long
@pytest.mark.parametrize(
    "how",
    [{"structure": "tan"}, {"structure": EDGES}, {"structure": "hill-climb"}, {"pairs": "auto"}],
    ids=["tan", "edges", "hill-climb", "pairs"],
)
@pytest.mark.parametrize("missing", ["skip", "auto"])
def test_trees_and_edges(table, strange, how, missing):
    """Make the columns depend on each other, so that all kinds of them are in pairs."""
    X = table.drop(columns="y").assign(
        word=table["word"].where(~table["truth"], "b"),
        number=table["number"] + 2.0 * table["truth"],
        spread=table["spread"] + table["whole"],
    )
    for families, smoothing, weights in (("plain", 1.0, None), ("auto", "auto", "auto")):
        if families == "auto":
            families = {"number": "histogram", "spread": "student-t"}
        if "structure" in how:
            families = "plain"
        if "pairs" in how and weights is None:
            continue  # nothing is learned of pairs
        settings = Settings.textbook(families, smoothing, missing=missing, weights=weights, **how)
        classifier = Classifier(settings).fit(X, table["y"])
        blocks = [term.block for term in classifier.model.terms]
        held = {c for block in blocks if block.pairing for c in block.columns}
        if "pairs" in how:
            assert len(held) > 1
        elif how != {"structure": "hill-climb"}:
            assert held >= {"word", "truth", "number", "whole", "spread"}
        hold(classifier, X, strange)


def test_aode_has_no_form(table):
    classifier = Classifier(Settings.textbook(structure="aode")).update(
        table.drop(columns="y"), table["y"]
    )
    for export in (to_sql, to_onnx):
        with pytest.raises(SettingError, match=r"every pair of columns.*aode has no"):
            export(classifier)
    assert to_json(classifier)["factors"][0]["family"] == "aode"


def test_no_smoothing_and_impossible_rows():
    days = pd.DataFrame({"a": ["u", "u", "v", "v"], "b": ["p", "q", "r", "r"]})
    classifier = Classifier(Settings.textbook(smoothing=0.0)).update(days, ["x", "x", "y", "y"])
    asked = pd.DataFrame({"a": ["u", "v", "u", None], "b": ["p", "r", "r", "q"]})
    with pytest.warns(UserWarning, match="impossible"):
        hold(classifier, asked)


@pytest.mark.parametrize("labels", [[0, 1], [True, False], [1.5, 2.5], ["a", "it's"]])
def test_classes_of_every_type(labels):
    X = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "t": [True, False, True, True]})
    classifier = Classifier(Settings.textbook()).update(
        X, [labels[0], labels[1], labels[1], labels[0]]
    )
    hold(classifier, X)


@pytest.mark.parametrize("family", ["multinomial", "bernoulli", "complement"])
def test_counts(family):
    X = pd.DataFrame({"w1": [3, 0, 1, 0], "w2": [0, 2, 0, 1], "w3": [1, 1, 0, 0]})
    settings = Settings.textbook(families={("w1", "w2", "w3"): family})
    classifier = Classifier(settings).update(X, ["a", "b", "a", "b"])
    hold(classifier, X)


def test_many_columns_make_no_deep_query():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(20, 300)), columns=[f"c{i}" for i in range(300)])
    classifier = Classifier(Settings.textbook()).update(X, [0, 1] * 10)
    _, p = by_sql(classifier, X, ENGINES[0])
    np.testing.assert_allclose(p, classifier.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize(
    ("families", "name"),
    [
        ({"number": "kernel-density"}, "number"),
        ({"number": "rank-normal"}, "number"),
        ({("number", "spread"): "multivariate-gaussian"}, "number, spread"),
        ({("word", "truth"): "joint"}, "word, truth"),
        ({"word": Categorical(unseen="error")}, "word"),
    ],
)
def test_families_without_a_form_are_named(table, families, name):
    classifier = Classifier(Settings.textbook(families)).update(table.drop(columns="y"), table["y"])
    with pytest.raises(SettingError, match=rf"Column '{name}' cannot be exported to SQL: "):
        to_sql(classifier)
    with pytest.raises(SettingError, match=rf"Column '{name}' cannot be exported to ONNX: "):
        to_onnx(classifier)


def test_what_else_cannot_be(table):
    classifier = Classifier(Settings.textbook()).update({"x": ["a", 1]}, ["p", "q"])
    with pytest.raises(SettingError, match=r"Column 'x' cannot be exported to ONNX: it holds str"):
        to_onnx(classifier)
    with pytest.raises(SettingError, match=r"dialect must be one of .*, not .oracle."):
        to_sql(classifier, dialect="oracle")
    mixed = Classifier(Settings.textbook()).update({"x": ["a", "b"]}, ["p", 1])
    with pytest.raises(SettingError, match=r"Classes of several types"):
        to_onnx(mixed)


def test_play_tennis():
    table = pd.read_csv(ROOT / "examples" / "play_tennis.csv")
    hold(train(table, "play", families="plain", smoothing=1.0), table)


@pytest.mark.skipif(not DATA.is_dir(), reason="the folder shared/data is not there")
def test_adult_with_gaps_and_unseen_values():
    path = DATA / "adult.csv.gz"
    table = pd.read_csv(path, keep_default_na=False, na_values=[""]).head(6000)
    table = table.drop(columns=[c for c in ("split",) if c in table])
    classifier = train(table.iloc[:3000], "target", families="plain", smoothing=1.0)
    asked = table.iloc[3000:].reset_index(drop=True)
    rng = np.random.default_rng(0)
    for column in asked.columns.drop("target"):
        asked.loc[rng.random(len(asked)) < 0.1, column] = None
    asked.loc[rng.random(len(asked)) < 0.1, "workclass"] = "Astronaut"
    hold(classifier, asked, sql=1e-9, onnx=1e-5)


@pytest.mark.parametrize("weights", ["columns", "temperature"])
def test_weights_and_biases(table, strange, weights):
    settings = Settings.textbook(
        {"number": "student-t", "spread": "log-normal", "whole": "categorical"},
        MEstimate(2.0, "marginal"),
        missing="auto",
        weights=weights,
    )
    classifier = Classifier(settings).fit(table.drop(columns="y"), table["y"])
    assert classifier.model.bias.any()
    hold(classifier, table, strange)


def test_words_have_no_form_but_json():
    texts = {"text": ["free money", "see you", "free now", "you see"]}
    classifier = Classifier(Settings.textbook(text=["text"])).update(texts, [1, 0, 1, 0])
    for export in (to_sql, to_onnx):
        with pytest.raises(SettingError, match="words has no"):
            export(classifier)
    parameters = to_json(classifier)["factors"][0]["parameters"]
    assert sorted(parameters["words"]) == ["free", "money", "now", "see", "you"]


@pytest.mark.skipif(bool(NO_POSTGRES), reason=NO_POSTGRES or "there is one")
def test_truth_values_on_a_real_postgresql(table):
    rows = pd.DataFrame({"truth": table["truth"].astype(object), "other": table["truth"]})
    rows.loc[::5, "truth"] = None
    for settings in (
        Settings.textbook(),
        Settings.textbook(missing="category"),
        Settings.textbook(families={"truth": "categorical"}, structure="tan"),
    ):
        hold_sql(Classifier(settings).update(rows, table["y"]), rows)
    hold_sql(Classifier(Settings.textbook()).update(rows[["other"]], table["truth"]), rows)


@pytest.mark.parametrize("family", ["multinomial", "bernoulli", "complement", "poisson",
                                    "gaussian", "student-t", "histogram"])  # fmt: skip
def test_booleans_that_were_counted_as_numbers(table, family):
    rng = np.random.default_rng(1)
    truths = rng.random((len(table), 3)) < [0.3, 0.6, 0.5]
    rows = pd.DataFrame(truths, columns=["a", "b", "c"])
    of_several = family in ("multinomial", "bernoulli", "complement")
    families = {("a", "b", "c"): family} if of_several else dict.fromkeys(rows, family)
    classifier = Classifier(Settings.textbook(families, 1.0)).update(rows, table["y"])
    hold_sql(classifier, rows)
    hold_sql(classifier, rows.astype(int))  # and as the numbers that they are elsewhere
    hold_sql(classifier, rows.astype(float))


def hold_sql(classifier, table):
    expected = classifier.predict_proba(table[list(classifier.statistics.schema.columns)])
    for engine in ENGINES:
        _, p = by_sql(classifier, table, engine)
        np.testing.assert_allclose(p, expected, rtol=0, atol=1e-9)
