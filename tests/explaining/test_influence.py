"""Taking a row out of the sums is never having learned it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.model.test_explanation import FAMILIES, TEXTS, mixed

from priory import Classifier, NaiveBayes, Settings, TextNB
from priory.base.errors import ForgetError, InputError, SettingError
from priory.classifier.fitted import read_out
from priory.model.log_odds import log_odds

MORE = [
    {},
    {"structure": "tan"},
    {"structure": "joint"},
    {"missing": "category"},
    {"weights": "columns"},
]


def check(classifier, X, y, weight, asked):
    found = classifier.influence(asked, X, y, weight)
    before = log_odds(classifier.predict_joint_log_proba(asked)[0])
    p = classifier.predict_proba(asked)[0]
    for i in range(0, len(y), 9):
        rest = classifier.copy()
        one = {name: values[i : i + 1] for name, values in X.items()}
        rest.forget(one, y[i : i + 1], None if weight is None else weight[i : i + 1])
        without = read_out(rest.statistics, classifier.settings, classifier.tuning)
        scores = without.log_joint(rest.frame(asked))[0]
        np.testing.assert_allclose(found.log_odds[i], before - log_odds(scores), atol=1e-9)
        after = np.exp(scores - np.logaddexp.reduce(scores))
        np.testing.assert_allclose(found.probability[i], p - after, atol=1e-9)


@pytest.mark.parametrize("families", FAMILIES, ids=range(len(FAMILIES)))
def test_every_family(families):
    X, y = mixed(3, 60, 3)
    classifier = Classifier(Settings.textbook(families, 1.0)).fit(X, y)
    check(classifier, X, y, None, {name: values[7:8] for name, values in X.items()})


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6), more=st.sampled_from(MORE), weighted=st.booleans())
def test_structures_weights_and_gaps(seed, more, weighted):
    X, y = mixed(seed, 60, 3)
    weight = np.random.default_rng(seed).choice([0.5, 1.0, 3.0], 60) if weighted else None
    classifier = Classifier(Settings.textbook("plain", **more)).fit(X, y, weight)
    check(classifier, X, y, weight, {name: values[5:6] for name, values in X.items()})


def test_the_default_keeps_what_it_was_tuned_to():
    X, y = mixed(0, 150, 2)
    classifier = Classifier().fit(X, y)
    check(classifier, X, y, None, {name: values[5:6] for name, values in X.items()})


def test_texts():
    classifier = TextNB.textbook().fit(TEXTS * 2, list("abaccb") * 2).classifier_
    check(classifier, {"text": TEXTS * 2}, list("abaccb") * 2, None, {"text": ["red sky"]})


def test_errors():
    X, y = {"x": ["a", "b", "b"]}, [0, 1, 1]
    model = NaiveBayes.textbook().fit(X, y)
    with pytest.raises(InputError, match="the prediction of one row, not of 3"):
        model.influence(X, X, y)
    with pytest.raises(ForgetError, match="not all learned"):
        model.influence({"x": "a"}, {"x": ["c"]}, [0])
    words = TextNB.textbook(class_prior="words").fit(["red sea", "blue"], [0, 1])
    with pytest.raises(SettingError, match="not worked out for class_prior='words'"):
        words.influence(["red"], ["red sea"], [0])


def test_it_prints_the_strongest():
    X, y = {"x": ["a", "a", "b"] * 8}, ["yes", "no", "no"] * 8
    found = NaiveBayes.textbook().fit(X, y).influence({"x": "a"}, X, y)
    lines = str(found).splitlines()
    assert lines[0].split() == ["row", "class", "log-odds", "of", "no", "P"]
    assert len(lines) == 11
    assert found.to_frame().shape == (24, 2)
    assert found.order("yes")[0] % 3 == 0
