"""Telling words: the few that are chosen, beside a twin in plain Python."""

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from priory import Classifier, Settings, leave_one_out
from priory.base.errors import NoLikelihoodError, SettingError
from priory.families import TellingWords

WORDS = [f"w{i}" for i in range(9)] + ["tag"]  # of which some texts make tag:…
TEXTS = st.lists(st.sampled_from(WORDS), max_size=12)
ALPHA = 0.5


def fit(texts, labels, family, weights=None):
    settings = Settings.textbook(
        families={"text": family}, smoothing=ALPHA, text={"text": list_of_words}
    )
    return Classifier(settings).update({"text": texts}, labels, weights)


def list_of_words(text):
    return text.split()


def twin(learned, labels, weights, text, family):
    """Score a text by the definition; log-odds of the second class."""
    mass = [sum(w for y, w in zip(labels, weights, strict=True) if y == k) for k in (0, 1)]
    total = log(mass[1]) - log(mass[0])
    groups = {}
    for word in set(text.split()):
        has = [word in some.split() for some in learned]
        if sum(has) < family.min_df:
            continue
        p = [
            (sum(w for h, y, w in zip(has, labels, weights, strict=True) if h and y == k) + ALPHA)
            / (mass[k] + 2 * ALPHA)
            for k in (0, 1)
        ]
        evidence = log(p[1]) - log(p[0])
        if abs(evidence) >= family.least:
            groups.setdefault((":" in word, evidence > 0), []).append(evidence)
    for (tagged, second), found in groups.items():
        factor = family.factors[2 * tagged + second]
        total += factor * sum(sorted(found, key=abs, reverse=True)[: family.most])
    return total


def tagged(words, every):
    return " ".join(f"tag:{w}" if i % every == 0 else w for i, w in enumerate(words))


@given(st.lists(TEXTS, min_size=4, max_size=12), TEXTS, st.integers(1, 4), st.integers(1, 3),
       st.integers(1, 2), st.sampled_from([[1.0], [1.0, 2.0, 0.5]]))  # fmt: skip
def test_beside_a_twin(rows, new, most, every, min_df, weights):
    texts = [tagged(row, every) for row in rows]
    labels = [i % 2 for i in range(len(texts))]
    weight = [weights[i % len(weights)] for i in range(len(texts))]
    family = TellingWords(most, 0.1, min_df, 0.5, 1.5, 0.7, 1.1)
    model = fit(texts, labels, family, weight)
    text = tagged(new, every)
    p = model.predict_proba({"text": [text, texts[0]]})
    for found, one in zip(p, (text, texts[0]), strict=True):
        expected = twin(texts, labels, weight, one, family)
        assert np.log(found[1] / found[0]) == pytest.approx(expected, abs=1e-9)


def test_missing_and_unknown_texts_say_nothing():
    model = fit(["a b", "c d"] * 3, [0, 1] * 3, TellingWords())
    p = model.predict_proba({"text": [None, "", "never seen", "a"]})
    assert p[:3] == pytest.approx(np.full((3, 2), 0.5)) and p[3, 0] > 0.5


def test_padding_replaces_few_words():
    spam, ham = "cash prize winner claim", "lunch notes agenda minutes"
    model = fit([spam, ham] * 5, [1, 0] * 5, TellingWords(most=2))
    plain, padded = model.predict_proba({"text": [spam, f"{spam} {ham}"]})[:, 1]
    assert plain > 0.9 and padded == pytest.approx(0.5)
    trusting = fit([spam, ham] * 5, [1, 0] * 5, TellingWords(most=2, text_first=0.2))
    assert trusting.predict_proba({"text": [f"{spam} {ham}"]})[0, 1] > 0.9


def test_a_text_is_left_out_by_counting_anew():
    texts, labels = ["a b", "a c", "b c", "d a", "d b", "d c"], [0, 0, 0, 1, 1, 1]
    model = fit(texts, labels, TellingWords())
    found = leave_one_out(model, {"text": texts}, labels)
    rest = fit(texts[1:], labels[1:], TellingWords())
    expected = rest.predict_proba({"text": texts[:1]})[0]
    assert found.probabilities[0] == pytest.approx(expected)


def test_learning_and_forgetting_are_inverse():
    model = fit(["a b", "c d", "a c"], [0, 1, 1], TellingWords())
    before = model.predict_proba({"text": ["a c"]})
    model.update({"text": ["a a d"]}, [0]).forget({"text": ["a a d"]}, [0])
    assert np.array_equal(model.predict_proba({"text": ["a c"]}), before)


def test_what_cannot_be():
    with pytest.raises(SettingError, match="most must be an integer of at least 1, not 0"):
        TellingWords(most=0)
    with pytest.raises(SettingError, match="tagged_first must be a finite number of at least 0"):
        TellingWords(tagged_first=-1)
    with pytest.raises(
        SettingError, match="telling words are of two classes, such as ham and spam"
    ):
        _ = fit(["a", "b", "c"], [0, 1, 2], TellingWords()).model
    with pytest.raises(NoLikelihoodError, match="no probability of a text"):
        fit(["a", "b"], [0, 1], TellingWords()).sample(1)
