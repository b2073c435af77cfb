import pickle
from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from priory.kernels.text import Splitter
from priory.kernels.utf8 import encode_texts
from priory.kernels.vocabulary import Vocabulary
from priory.kernels.word_scores import WordScores, place_pairs, score_words

from .texts import NASTY, OPTIONS, TEXTS, analyzer, zipf_texts
from .twins import dense_scores, random_scores, scores, scores_twin

CLOSE = {"rtol": 1e-10, "atol": 1e-9}


@given(
    st.lists(TEXTS, max_size=8),
    st.integers(1, 40),
    st.integers(0, 9),
    st.sampled_from(["count", "binary", "log"]),
    st.booleans(),
    OPTIONS,
)
@example(NASTY, 3, 0, "count", False, {})
@example(NASTY, 3, 0, "log", True, {})
def test_scores_are_those_of_the_matrix(texts, K, seed, tf, zero, options):
    rng, split = np.random.default_rng(seed), analyzer(**options)
    words = list(dict.fromkeys(word for text in texts for word in split(text)))
    words = ["the", *(word for word in words if word != "the" and rng.random() < 0.7)]
    known = len(words) - len(words) // 5  # the rest is beyond the scores
    s = random_scores(rng, known, K, zero=zero)
    X = np.zeros((len(texts), len(words)))
    for i, text in enumerate(texts):
        counter = Counter(split(text))
        X[i] = [counter[word] for word in words]
    found = scores(texts, Vocabulary(words), s, tf=tf, splitter=Splitter(**options))
    np.testing.assert_allclose(found, scores_twin(X, s, tf), **CLOSE)


def test_long_texts_of_mixed_words_and_many_classes():
    rng, texts = np.random.default_rng(0), zipf_texts(15, 2000, 5000)
    for K in (1, 2, 20):
        vocabulary = Vocabulary(f"w{i}" for i in range(0, 6000, 2))
        X = CountVectorizer(vocabulary=vocabulary.words()).transform(texts).toarray().astype(float)
        for kinds in ((0,), (-1,), (-2, -1, 0)):
            s = random_scores(rng, 3000, K, kinds, zero=K == 2)
            for tf in ("count", "binary", "log"):
                found = scores(texts, vocabulary, s, tf=tf)
                np.testing.assert_allclose(found, scores_twin(X, s, tf), **CLOSE)


def test_words_beyond_the_scores_and_missing_texts_score_nothing():
    vocabulary, weights = Vocabulary(["ab", "cd", "ef"]), np.array([[1.0, 2.0], [4.0, 8.0]])
    texts = ["ab ef ab", None, "cd gh", ""]
    assert scores(texts, vocabulary, weights).tolist() == [[2, 4], [0, 0], [4, 8], [0, 0]]
    assert scores(texts, vocabulary, weights, tf="binary").tolist()[0] == [1, 2]
    assert scores(texts, vocabulary, weights, tf="log").tolist()[0] == [1, 2]
    assert scores(texts, vocabulary, weights[:0]).tolist() == [[0, 0]] * 4
    assert scores([], vocabulary, weights).shape == (0, 2)
    impossible = scores(["ab"], vocabulary, np.array([[-np.inf, 1.0], [np.inf, 1.0]]))
    assert impossible.tolist() == [[-np.inf, 1.0]]


def test_zero_times_minus_infinity_is_nothing():
    s = WordScores([-1], np.zeros((0, 2)), [0, 0], [], [], [0.0], [1.5], [-np.inf, 0.0])
    assert scores(["ab ab", "cd"], Vocabulary(["ab"]), s).tolist() == [[3, 3], [0, 0]]


def test_scores_are_checked_and_kept():
    good = random_scores(np.random.default_rng(0), 9, 4)
    names = ("place", "dense", "starts", "labels", "deltas", "scale", "constant", "class_part")
    parts = {name: np.array(getattr(good, name)) for name in names}

    def changed(name, at, value):
        array = parts[name].copy()
        array[at] = value
        return parts | {name: array}

    for wrong, match in (
        (changed("place", 3, 9), r"place\[3\] must be from -2 to 8, not 9"),
        (changed("place", 3, -3), r"place\[3\] must be from -2 to 8, not -3"),
        (changed("starts", 4, 99), r"starts\[3\] and the next are not in order within"),
        (changed("starts", 0, -1), r"starts\[0\] and the next"),
        (changed("labels", 0, 4), "labels of word 0 must ascend from 0 to 3"),
        (changed("labels", 1, 0), "labels of word 0 must ascend"),
        (parts | {"starts": parts["starts"][1:]}, "There are 9 places"),
        (parts | {"scale": parts["scale"][1:]}, "There are 9 places"),
        (parts | {"deltas": parts["deltas"][1:]}, r"There are \d+ labels and \d+ deltas"),
        (parts | {"class_part": np.zeros(5)}, "dense must be for 5 classes"),
    ):
        with pytest.raises(ValueError, match=match):
            WordScores(**wrong)
    kept = WordScores(**parts, zero=True)
    parts["labels"][:] = 99
    again = pickle.loads(pickle.dumps(kept))
    assert again.zero
    for name in names:
        np.testing.assert_array_equal(getattr(again, name), getattr(good, name))
        with pytest.raises(ValueError, match="read-only"):
            getattr(kept, name)[:] = 0


def test_scores_refuse_what_cannot_be():
    vocabulary, batch = Vocabulary(["ab"]), encode_texts(["ab", "cd"])
    s = dense_scores(np.ones((1, 2)))
    with pytest.raises(ValueError, match="tf must be 'count', 'binary' or 'log', not 'sqrt'"):
        score_words(*batch, vocabulary, s, np.ones((2, 2)), tf="sqrt")
    with pytest.raises(ValueError, match=r"out must be \(2, 2\), not \(2, 3\)"):
        score_words(*batch, vocabulary, s, np.ones((2, 3)))


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), unique=True),
    st.lists(st.booleans(), min_size=10, max_size=10),
    st.integers(0, 4),
)
def test_pairs_are_put_in_their_places(pairs, kept, n_row):
    kept = np.array(kept)
    pairs = sorted((word, label) for word, label in pairs if kept[word])
    word, label = np.array(pairs, dtype=np.int32).reshape(-1, 2).T.copy()
    entries = np.bincount(word, minlength=10)
    whole = kept & (entries >= n_row)
    place = np.where(kept, -1, -2).astype(np.int32)
    place[whole] = np.arange(whole.sum())
    n_few = int(entries[kept & ~whole].sum())
    rng = np.random.default_rng(0)
    deltas, scale, constant, of_class = (rng.normal(size=n) for n in (len(word), 10, 10, 4))
    rows = np.zeros((whole.sum(), 4))
    labels_out, deltas_out = np.empty(n_few, dtype=np.int32), np.empty(n_few)
    shares = (place, scale, constant, of_class, rows, labels_out, deltas_out)
    assert place_pairs(word, label, deltas, *shares) == n_few
    few = ~whole[word]
    assert labels_out.tolist() == label[few].tolist()
    assert deltas_out.tolist() == deltas[few].tolist()
    table = np.zeros((10, 4))
    table[word, label] = constant[word] + scale[word] * of_class[label] + deltas
    np.testing.assert_array_equal(rows, table[whole])


def test_more_pairs_than_there_is_room_for():
    place = np.full(3, -1, dtype=np.int32)
    nothing = (np.zeros(3), np.zeros(3), np.zeros(2), np.zeros((0, 2)))
    word, label = np.array([0, 1], dtype=np.int32), np.zeros(2, dtype=np.int32)
    with pytest.raises(ValueError, match="more than 1 pairs of words without a row"):
        place_pairs(word, label, np.ones(2), place, *nothing, np.empty(1, np.int32), np.empty(1))
