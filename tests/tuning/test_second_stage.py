"""The second stage of texts: what it learns, and that every road leads to the same."""

import pickle
from copy import deepcopy

import numpy as np
import pandas as pd
import pytest

import priory
from priory import NaiveBayes, TextNB, leave_one_out
from priory.families import Words
from priory.families.word_correction import WordCorrection, corrected
from priory.kernels.vocabulary import Vocabulary
from priory.tuning.word_corrections import calibrated

SAME = {"rtol": 1e-4, "atol": 1e-6}


def drawn(n=600, classes=3, seed=0, words=60):
    """Draw texts with one telling word, and five that come together and tell little.

    Naive Bayes counts the five as if each told as much by itself.
    """
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    telling = np.where(rng.random(n) < 0.7, y, rng.integers(0, classes, n))
    together = np.where(rng.random(n) < 0.3, y, rng.integers(0, classes, n))
    texts = []
    for one, five in zip(telling, together, strict=True):
        some = [f"w{i}" for i in rng.integers(0, words, 4)]
        some += [f"tells{one}", *(f"{letter}{five}" for letter in ("aa", "bb", "cc", "dd", "ee"))]
        texts.append(" ".join(rng.permutation(some)))
    return texts, np.array([f"c{k:02}" for k in y])


def model_of(texts, y, **options):
    return TextNB(analyzer="word", **options).fit(texts, y)


@pytest.fixture
def always(monkeypatch):
    """Correct words however few the texts are."""
    monkeypatch.setattr("priory.tuning.tuning.FEW_TEXTS", 0)


@pytest.mark.parametrize("per_class", [3, 10])
def test_few_texts_of_many_classes_are_told_apart(per_class):
    # Of so few texts, nearly all words of a text are unknown without its fold.
    rng = np.random.default_rng(0)
    topics = [[f"t{k}x{i}" for i in range(40)] for k in range(20)]

    def text(k):
        return " ".join([*rng.choice(topics[k], 12), *(f"w{i}" for i in rng.integers(0, 300, 40))])

    y = np.repeat(np.arange(20), per_class)
    truth = np.repeat(np.arange(20), 10)
    model = model_of([text(k) for k in y], y)
    judged = priory.evaluate(model, [text(k) for k in truth], truth)
    assert model.classifier_.tuning.choices["text"].family.readout != "evidence"
    assert judged.accuracy > 0.9
    assert judged.log_loss < 0.7 * np.log(20)


@pytest.mark.parametrize("classes", [2, 3, 40])
def test_words_are_corrected_and_texts_that_were_not_learned_gain(classes):
    texts, y = drawn(3000, classes)
    new, truth = drawn(2000, classes, seed=1)
    losses = {}
    for weights in ("auto", "temperature"):
        model = model_of(texts, y, weights=weights)
        p = model.predict_proba(new)
        losses[weights] = -np.log(p[np.arange(len(p)), model.classes_.searchsorted(truth)]).mean()
    model = model_of(texts, y)
    tuning = model.classifier_.tuning
    assert tuning.choices["text"].family == Words("evidence", "log")
    assert list(tuning.words) == ["text"]
    assert losses["auto"] < losses["temperature"]
    reported = leave_one_out(model, texts, y).log_loss
    assert reported == pytest.approx(losses["auto"], rel=0.15)


@pytest.mark.parametrize("classes", [2, 3, 40])
def test_terms_add_up_to_the_probabilities(always, classes):
    texts, y = drawn(2000, classes)
    model = model_of(texts, y)
    assert model.classifier_.tuning.words
    form = model.model_.linear_form()
    vocabulary = {word: i for i, word in enumerate(model.words_)}
    for text in texts[:20]:
        counts = pd.Series(text.split()).value_counts()
        x = np.log1p(counts.to_numpy(float))
        x /= np.sqrt((x**2).sum())
        scores = form.bias + x @ form.weights[[vocabulary[word] for word in counts.index]]
        p = np.exp(scores - scores.max())
        np.testing.assert_allclose(model.predict_proba([text])[0], p / p.sum(), atol=1e-12)
    assert any(word in str(model.explain(texts[:1])) for word in texts[0].split())


def test_every_road_gives_the_same_model(tmp_path):
    texts, y = drawn()
    whole = model_of(texts, y)
    assert whole.classifier_.tuning.words
    expected = whole.predict_proba(texts)
    order = np.random.default_rng(3).permutation(len(y))
    parts = np.array_split(np.arange(len(y)), 5)
    chunks, merged = TextNB(analyzer="word"), None
    for part in parts:
        some = [texts[i] for i in part]
        chunks.partial_fit(some, y[part])
        one = TextNB(analyzer="word").partial_fit(some, y[part])
        merged = one if merged is None else merged + one
    extra = model_of([*texts, *texts[:60]], np.append(y, y[:60]))
    extra.forget(texts[:60], y[:60])
    rows = pd.DataFrame({"text": texts, "target": y})
    rows.to_csv(tmp_path / "rows.csv", index=False)
    asked = {"text": {"text": "word"}, "missing": "skip"}
    roads = {
        "permuted": model_of([texts[i] for i in order], y[order]),
        "chunks": chunks,
        "merged": merged,
        "forgotten": extra,
        "file": priory.train(tmp_path / "rows.csv", "target", **asked),
    }
    for road, model in roads.items():
        given = {"text": texts} if road == "file" else texts
        np.testing.assert_allclose(model.predict_proba(given), expected, err_msg=road, **SAME)


def test_a_file_keeps_what_was_learned(tmp_path):
    texts, y = drawn()
    model = model_of(texts, y)
    model.save(tmp_path / "m.priory")
    loaded = priory.load(tmp_path / "m.priory")
    assert loaded.classifier_.tuning.words.keys() == {"text"}
    np.testing.assert_allclose(loaded.predict_proba(texts), model.predict_proba(texts), rtol=1e-12)


def test_rows_that_were_not_sampled_are_left_out_of_the_sums():
    texts, y = drawn(600)
    model = model_of(texts, y, sample_size=300)
    new, truth = drawn(2000, seed=1)
    p = model.predict_proba(new)
    loss = -np.log(p[np.arange(len(p)), model.classes_.searchsorted(truth)]).mean()
    assert leave_one_out(model, texts, y).log_loss == pytest.approx(loss, rel=0.25)


def test_a_prior_given_is_the_prior_used():
    texts, y = drawn()
    plain = model_of(texts, y)
    prior = {"c00": 0.7, "c01": 0.2, "c02": 0.1}
    moved = model_of(texts, y, class_prior=prior)
    shares = pd.Series(y).value_counts(normalize=True).sort_index().to_numpy()
    expected = plain.predict_proba(texts) * np.array(list(prior.values())) / shares
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(moved.predict_proba(texts), expected, rtol=1e-9)
    np.testing.assert_allclose(moved.predict_proba(["unheard"])[0], list(prior.values()))


@pytest.mark.parametrize("factor", [1e-6, 10.0])
def test_only_the_ratios_of_weights_matter(factor):
    texts, y = drawn()
    weight = np.random.default_rng(1).integers(1, 5, len(y)).astype(float)
    a, b = (
        TextNB(analyzer="word").fit(texts, y, sample_weight=w) for w in (weight, weight * factor)
    )
    np.testing.assert_allclose(a.predict_proba(texts), b.predict_proba(texts), **SAME)


def test_texts_that_came_twice_are_learned_as_if_once():
    texts, y = drawn()
    once = TextNB(analyzer="word").fit(texts, y)
    twice = TextNB(analyzer="word").fit([*texts, *texts], np.r_[y, y])
    np.testing.assert_allclose(once.predict_proba(texts), twice.predict_proba(texts), **SAME)
    figures = [leave_one_out(model, texts, y).log_loss for model in (once, twice)]
    assert figures[0] == pytest.approx(figures[1], rel=1e-3)


def test_held_out_scores_are_the_same_whenever_they_are_computed(always, monkeypatch):
    texts, y = drawn(1000)
    at_once = model_of(texts, y).classifier_.tuning.scored
    monkeypatch.setattr("priory.tuning.word_corrections.JUDGED", 500)
    model = model_of(texts, y)
    later = model.classifier_.tuning.scored
    copy = deepcopy(model)
    assert "value" not in later.held_out.__dict__  # neither to fit nor to copy is a reason
    np.testing.assert_allclose(later.scores, at_once.scores, rtol=1e-12)
    assert copy.classifier_.tuning.scored.scores is later.scores
    np.testing.assert_array_equal(
        leave_one_out(pickle.loads(pickle.dumps(model_of(texts, y))), texts, y).probabilities,
        leave_one_out(model, texts, y).probabilities,
    )


def test_a_text_column_is_one_factor_among_others():
    texts, y = drawn(1500)
    rng = np.random.default_rng(2)
    number = rng.normal(size=len(y)) + (y == "c01")
    X = pd.DataFrame({"note": texts, "number": number})
    X.loc[::50, "note"] = None
    model = NaiveBayes(text={"note": "word"}).fit(X, y)
    assert model.classifier_.tuning.words.keys() == {"note"}
    new, truth = drawn(1500, seed=1)
    other = pd.DataFrame({"note": new, "number": rng.normal(size=len(new)) + (truth == "c01")})
    both = model.score(other, truth)
    assert both > model_of(texts, y).score(new, truth)
    total = sum(term.family.log_likelihood(term.column(model.classifier_.frame(other)),
                term.parameters) * term.weight for term in model.model_.terms)  # fmt: skip
    total = total + model.model_.log_prior + model.model_.biases(model.classifier_.frame(other))
    p = np.exp(total - total.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(other), p, atol=1e-12)


def test_few_texts_and_texts_that_say_nothing_are_not_corrected():
    rng = np.random.default_rng(0)
    noise = [" ".join(f"w{i}" for i in rng.integers(0, 50, 8)) for _ in range(500)]
    model = model_of(noise, rng.integers(0, 2, 500))
    p = model.predict_proba(noise)
    assert np.abs(p - 0.5).max() < 0.2
    few = model_of(["win cash", "cash now", "lunch noon", "see you"], ["a", "a", "b", "b"])
    assert not few.classifier_.tuning.words


def test_more_classes_than_a_text_looks_at():
    texts, y = drawn(4000, 60)
    model = model_of(texts, y)
    found = model.classifier_.tuning.words["text"]
    assert len(found.value) < 0.8 * len(found.vocabulary) * 60  # a part of all pairs
    assert (np.diff(found.word.astype(np.int64) * 60 + found.label) > 0).all()


def test_corrections_of_unknown_words_and_classes_are_left_out():
    texts, y = drawn(300)
    model = TextNB(analyzer="word", weights=None, readout=Words("evidence")).fit(texts, y)
    parameters = model.model_.terms[0].parameters
    word, label = np.array([0, 1, 1], np.int32), np.array([1, 0, 1], np.int32)
    value = np.array([2.0, 1.0, 3.0], np.float32)
    correction = WordCorrection(Vocabulary(["never", "w1"]), word, label, value)
    new = corrected(parameters, correction, 2.0, np.array([1, -1, 0]))
    at = parameters.vocabulary.find("w1")
    change = new.weights.of(np.array([at])) - parameters.weights.of(np.array([at]))
    np.testing.assert_allclose(change[0], [1.5, 0.0, 0.5])
    others = np.flatnonzero(np.arange(len(parameters.vocabulary)) != at)
    np.testing.assert_array_equal(new.weights.of(others), parameters.weights.of(others))


def test_a_temperature_and_biases_are_fitted():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(4000, 3))
    truth = 0.7 * scores + np.array([0.5, 0.0, -0.5])
    y = (truth + rng.gumbel(size=truth.shape)).argmax(axis=1).astype(np.int32)
    _, t, b = calibrated(scores, np.zeros((4000, 3)), y, np.ones(4000), steps=30)
    assert t == pytest.approx(0.7, abs=0.06)
    np.testing.assert_allclose(b - b.mean(), [0.5, 0.0, -0.5], atol=0.08)


def test_without_smoothing_the_complement_is_not_tried():
    """Leaving a text out of it has no closed form then, and would take longer for each text."""
    texts = [f"{a} {b}" for a in ("win cash", "lunch noon", "see you") for b in ("now", "at", "x")]
    model = TextNB(smoothing=0, analyzer="word").fit(texts * 5, ["s", "h", "h"] * 15)
    assert model.classifier_.tuning.choices["text"].family.readout == "multinomial"
