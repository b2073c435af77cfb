import threading
from collections import Counter, defaultdict

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from priory.kernels.text import encode_texts
from priory.kernels.vocabulary import Vocabulary
from priory.kernels.words import count_words, score_words

from .texts import NASTY, TEXTS, analyze, decoded, load, random_bytes, zipf_texts

# ---- counting ------------------------------------------------------------------------------------


def twin(texts, y, weight=None):
    """Count with Counters: {(word, class): (rows, weight, count, log_tf)} and sums per class."""
    sums, classes, order = defaultdict(lambda: np.zeros(4)), defaultdict(lambda: np.zeros(3)), {}
    for i, (text, k) in enumerate(zip(texts, y, strict=True)):
        if text is None or k < 0:
            continue
        w = 1.0 if weight is None else weight[i]
        counter = Counter(analyze(text))
        norm = np.sqrt(sum(np.log1p(tf) ** 2 for tf in counter.values()))
        for word, tf in counter.items():
            order.setdefault(word, len(order))
            sums[word, k] += (1, w, w * tf, w * np.log1p(tf) / norm)
        classes[k] += (1, w, w * sum(counter.values()))
    return sums, classes, list(order)


def check(found, vocabulary, texts, y, weight=None, fresh=True):
    sums, classes, order = twin(texts, y, weight)
    words = vocabulary.words()
    if fresh:
        assert words == order
    pairs = list(zip(found.word.tolist(), found.label.tolist(), strict=True))
    assert pairs == sorted((vocabulary.find(word), k) for word, k in sums)
    expected = np.array([sums[words[word], k] for word, k in pairs]).reshape(-1, 4)
    assert (found.word.dtype, found.label.dtype, found.rows.dtype) == (np.int32, np.int32, np.int64)
    np.testing.assert_array_equal(found.rows, expected[:, 0])
    for j, array in enumerate((found.weight, found.count, found.log_tf), 1):
        np.testing.assert_allclose(array, expected[:, j], rtol=1e-12)
    per_class = np.array([classes[k] for k in range(len(found.class_rows))]).reshape(-1, 3)
    assert len(per_class) > max(classes, default=-1)
    np.testing.assert_array_equal(found.class_rows, per_class[:, 0])
    np.testing.assert_allclose(found.class_weight, per_class[:, 1], rtol=1e-12)
    np.testing.assert_allclose(found.class_words, per_class[:, 2], rtol=1e-12)


ROWS = st.lists(st.tuples(st.none() | TEXTS, st.integers(-1, 4), st.floats(0.1, 3)))


@given(ROWS, st.booleans(), st.sampled_from([np.int32, np.int64]))
@example([(text, i % 3, 1.0) for i, text in enumerate(NASTY)], False, np.int32)
def test_count_words_equals_its_twin(rows, weighted, dtype):
    texts, y = [row[0] for row in rows], np.array([row[1] for row in rows], dtype=np.int32)
    weight = np.array([row[2] for row in rows]) if weighted else None
    data, offsets, missing = encode_texts(texts)
    vocabulary = Vocabulary()
    for array in (data, offsets, missing, y):
        array.flags.writeable = False
    found = count_words(data, offsets.astype(dtype), missing, y, weight, vocabulary)
    check(found, vocabulary, texts, y, weight)


@pytest.mark.parametrize("V, K", [(50, 1), (5000, 7), (5000, 1000)])
def test_many_pairs(V, K):
    texts = zipf_texts(1000, 60, V)
    y = np.random.default_rng(1).integers(0, K, len(texts)).astype(np.int32)
    vocabulary = Vocabulary()
    found = count_words(*encode_texts(texts), y, None, vocabulary, K + 2)
    assert len(found.class_rows) == K + 2
    check(found, vocabulary, texts, y)


def test_a_vocabulary_grows_across_batches():
    texts = zipf_texts(900, 50, 20_000)
    y = np.random.default_rng(1).integers(0, 5, len(texts)).astype(np.int32)
    vocabulary, whole = Vocabulary(), Vocabulary()
    sums = pd.DataFrame()
    for part in np.array_split(np.arange(len(texts)), [1, 2, 300, 301, 600]):
        chosen = [texts[i] for i in part]
        found = count_words(*encode_texts(chosen), y[part], None, vocabulary)
        check(found, vocabulary, chosen, y[part], fresh=False)
        sums = pd.concat([sums, pd.DataFrame(found._asdict() | dict.fromkeys(PER_CLASS, 0))])
    expected = count_words(*encode_texts(texts), y, None, whole)
    assert vocabulary.words() == whole.words()
    sums = sums.groupby(["word", "label"], as_index=False).sum()
    for name in ("word", "label", "rows", "weight", "count", "log_tf"):
        np.testing.assert_allclose(sums[name], getattr(expected, name), rtol=1e-12)


PER_CLASS = ("class_rows", "class_weight", "class_words")


def test_few_texts_against_a_large_vocabulary():
    vocabulary = Vocabulary(f"v{i}" for i in range(50_000))
    texts, y = ["v49999 v7 new v7", "v7 new", None], np.array([1, 0, 1], dtype=np.int32)
    found = count_words(*encode_texts(texts), y, None, vocabulary)
    check(found, vocabulary, texts, y, fresh=False)
    assert found.word.tolist() == [7, 7, 49_999, 50_000, 50_000]


def test_a_word_that_occurs_often_in_one_text():
    texts, y = ["ab " * 300 + "cd " * 255, "ab " * 256], np.array([0, 0], dtype=np.int32)
    vocabulary = Vocabulary()
    check(count_words(*encode_texts(texts), y, None, vocabulary), vocabulary, texts, y)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_arrow_buffers_are_taken_as_they_are(kind):
    array = pa.array(["skipped", "The cat", None, "", "ΑΣ cat", "dropped"], kind).slice(1, 4)
    _, offsets, data = array.buffers()
    offsets = np.frombuffer(offsets, np.int32 if kind == pa.string() else np.int64)
    offsets = offsets[array.offset : array.offset + len(array) + 1]
    missing = array.is_null().to_numpy(zero_copy_only=False)
    y = np.array([0, 0, 1, 1], dtype=np.int32)
    vocabulary = Vocabulary()
    found = count_words(np.frombuffer(data, np.uint8), offsets, missing, y, None, vocabulary)
    assert vocabulary.words() == ["the", "cat", "ας"]
    check(found, vocabulary, array.to_pylist(), y)


def test_texts_must_be_inside_the_data():
    data, y, vocabulary = (
        np.frombuffer(b"some words", np.uint8),
        np.zeros(2, np.int32),
        Vocabulary(),
    )
    for offsets in ([0, 5, 11], [0, 5, 4], [-1, 5, 10]):
        with pytest.raises(ValueError, match=r"Text \d is not inside the data of 10 bytes"):
            count_words(data, np.array(offsets), None, y, None, vocabulary)
    offsets = np.array([0, 5, 10])
    with pytest.raises(ValueError, match="There are 2 texts"):
        count_words(data, offsets, None, y[:1], None, vocabulary)
    with pytest.raises(ValueError, match="There are 2 texts"):
        count_words(data, offsets, None, y, np.ones(3), vocabulary)
    with pytest.raises(ValueError, match="There are 2 texts"):
        count_words(data, offsets, np.zeros(1, bool), y, None, vocabulary)
    assert len(vocabulary) == 0
    assert len(count_words(data, offsets[:1], None, y[:0], None, vocabulary).word) == 0
    assert len(count_words(data, offsets[:0], None, y[:0], None, vocabulary).word) == 0


def test_texts_that_end_inside_a_character_meet_the_next_ones_bytes():
    rng = np.random.default_rng(0)
    texts = [random_bytes(rng) for _ in range(10_000)]
    data = np.frombuffer(b"".join(texts), np.uint8)
    offsets = np.cumsum([0, *map(len, texts)])
    y = rng.integers(0, 3, len(texts)).astype(np.int32)
    vocabulary = Vocabulary()
    found = count_words(data, offsets, None, y, None, vocabulary)
    check(found, vocabulary, [decoded(text) for text in texts], y)


def test_threads_do_not_share_a_vocabulary_that_grows():
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{i}" for i in rng.integers(0, 10**6, 1000)) for _ in range(500)]
    batch, y = encode_texts(texts), np.zeros(len(texts), np.int32)
    shared, refused, lone = Vocabulary(), [], Vocabulary()

    def work():
        try:
            count_words(*batch, y, None, shared)
        except RuntimeError as error:
            refused.append(str(error))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    count_words(*batch, y, None, lone)
    assert all("Another thread uses this vocabulary" in reason for reason in refused)
    assert shared.words() == lone.words()


# ---- scoring -------------------------------------------------------------------------------------


def scores(texts, vocabulary, weights, **options):
    out = np.full((len(texts), weights.shape[1]), 0.5)
    score_words(*encode_texts(texts), vocabulary, weights, out, **options)
    return out - 0.5


@given(st.lists(TEXTS, max_size=8), st.integers(1, 40), st.integers(0, 9))
@example(NASTY, 3, 0)
def test_scores_are_those_of_scikit_learns_matrix(texts, K, seed):
    rng = np.random.default_rng(seed)
    words = list(dict.fromkeys(word for text in texts for word in analyze(text)))
    words = ["the", *(word for word in words if word != "the" and rng.random() < 0.7)]
    vocabulary, weights = Vocabulary(words), rng.normal(size=(len(words), K))
    vocabulary.add("beyond the weights")
    X = CountVectorizer(vocabulary=words).transform(texts).toarray().astype(float)
    close = {"rtol": 1e-10, "atol": 1e-9}
    np.testing.assert_allclose(scores(texts, vocabulary, weights), X @ weights, **close)
    found = scores(texts, vocabulary, weights, binary=True)
    np.testing.assert_allclose(found, (X > 0) @ weights, **close)
    logs = np.log1p(X)
    logs /= np.maximum(np.linalg.norm(logs, axis=1, keepdims=True), 1e-300)
    np.testing.assert_allclose(
        scores(texts, vocabulary, weights, log_tf=True), logs @ weights, **close
    )


def test_words_beyond_the_weights_and_missing_texts_score_nothing():
    vocabulary, weights = Vocabulary(["ab", "cd", "ef"]), np.array([[1.0, 2.0], [4.0, 8.0]])
    texts = ["ab ef ab", None, "cd gh", ""]
    assert scores(texts, vocabulary, weights).tolist() == [[2, 4], [0, 0], [4, 8], [0, 0]]
    assert scores(texts, vocabulary, weights, binary=True).tolist()[0] == [1, 2]
    assert scores(texts, vocabulary, weights, log_tf=True).tolist()[0] == [1, 2]
    assert scores(texts, vocabulary, weights[:0]).tolist() == [[0, 0]] * 4
    assert scores([], vocabulary, weights).shape == (0, 2)
    impossible = scores(["ab"], vocabulary, np.array([[-np.inf, 1.0], [np.inf, 1.0]]))
    assert impossible.tolist() == [[-np.inf, 1.0]]


def test_scores_refuse_what_cannot_be():
    vocabulary, batch = Vocabulary(["ab"]), encode_texts(["ab", "cd"])
    with pytest.raises(ValueError, match="exclude each other"):
        score_words(*batch, vocabulary, np.ones((1, 2)), np.ones((2, 2)), binary=True, log_tf=True)
    with pytest.raises(ValueError, match=r"out must be \(2, 2\), not \(2, 3\)"):
        score_words(*batch, vocabulary, np.ones((1, 2)), np.ones((2, 3)))


# ---- real texts ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sms_spam.csv", "ling_spam.csv.gz"])
def test_real_texts(name):
    texts, y = load(name)
    vocabulary = Vocabulary()
    found = count_words(*encode_texts(texts), y, None, vocabulary)
    check(found, vocabulary, texts, y)
    vectorizer = CountVectorizer()
    X = vectorizer.fit_transform(texts)
    assert sorted(vocabulary.words()) == vectorizer.get_feature_names_out().tolist()
    weights = np.random.default_rng(0).normal(size=(len(vocabulary), 3))
    order = [vocabulary.find(word) for word in vectorizer.get_feature_names_out()]
    found = scores(texts, vocabulary, weights)
    np.testing.assert_allclose(found, X @ weights[order], rtol=1e-9, atol=1e-9)


def test_words_of_every_length_beside_other_characters():
    for odd in ["", *"éÉ日😀ΣİȺ\u0301-@[`{/:"]:
        texts = [f"{'aZ_09'[n % 5] * n}{odd}{'Qz' * m}" for n in range(20) for m in range(6)]
        y, vocabulary = np.zeros(len(texts), np.int32), Vocabulary()
        check(count_words(*encode_texts(texts), y, None, vocabulary), vocabulary, texts, y)
