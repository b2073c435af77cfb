import threading
from collections import Counter
from itertools import chain, product

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from priory.kernels.pairs import add_pairs, sort_pairs
from priory.kernels.text import Splitter
from priory.kernels.utf8 import borrow_texts, encode_texts, encode_tokens
from priory.kernels.vocabulary import Vocabulary
from priory.kernels.words import WordCounter, count_matrix, count_words

from .texts import NASTY, OPTIONS, TEXTS, analyze, analyzer, decoded, load, random_bytes, zipf_texts
from .twins import assert_counts, random_scores, scores

# ---- counting ------------------------------------------------------------------------------------


def check(counts, vocabulary, texts, y, weight=None, fresh=True, split=analyze):
    documents = [None if text is None else split(text) for text in texts]
    assert_counts(counts, vocabulary, documents, y, weight)
    if fresh:
        by_class = [documents[i] for i in np.argsort(y, kind="stable") if y[i] >= 0]
        words = chain.from_iterable(filter(None, by_class))
        assert vocabulary.words() == list(dict.fromkeys(words))


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


@given(ROWS)
@example([(text, i % 3, 1.0) for i, text in enumerate(NASTY)])
def test_strings_are_read_where_they_are(rows):
    texts, y = [row[0] for row in rows], np.array([row[1] for row in rows], dtype=np.int32)
    data, offsets, missing = borrow_texts(texts)
    assert offsets is None
    vocabulary = Vocabulary()
    check(count_words(data, None, missing, y, None, vocabulary), vocabulary, texts, y)
    found = count_matrix(data, None, missing, vocabulary)
    for one, other in zip(found, count_matrix(*encode_texts(texts), vocabulary), strict=True):
        np.testing.assert_array_equal(one, other)


def test_strings_that_are_borrowed_may_be_let_go():
    texts = [f"word{i} Wörter{i}" for i in range(1000)]
    borrowed, vocabulary = borrow_texts(texts), Vocabulary()
    del texts
    count_words(*borrowed, np.zeros(1000, np.int32), None, vocabulary)
    assert vocabulary.words()[-2:] == ["word999", "wörter999"]


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("V, K", [(300, 3), (20_000, 10)])
def test_what_several_have_counted_is_merged(V, K, threads):
    texts = zipf_texts(900, 60, V)
    y = np.random.default_rng(1).integers(0, K, len(texts)).astype(np.int32)
    counters = []
    for part in np.array_split(np.arange(len(texts)), 3):
        counters.append(WordCounter(Vocabulary(), K))
        counters[-1].add(*encode_texts([texts[i] for i in part]), y[part])
    total = counters[0]
    for other in counters[1:]:
        total.merge(other, threads)
    check(total.result(threads), total.vocabulary, texts, y, fresh=False)


def test_nothing_is_counted_of_texts_without_words():
    texts, y = encode_texts(["", "-"]), np.array([0, 1], dtype=np.int32)
    total, other = WordCounter(Vocabulary(["known"]), 2), WordCounter(Vocabulary(["other"]), 2)
    total.add(*texts, y)
    other.add(*texts, y)
    total.merge(other)
    found = total.result()
    assert len(found.pairs.word) == 0
    assert found.class_rows.tolist() == [2, 2]


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
        sums = pd.concat([sums, pd.DataFrame(found.pairs._asdict())])
    expected = count_words(*encode_texts(texts), y, None, whole)
    assert sorted(vocabulary.words()) == sorted(whole.words())
    sums["word"] = whole.find_all(vocabulary.words())[sums["word"]]
    sums = sums.groupby(["word", "label"], as_index=False).sum()
    for name in ("word", "label", "rows", "weight", "count", "log_tf"):
        np.testing.assert_allclose(sums[name], getattr(expected.pairs, name), rtol=1e-12)


def test_few_texts_against_a_large_vocabulary():
    vocabulary = Vocabulary(f"v{i}" for i in range(50_000))
    texts, y = ["v49999 v7 new v7", "v7 new", None], np.array([1, 0, 1], dtype=np.int32)
    found = count_words(*encode_texts(texts), y, None, vocabulary)
    check(found, vocabulary, texts, y, fresh=False)
    assert found.pairs.word.tolist() == [7, 7, 49_999, 50_000, 50_000]


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


@given(ROWS, OPTIONS)
def test_count_words_with_any_splitter(rows, options):
    texts, y = [row[0] for row in rows], np.array([row[1] for row in rows], dtype=np.int32)
    splitter, vocabulary = Splitter(**options), Vocabulary()
    counts = count_words(*encode_texts(texts), y, None, vocabulary, splitter=splitter)
    check(counts, vocabulary, texts, y, fresh=False, split=analyzer(**options))


@given(st.lists(st.none() | st.lists(st.text(st.characters(), max_size=3))), st.integers(1, 3))
def test_count_words_that_are_given(documents, high):
    y, vocabulary = (np.arange(len(documents)) % 3).astype(np.int32), Vocabulary()
    splitter = Splitter("given", ngrams=(1, high))
    counts = count_words(*encode_tokens(documents), y, None, vocabulary, splitter=splitter)
    split = analyzer("given", ngrams=(1, high))
    kept = [None if words is None else [w for w in words if w] for words in documents]
    check(counts, vocabulary, kept, y, fresh=False, split=split)


def test_more_words_than_are_written_down_at_once():
    words = ["".join(pair) for pair in product("abcdefghijklmnopqrstuvwxyz0123456789", repeat=2)][
        :1200
    ]
    kinds = [" ".join(words[a:b]) for a, b in ((0, 1200), (200, 1000), (1199, 1200))]
    n = 30_000
    which = np.random.default_rng(0).integers(0, 3, n)
    texts, y = [kinds[i] for i in which], (which * 7 + np.arange(n) % 2).astype(np.int32)
    weight = 1.0 + np.arange(n) % 3
    vocabulary = Vocabulary(words)
    counts = count_words(*encode_texts(texts), y, weight, vocabulary)
    sets = np.zeros((3, 1200))
    sets[0], sets[1, 200:1000], sets[2, 1199] = 1.0, 1.0, 1.0
    dense = np.zeros((4, 1200, 16))
    for k in range(16):
        for kind in range(3):
            chosen = (y == k) & (which == kind)
            dense[0, :, k] += chosen.sum() * sets[kind]
            dense[1, :, k] += weight[chosen].sum() * sets[kind]
            dense[3, :, k] += weight[chosen].sum() * sets[kind] / np.sqrt(sets[kind].sum())
    word, label = np.nonzero(dense[0])
    assert counts.pairs.rows.sum() > 2 * 2**23
    np.testing.assert_array_equal(counts.pairs.word, word)
    np.testing.assert_array_equal(counts.pairs.label, label)
    np.testing.assert_array_equal(counts.pairs.rows, dense[0][word, label])
    np.testing.assert_array_equal(counts.pairs.weight, dense[1][word, label])
    np.testing.assert_array_equal(counts.pairs.count, dense[1][word, label])
    np.testing.assert_allclose(counts.pairs.log_tf, dense[3][word, label], rtol=1e-12)
    np.testing.assert_array_equal(counts.class_rows, np.bincount(y, minlength=16))
    np.testing.assert_array_equal(counts.class_weight, np.bincount(y, weight, 16))


@given(st.lists(st.none() | TEXTS), OPTIONS)
@example(NASTY[:-5], {})
def test_count_matrix_is_scikit_learns(texts, options):
    split = analyzer(**options)
    words = list(dict.fromkeys(word for text in texts for word in split(text or "")))[::-2]
    indptr, indices, tf = count_matrix(*encode_texts(texts), Vocabulary(words), Splitter(**options))
    assert (indptr.dtype, indices.dtype, tf.dtype) == (np.int64, np.int32, np.int32)
    for i, text in enumerate(texts):
        row = slice(indptr[i], indptr[i + 1])
        found = {words[j]: n for j, n in zip(indices[row], tf[row], strict=True)}
        counter = Counter(split(text or ""))
        assert found == {word: counter[word] for word in counter if word in set(words)}
        assert len(found) == row.stop - row.start


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
    assert len(count_words(data, offsets[:1], None, y[:0], None, vocabulary).pairs.word) == 0
    assert len(count_words(data, offsets[:0], None, y[:0], None, vocabulary).pairs.word) == 0


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


def test_counts_of_parts_are_added_to_those_of_the_whole():
    texts = zipf_texts(600, 40, 3000)
    y = np.random.default_rng(1).integers(0, 5, len(texts)).astype(np.int32)
    whole, vocabulary, total = Vocabulary(), Vocabulary(), None
    expected = count_words(*encode_texts(texts), y, None, whole)
    for part in np.array_split(np.arange(len(texts)), 7)[::-1]:
        own = Vocabulary()
        pairs = count_words(*encode_texts([texts[i] for i in part]), y[part], None, own).pairs
        codes = vocabulary.extend(own)
        pairs = sort_pairs(pairs._replace(word=codes[pairs.word]), len(vocabulary))
        total = pairs if total is None else add_pairs(total, pairs)
    order, codes = vocabulary.order(), np.empty(len(vocabulary), np.int32)
    codes[order] = np.arange(len(order))
    total = sort_pairs(total._replace(word=codes[total.word]), len(order))
    codes[whole.order()] = np.arange(len(order))
    expected = sort_pairs(expected.pairs._replace(word=codes[expected.pairs.word]), len(order))
    for found, wanted in zip(total, expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
    assert vocabulary.take(order).words() == whole.take(whole.order()).words()


def test_threads_count_apart_and_score_together():
    texts = [*zipf_texts(400, 200, 20_000), "ΑΣ ΟΔΟΣ"]
    batch, y = encode_texts(texts), (np.arange(len(texts)) % 3).astype(np.int32)
    vocabulary = Vocabulary()
    alone = count_words(*batch, y, None, vocabulary)
    s = random_scores(np.random.default_rng(0), len(vocabulary), 3)
    expected, results = scores(texts, vocabulary, s, tf="log"), []

    def work():
        counts = count_words(*batch, y, None, Vocabulary())
        results.append((counts, scores(texts, vocabulary, s, tf="log")))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    for counts, found in results:
        np.testing.assert_array_equal(found, expected)
        for a, b in zip(counts.pairs, alone.pairs, strict=True):
            np.testing.assert_array_equal(a, b)


# ---- real texts ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sms_spam.csv", "ling_spam.csv.gz"])
def test_real_texts(name):
    texts, y = load(name)
    vocabulary = Vocabulary()
    check(count_words(*encode_texts(texts), y, None, vocabulary), vocabulary, texts, y)
    vocabulary, splitter = Vocabulary(), Splitter("sklearn")
    found = count_words(*encode_texts(texts), y, None, vocabulary, splitter=splitter)
    vectorizer = CountVectorizer()
    check(found, vocabulary, texts, y, split=vectorizer.build_analyzer())
    X = vectorizer.fit_transform(texts)
    assert sorted(vocabulary.words()) == vectorizer.get_feature_names_out().tolist()
    weights = np.random.default_rng(0).normal(size=(len(vocabulary), 3))
    order = [vocabulary.find(word) for word in vectorizer.get_feature_names_out()]
    found = scores(texts, vocabulary, weights, splitter=splitter)
    np.testing.assert_allclose(found, X @ weights[order], rtol=1e-9, atol=1e-9)


def test_words_of_every_length_beside_other_characters():
    for odd in ["", *"éÉ日😀ΣİȺ\u0301-@[`{/:"]:
        texts = [f"{'aZ_09'[n % 5] * n}{odd}{'Qz' * m}" for n in range(20) for m in range(6)]
        y, vocabulary = np.zeros(len(texts), np.int32), Vocabulary()
        check(count_words(*encode_texts(texts), y, None, vocabulary), vocabulary, texts, y)


def test_words_at_the_edges_of_blocks():
    """Of 64 bytes each: a letter alone, a word or other characters may end, begin or cross one."""
    parts = ["x", "xy", "x y", "é", "é x", "x é", "", " ", "X-Y", "x" * 70, "é" + "x" * 70]
    texts = [
        f"{'ab ' * (n // 3)}{'-' * (n % 3)}{one}{gap}{two}"
        for n in chain(range(58, 66), range(120, 130))
        for one, gap, two in product(parts, ["", " "], parts)
    ]
    y, vocabulary = np.zeros(len(texts), np.int32), Vocabulary()
    check(count_words(*encode_texts(texts), y, None, vocabulary), vocabulary, texts, y)


def test_more_words_than_small_pages_hold():
    words = [f"{i:x}{'z' * (i % 14)}" for i in range(400_000)]
    texts = [" ".join(words[i : i + 1000]) for i in range(0, len(words), 1000)]
    y, vocabulary = np.arange(len(texts), dtype=np.int32) % 7, Vocabulary()
    found = count_words(*encode_texts(texts), y, None, vocabulary)
    assert len(vocabulary) == len(words)
    assert sorted(vocabulary.words()) == sorted(words)
    assert vocabulary.find_all(vocabulary.words()).tolist() == list(range(len(words)))
    assert (found.pairs.count == 1).all()
    assert found.class_words.sum() == len(found.pairs.word) == len(words)


@pytest.mark.parametrize("n_words", [50, pytest.param(60_000, marks=pytest.mark.long)])
def test_a_counter_begins_in_the_memory_of_one_that_rests(n_words):
    rng = np.random.default_rng(n_words)
    for K in (3, 3, 5, 2):
        texts = zipf_texts(400, n_words // 50, n_words, seed=int(rng.integers(1000)))
        y = rng.integers(0, K, len(texts)).astype(np.int32)
        half = len(texts) // 2
        counters = [WordCounter.start(K), WordCounter.start(K)]
        for counter, some in zip(counters, [slice(0, half), slice(half, None)], strict=True):
            counter.add(*encode_texts(texts[some]), y[some])
        total, other = counters
        total.merge(other)
        other.rest()
        found, vocabulary = total.result(), total.vocabulary
        total.rest()
        check(found, vocabulary, texts, y, fresh=False)
        for rests in counters:
            for use in (rests.result, rests.rest):
                with pytest.raises(RuntimeError, match="This counter rests"):
                    use()
            with pytest.raises(RuntimeError, match="This counter rests"):
                WordCounter(Vocabulary(), K).merge(rests)


def test_few_words_after_many():
    for n_words in (300_000, 3, 70_000, 0):
        words = [f"word{i}" for i in range(n_words)]
        counter = WordCounter.start(1)
        counter.add(*encode_texts([" ".join(words)]), np.zeros(1, np.int32))
        found, vocabulary = counter.result(), counter.vocabulary
        counter.rest()
        assert vocabulary.words() == words
        assert vocabulary.find_all(words).tolist() == list(range(n_words))
        assert vocabulary.add("another") == n_words
        assert found.class_words.tolist() == [n_words]
        assert len(found.pairs.word) == n_words
