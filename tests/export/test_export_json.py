"""A model's JSON can be read, and a few lines of plain Python score by it as the model does."""

import json
import warnings

import numpy as np
import pytest

from priory import Classifier, NaiveBayes, Settings, TextNB
from priory.base.errors import ImpossibleEvidenceWarning
from priory.examples import play_tennis
from priory.export import to_json
from priory.export.plain import PARAMETERS
from priory.families import Binomial, Categorical, Gaussian, Words, class_names, family_class
from priory.families.priors import MEstimate
from priory.families.telling_words import TellingWords

from .scorer import FAMILIES, posterior

TEXTS = ["red sea, red sky", "blue sea", "red red rose", "blue sky and sea", "a rose", "sky blue"]


def columns_of(seed=0, n=90):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    word = rng.choice(["it's", "b", "ü", "d"], n).astype(object)
    truth = (word == "b") | (rng.random(n) < 0.2 + 0.2 * y)
    word[rng.random(n) < 0.2] = None
    number = rng.normal(y, 1.0, n).round(2)
    spread = (rng.exponential(1 + y, n) + np.abs(number)).round(3)
    number[rng.random(n) < 0.2] = np.nan
    X = {
        "word": word,
        "truth": truth,
        "number": number,
        "whole": rng.poisson(1 + y),
        "spread": spread,
    }
    return X, np.array(["low", "mid", "high"])[y]


def strange(X):
    """Return rows with gaps and values that were never learned."""
    other = {name: values.copy() for name, values in X.items()}
    other["word"][::3] = "never"
    other["word"][::5] = None
    other["number"][::4] = 31.5
    other["number"][::7] = np.nan
    other["whole"][::6] = 77
    other["spread"][::5] = -2.0
    return other


def hold(classifier, X):
    """Hold the scorer to Python's posteriors."""
    text = json.dumps(to_json(classifier), allow_nan=False)
    model = json.loads(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ImpossibleEvidenceWarning)
        expected = classifier.predict_proba(X)
    listed = {name: np.asarray(values, dtype=object).tolist() for name, values in X.items()}
    for i, p in enumerate(expected):
        row = {
            name: None if values[i] != values[i] else values[i] for name, values in listed.items()
        }
        found = list(posterior(model, row).values())
        np.testing.assert_allclose(found, p, rtol=0, atol=1e-12)
    return model


MODELS = [
    ("plain", {}),
    ({"number": "student-t", "spread": "log-normal", "whole": "poisson"}, {}),
    ({"number": "histogram", "spread": "rank-normal", "whole": "categorical"}, {}),
    ({"number": "kernel-density", "whole": Binomial(trials=99)}, {}),
    ({"number": Gaussian(shared=True), "word": Categorical(unseen="smooth")}, {}),
    ({("number", "spread"): "multivariate-gaussian", ("word", "truth"): "joint"}, {}),
    ("plain", {"structure": "tan"}),
    ("plain", {"structure": "aode"}),
    ("plain", {"structure": "joint"}),
    ("plain", {"pairs": "auto", "weights": "columns"}),
    ("auto", {"weights": "columns", "missing": "category"}),
    ({"number": "histogram"}, {"weights": "temperature"}),
]


@pytest.mark.parametrize("smoothing", [0.0, 0.5, MEstimate(2, "marginal")], ids=str)
@pytest.mark.parametrize(("families", "more"), MODELS, ids=range(len(MODELS)))
def test_a_scorer_in_plain_python_gives_the_posteriors(families, more, smoothing):
    X, y = columns_of()
    classifier = Classifier(Settings.textbook(families, smoothing, **more)).fit(X, y)
    hold(classifier, {name: values[:30] for name, values in X.items()})
    hold(classifier, strange(X))


@pytest.mark.parametrize("family", ["multinomial", "bernoulli", "complement"])
def test_counts(family):
    rng = np.random.default_rng(1)
    X = {f"w{j}": rng.poisson(0.8, 30) for j in range(5)}
    settings = Settings.textbook({tuple(X): family})
    hold(Classifier(settings).update(X, rng.integers(0, 3, 30).tolist()), X)


READOUTS = [
    *("multinomial", "bernoulli", "complement"),
    Words("multinomial", term="log", idf=True),
    Words("multinomial", max_df=0.5),
]


@pytest.mark.parametrize("smoothing", [0.0, 1.0])
@pytest.mark.parametrize("readout", READOUTS, ids=str)
def test_texts(readout, smoothing):
    model = TextNB(readout, smoothing, weights=None).fit(TEXTS, ["a", "b", "a", "b", "c", "c"])
    hold(model.classifier_, {"text": [*TEXTS, "", "red zebra sea", "nothing known", None]})


@pytest.mark.parametrize("analyzer", ["word", "sklearn"])
def test_words_of_either_kind(analyzer):
    model = TextNB("multinomial", 1.0, weights=None, analyzer=analyzer)
    model.fit(TEXTS, ["a", "b", "a", "b", "c", "c"])
    hold(model.classifier_, {"text": [*TEXTS, "a sea"]})


def test_telling_words():
    family = TellingWords(most=2, least=0.01, text_first=0.5, tagged_second=1.5)
    settings = Settings.textbook({"text": family}, 0.5, text={"text": str.split})
    texts = ["a:x red sea", "a:y blue sea sky", "a:x red rose sky", "blue sky sea", "rose a:y"]
    classifier = Classifier(settings).update({"text": texts}, [0, 1, 0, 1, 0])
    hold(classifier, {"text": [*texts, "red blue sky rose sea a:x a:y", "", None]})


def test_the_scorer_and_the_export_know_every_family():
    names = {family_class(name).name for name in class_names()}
    assert set(PARAMETERS) == set(FAMILIES) == {*names, "correction"}


def test_it_can_be_read():
    X, y = play_tennis()
    told = to_json(NaiveBayes.textbook(smoothing=0).fit(X, y).classifier_)
    assert told["prior"] == pytest.approx({"No": 5 / 14, "Yes": 9 / 14})
    outlook = told["factors"][0]
    assert outlook["columns"] == ["outlook"]
    assert (outlook["family"], outlook["weight"]) == ("categorical", 1.0)
    assert outlook["parameters"]["values"] == ["Overcast", "Rain", "Sunny"]
    assert outlook["parameters"]["probability"]["Yes"] == pytest.approx([4 / 9, 3 / 9, 2 / 9])
    assert outlook["parameters"]["probability"]["No"][0] == 0.0
    assert "bias" not in outlook


def test_classes_of_several_types_have_keys_of_their_own():
    told = to_json(Classifier(Settings.textbook()).update({"x": ["a", "b"]}, ["1", 1]))
    assert told["classes"] == [1, "1"]
    assert list(told["prior"]) == ["1", '"1"']
