"""What is saved comes back as what it was."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone

from priory import Classifier, NaiveBayes, Settings, TextNB, load
from priory.base.errors import ModelFileError, SchemaError, SettingError
from priory.classifier import classifier as classifiers
from priory.classifier.layout import parquet
from priory.families import Gaussian, Words
from priory.families.priors import Laplace
from priory.text import Analyzer, register_analyzer

X = pd.DataFrame(
    {"word": ["red", "blue", "red", "green"] * 6, "n": np.arange(24.0), "m": np.arange(24.0) % 5}
)
Y = np.array([3, 1, 3, 1] * 6, dtype=np.int16)
TEXTS = ["win cash now", "cash prize inside", "lunch at noon", "see you at lunch"] * 6
MAIL = ["spam", "spam", "ham", "ham"] * 6


@pytest.fixture
def path(tmp_path):
    return tmp_path / "m.priory"


@pytest.mark.parametrize(
    "model",
    [
        NaiveBayes(),
        NaiveBayes.textbook(smoothing=0.5),
        NaiveBayes(
            families={("n", "m"): "multivariate-gaussian"},
            smoothing={"word": Laplace(2.0)},
            class_prior=[0.5, 0.5],
            missing={"word": "category"},
            unseen={"word": "smooth"},
            sample_size=20,
            weights=None,
        ),
        NaiveBayes(families={"n": Gaussian(shared=True)}, text=["word"], class_prior=(0.25, 0.75)),
        NaiveBayes(text={"word"}, class_prior={1: 0.5, 3: 0.5}),
        NaiveBayes(text={"word": Analyzer("char", (1, 2))}, structure="tan", select="mdl"),
    ],
    ids=range(6),
)
@pytest.mark.filterwarnings("ignore::priory.base.errors.StaleTuningWarning")
def test_naive_bayes(path, model):
    model.fit(X, Y).save(path)
    again = load(path)
    assert type(again) is NaiveBayes
    assert again.get_params() == model.get_params() == clone(again).get_params()
    assert again.statistics_ == model.statistics_
    np.testing.assert_allclose(again.predict_proba(X), model.predict_proba(X), rtol=1e-12)
    assert again.predict(X).dtype == again.classes_.dtype == np.int16
    assert again.score(X, Y) == model.score(X, Y)
    assert again.feature_names_in_.tolist() == list(X)
    assert isinstance(again.sample(3)[0], pd.DataFrame)
    assert isinstance(again.classifier_, Classifier)
    model.save(path, keep_sample=True)
    load(path).partial_fit(X, Y).save(path)
    assert load(path).statistics_.n_rows == 48


@pytest.mark.parametrize(
    "model",
    [
        TextNB(),
        TextNB.textbook(smoothing=0.5),
        TextNB(Words("complement"), ngram_range=(1, 2), stop_words=["at"], class_prior="words"),
        TextNB(analyzer=Analyzer("char", (1, 3), max_features=50), lowercase=True),
        TextNB(symbols=True, normalize="nfkc", strip_accents="unicode"),
        TextNB(token_pattern="[a-z]+"),
    ],
    ids=range(6),
)
def test_texts(path, model):
    model.fit(TEXTS, MAIL).save(path)
    again = load(path)
    assert type(again) is TextNB
    assert again.get_params() == model.get_params() == clone(again).get_params()
    assert again.predict(["free cash", "lunch today"]).tolist() == ["spam", "ham"]
    assert again.score(TEXTS, MAIL) == model.score(TEXTS, MAIL)
    np.testing.assert_allclose(again.predict_proba(TEXTS), model.predict_proba(TEXTS), rtol=1e-12)
    assert sorted(again.words_) == sorted(model.words_)
    assert type(TextNB.load(path)) is TextNB
    assert TextNB.load(path).get_params() == again.get_params()
    beneath = TextNB.from_classifier(again.classifier_)
    np.testing.assert_array_equal(beneath.predict_proba(TEXTS), again.predict_proba(TEXTS))
    beneath.save(path)
    np.testing.assert_array_equal(load(path).predict(TEXTS), beneath.predict(TEXTS))


def test_files_of_the_time_of_scikit_learns_words(path):
    """Such a file says less of its analyzer, and its "word" is scikit-learn's."""
    model = TextNB.textbook(smoothing=0.5).fit([*TEXTS, "a b"], [*MAIL, "ham"])
    model.save(path)

    def old(header):
        text = json.dumps(header).replace('"sklearn"', '"word"')
        for name in ("strip_accents", "normalize", "token_pattern"):
            text = text.replace(f', "{name}": null', "")
        return json.loads(text.replace(', "symbols": false', ""))

    table = pq.read_table(path)
    header = old(json.loads(pq.read_metadata(path).metadata[b"priory"]))
    assert "symbols" not in json.dumps(header)
    path.write_bytes(parquet(table.replace_schema_metadata(None), json.dumps(header).encode()))
    again = load(path)
    assert type(again) is TextNB and again.smoothing == 0.5
    assert again.analyzer == Analyzer("sklearn")
    np.testing.assert_allclose(again.predict_proba(TEXTS), model.predict_proba(TEXTS), rtol=1e-12)
    again.partial_fit(["c d"], ["ham"])
    assert "c" not in again.words_


def test_a_classifier_of_other_columns_is_no_text_classifier(path):
    NaiveBayes(text=["word"]).fit(X, Y).save(path)
    with pytest.raises(SettingError, match="TextNB reads one column of texts, 'text', and the"):
        TextNB.load(path)
    assert type(NaiveBayes.load(path)) is NaiveBayes


@register_analyzer
def letters(text):
    return list(text)


def test_registered_functions_are_found_again(path):
    model = TextNB(analyzer=letters).fit(TEXTS, MAIL)
    model.save(path)
    np.testing.assert_allclose(
        load(path).predict_proba(TEXTS), model.predict_proba(TEXTS), rtol=1e-12
    )


def test_functions_are_kept_by_name(path):
    TextNB(analyzer=str.split, n_threads=1).fit(TEXTS, MAIL).save(path)
    again = load(path)
    assert type(again) is TextNB and again.n_threads is None
    with pytest.raises(SchemaError, match=r"str\.split"):
        again.predict(TEXTS)


def test_arrays(path):
    NaiveBayes().fit(X[["n", "m"]].to_numpy(), Y.astype(float)).save(path)
    again = load(path)
    assert not hasattr(again, "feature_names_in_") and again.n_features_in_ == 2
    assert again.classes_.dtype == float and isinstance(again.sample(2)[0], np.ndarray)


def test_a_classifier_is_a_classifier(path):
    Classifier().fit(X, Y).save(path)
    assert type(load(path)) is Classifier
    # So is the one beneath an estimator, before and after.
    model = NaiveBayes().fit(X, Y)
    model.save(path)
    for beneath in (model.classifier_, load(path).classifier_):
        beneath.save(path.with_name("beneath.priory"))
        path.with_name("beneath.priory").replace(path)
        assert type(load(path)) is Classifier


def test_a_derived_class_comes_back_as_its_classifier(path):
    class Own(NaiveBayes):
        """Stand for a class of a user's own."""

    Own().fit(X, Y).save(path)
    assert type(load(path)) is Classifier


def test_the_classifier_of_an_estimators_file_can_go_on(path):
    """The shell learns on without scikit-learn, and what it saves is an estimator still."""
    NaiveBayes.textbook().fit(X, Y).save(path)
    beneath = classifiers.load(path).update(X, Y)
    beneath.save(path)
    assert type(load(path)) is NaiveBayes and load(path).statistics_.n_rows == 48
    (beneath + classifiers.load(path)).save(path)
    assert type(load(path)) is NaiveBayes and load(path).statistics_.n_rows == 96


def test_a_classifier_read_again_is_no_longer_that_estimator(path):
    NaiveBayes.textbook().fit(X, Y).save(path)
    classifiers.load(path).change_settings(Settings.textbook(smoothing=7)).save(path)
    again = load(path)
    assert type(again) is Classifier and again.settings.smoothing == 7


def test_scikit_learn_is_loaded_for_estimators_alone(path):
    code = "import sys, priory; priory.load(sys.argv[1]); print('sklearn' in sys.modules)"
    for model, expected in ((Classifier().fit(X, Y), "False"), (NaiveBayes().fit(X, Y), "True")):
        model.save(path)
        done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)
        assert done.stdout.strip() == expected, done.stderr


def test_a_file_without_the_field_is_a_classifiers(path):
    NaiveBayes().fit(X, Y).save(path)
    rewrite(path, lambda kept: kept.pop("estimator"))
    assert type(load(path)) is Classifier


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda e: e.update(name="Popen"), "was saved as 'Popen', which this priory does not know"),
        (lambda e: e.update(name=["x"]), r"was saved as \['x'\], which this"),
        (lambda e: e["params"].update(colour=1), "its estimator cannot be honoured: .*colour"),
        (lambda e: e["params"].update(families={"type": "Popen", "options": {}}), "no family or"),
        (lambda e: e["params"].update(weights="rows"), "weights must be one of"),
        (lambda e: e.pop("params"), "its estimator cannot be honoured: 'params'"),
        (lambda e: e.update(params=3), "its estimator cannot be honoured"),
        (lambda e: e.update(y="O"), "'arrow' of 'O' is no data|'pandas' of 'O' is no data"),
        (lambda e: e.update(y="strange"), "its estimator cannot be honoured"),
        (lambda e: e.update(table="cloth"), "'cloth' of .* is no data that was learned"),
    ],
)
def test_the_field_is_not_believed_unread(path, change, message):
    NaiveBayes().fit(X, Y).save(path)
    rewrite(path, lambda kept: change(kept["estimator"]))
    with pytest.raises(ModelFileError, match=message):
        load(path)


def test_a_field_of_another_kind_is_refused(path):
    NaiveBayes().fit(X, Y).save(path)
    rewrite(path, lambda kept: kept.update(estimator="NaiveBayes"))
    with pytest.raises(ModelFileError, match=r"estimator must be a description of one"):
        load(path)


def rewrite(path, change):
    """Write a file again with another provenance in its header."""
    table = pq.read_table(path)
    header = json.loads(pq.read_metadata(path).metadata[b"priory"])
    change(header["model"]["provenance"])
    path.write_bytes(parquet(table.replace_schema_metadata(None), json.dumps(header).encode()))
