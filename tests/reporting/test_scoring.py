"""The browser computes what Python does, for every family, structure and correction."""

import json
import warnings
from importlib import resources

import numpy as np
import pytest

from priory import Classifier, NaiveBayes, Settings, TextNB
from priory.base.errors import ImpossibleEvidenceWarning
from priory.families import Binomial, Categorical, Gaussian
from priory.families.priors import MEstimate
from priory.kernels.text import character_stretches
from priory.reporting.page_model import page_model, page_value
from priory.text import Analyzer

from ..export.test_export_json import READOUTS, TEXTS, columns_of, strange
from .browser import needs_browser, run

pytestmark = needs_browser

SCORE = """
    const [data, rows] = given, model = priory.prepare(data);
    return rows.map((row) => priory.posterior(model, row));
"""


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "scoring.html"
    script = (resources.files("priory.reporting") / "scoring.js").read_text("utf-8")
    path.write_text(f"<!doctype html><meta charset=utf-8><script>{script}</script>", "utf-8")
    browser.get(path.as_uri())
    return browser


def hold(page, classifier, X):
    """Hold the browser to Python's posteriors."""
    data = page_model(classifier, list(X))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ImpossibleEvidenceWarning)
        expected = classifier.predict_proba(X)
    columns = [np.asarray(values, dtype=object).tolist() for values in X.values()]
    rows = [[page_value(x) for x in row] for row in zip(*columns, strict=True)]
    found = run(page, SCORE, data, rows)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    return data


MODELS = {
    "plain": ("plain", {}),
    "curves": ({"number": "student-t", "spread": "log-normal", "whole": "poisson"}, {}),
    "bins": ({"number": "histogram", "spread": "rank-normal", "whole": "categorical"}, {}),
    "kernels": ({"number": "kernel-density", "whole": Binomial(trials=99)}, {}),
    "shared": ({"number": Gaussian(shared=True), "word": Categorical(unseen="smooth")}, {}),
    "blocks": ({("number", "spread"): "multivariate-gaussian", ("word", "truth"): "joint"}, {}),
    "tan": ("plain", {"structure": "tan"}),
    "aode": ("plain", {"structure": "aode"}),
    "joint": ("plain", {"structure": "joint"}),
    "climbed": ("plain", {"structure": "hill-climb"}),
    "pairs": ("plain", {"pairs": "auto", "weights": "columns"}),
    "gaps": ("auto", {"weights": "columns", "missing": "category"}),
    "temperature": ({"number": "histogram"}, {"weights": "temperature"}),
}


@pytest.mark.parametrize("smoothing", [0.0, 0.5, MEstimate(2, "marginal")], ids=str)
@pytest.mark.parametrize(("families", "more"), MODELS.values(), ids=MODELS)
def test_a_thousand_rows(page, families, more, smoothing):
    X, y = columns_of(n=1000)
    classifier = Classifier(Settings.textbook(families, smoothing, **more)).fit(X, y)
    hold(page, classifier, {name: values[:500] for name, values in X.items()})
    hold(page, classifier, {name: values[500:] for name, values in strange(X).items()})


def test_the_default_with_its_corrections(page):
    rng = np.random.default_rng(2)
    n = 3000
    a, b = rng.choice(list("abcd"), n), rng.normal(size=n).round(2)
    b[rng.random(n) < 0.1] = np.nan
    y = np.where((a == "a") ^ (np.nan_to_num(b) > 0), "yes", "no")
    y[rng.random(n) < 0.1] = "no"
    X = {"a": a.astype(object), "b": b, "c": rng.integers(0, 5, n)}
    classifier = Classifier().fit(X, y)
    assert any(len(t.block.columns) == 2 for t in classifier.model.terms)
    hold(page, classifier, {name: values[:1000] for name, values in X.items()})


@pytest.mark.parametrize("family", ["multinomial", "bernoulli", "complement"])
def test_counts(page, family):
    rng = np.random.default_rng(1)
    X = {f"w{j}": rng.poisson(0.8, 1000) for j in range(5)}
    settings = Settings.textbook({tuple(X): family})
    hold(page, Classifier(settings).update(X, rng.integers(0, 3, 1000).tolist()), X)


ODD = [
    "",
    "red zebra sea",
    "nothing known",
    None,
    "RED  Sea\u2003ROSE",
    "ſtraße İSTANBUL ΣΑΣ rose_1",
]


@pytest.mark.parametrize("smoothing", [0.0, 1.0])
@pytest.mark.parametrize("readout", READOUTS, ids=str)
def test_texts(page, readout, smoothing):
    model = TextNB(readout, smoothing, weights=None).fit(TEXTS, ["a", "b", "a", "b", "c", "c"])
    hold(page, model.classifier_, {"text": [*TEXTS, *ODD]})


ANALYZERS = [
    Analyzer(ngram_range=(1, 2), stop_words=["and", "red", "字", "漢漢"]),
    Analyzer(symbols=True),
    Analyzer("sklearn"),
    Analyzer("char", (1, 3)),
    Analyzer("char_wb", (2, 4), lowercase=False),
]


@pytest.mark.parametrize("analyzer", ANALYZERS, ids=str)
def test_texts_are_split_alike(page, analyzer):
    rng = np.random.default_rng(3)
    alphabet = list("abc  \t\nÄß_9'-é\u00a0\u0301\u200b漢字Σς\U0001f600\U0001d400ไน้\u0e33\xad!!हि")
    texts = ["".join(rng.choice(alphabet, 30)) for _ in range(1000)]
    y = rng.integers(0, 2, 1000)
    hold(page, TextNB(analyzer=analyzer, weights=None).fit(texts, y).classifier_, {"text": texts})
    script = "return given[1].map((text) => priory.split(given[0], text, new Set(given[2])));"
    stopped = list(analyzer.stop_words or ())
    splitting = analyzer.to_dict() | {"kinds": character_stretches()}
    found = run(page, script, splitting, texts, stopped)
    assert [sorted(words) for words in found] == [sorted(analyzer.split(t)) for t in texts]


def test_labels_of_several_types_stay_apart(page):
    X = {"x": [1, "1", True, 2.5, "inf", 2**60, 2**60 + 1, None] * 3}
    X["x"] = np.array(X["x"], dtype=object)
    y = ([0, 1] * 12)[:24]
    hold(page, Classifier(Settings.textbook(smoothing=0.5)).fit(X, y), X)


def test_many_words_take_little_room():
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(5000)]
    texts = [" ".join(rng.choice(words, 40)) for _ in range(400)]
    model = TextNB().fit(texts, rng.integers(0, 2, 400))
    data = json.dumps(page_model(model.classifier_, ["text"]), separators=(",", ":"))
    assert len(data) < 30 * len(words)


def test_a_tuned_text_model(page):
    rng = np.random.default_rng(4)
    words = np.array([f"w{i}" for i in range(800)])
    y = rng.integers(0, 3, 600)
    texts = [" ".join(rng.choice(words[k * 100 : k * 100 + 500], 30)) for k in y]
    hold(page, TextNB().fit(texts, y).classifier_, {"text": texts})
    mixed = {"text": np.array(texts, dtype=object), "n": rng.normal(y)}
    hold(page, NaiveBayes(text=["text"]).fit(mixed, y).classifier_, mixed)
