"""Texts in, classes out: held to scikit-learn's vectorizer and classifiers."""

import pickle
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.preprocessing import normalize

import priory
from priory import NaiveBayes
from priory.base.errors import ForgetError, InputError, NoLikelihoodError, SchemaError, SettingError
from priory.families import Words
from priory.statistics import Statistics
from priory.text import Analyzer

DATA = Path(__file__).parents[3] / "shared" / "data"


def plain(*args, **options):
    """Return the plain model: what is learned here is what was asked for."""
    return priory.TextNB(*args, **{"weights": None, "analyzer": "sklearn", **options})


TEXTS = [
    "Win cash now, WIN!",
    "cash prize inside",
    "lunch at noon?",
    "see you at lunch, at noon",
    "",
    "été à la plage, déjà vu",
    "дом и сад",
    "prize prize prize for you",
]
Y = np.array(["spam", "spam", "ham", "ham", "ham", "fr", "ru", "spam"])
NEW = ["cash at noon", "nothing known here", "", "prize déjà vu дом", "win lunch lunch lunch"]

PEERS = {"multinomial": MultinomialNB, "bernoulli": BernoulliNB, "complement": ComplementNB}

readouts = pytest.mark.parametrize("readout", list(PEERS))


def counted(texts, **options):
    vectorizer = CountVectorizer(**options)
    return vectorizer, vectorizer.fit_transform(texts)


def log_tf(matrix):
    matrix = matrix.astype(float)
    matrix.data = np.log1p(matrix.data)
    return normalize(matrix)


def words_and_counts(model):
    """Return {word: counts per class} of a fitted model."""
    table = model.statistics_.tables["text"]
    grid = np.zeros((table.n_words, table.n_classes))
    grid[table.pairs.word, table.pairs.label] = table.pairs.count
    return dict(zip(table.vocabulary.words(), grid.tolist(), strict=True))


def assert_same_counts(model, texts, y, **options):
    vectorizer, matrix = counted(texts, **options)
    sums = np.stack([np.asarray(matrix[y == k].sum(axis=0)).ravel() for k in model.classes_])
    words = vectorizer.get_feature_names_out()
    assert words_and_counts(model) == dict(zip(words, sums.T.tolist(), strict=True))


# The same as scikit-learn


@readouts
@pytest.mark.parametrize("alpha", [1.0, 0.1, 1e-3])
def test_posteriors_are_scikit_learns(readout, alpha):
    vectorizer, matrix = counted(TEXTS)
    peer = PEERS[readout](alpha=alpha).fit(matrix, Y)
    model = plain(readout, alpha).fit(TEXTS, Y)
    assert_same_counts(model, TEXTS, Y)
    ours, theirs = model.predict_proba(NEW), peer.predict_proba(vectorizer.transform(NEW))
    if readout == "complement":  # which leaves the class prior out
        ours = plain(readout, alpha, class_prior="uniform").fit(TEXTS, Y).predict_proba(NEW)
    np.testing.assert_allclose(ours, theirs, atol=1e-10)


@readouts
def test_many_classes_take_the_sparse_form_and_score_the_same(readout):
    rng = np.random.default_rng(0)
    words = [f"word{i}" for i in range(300)]
    y = rng.integers(0, 40, 200)
    texts = [" ".join(rng.choice(words[k * 7 : k * 7 + 20], 12)) + " common" for k in y]
    vectorizer, matrix = counted(texts)
    new = [" ".join(rng.choice(words, 15)) for _ in range(50)]
    peer = PEERS[readout](alpha=0.5).fit(matrix, y)
    model = plain(readout, 0.5, class_prior="uniform" if readout == "complement" else None)
    ours = model.fit(texts, y).predict_log_proba(new)
    assert (model.model_.terms[0].parameters.weights.place == -1).any()
    np.testing.assert_allclose(ours, peer.predict_log_proba(vectorizer.transform(new)), atol=1e-9)


def test_the_log_term_is_the_normalised_log_tf():
    vectorizer, matrix = counted(TEXTS)
    peer = MultinomialNB(alpha=0.5).fit(log_tf(matrix), Y)
    ours = plain(Words(term="log"), 0.5).fit(TEXTS, Y).predict_proba(NEW)
    np.testing.assert_allclose(
        ours, peer.predict_proba(log_tf(vectorizer.transform(NEW))), atol=1e-10
    )


@pytest.mark.parametrize("readout", ["multinomial", "complement"])
def test_idf_is_a_factor_of_the_read_out(readout):
    vectorizer, matrix = counted(TEXTS)
    idf = 1 + np.log((1 + len(TEXTS)) / (1 + np.asarray((matrix > 0).sum(axis=0)).ravel()))
    peer = PEERS[readout](alpha=0.5).fit(matrix.multiply(idf).tocsr(), Y)
    model = plain(Words(readout, idf=True), 0.5)
    if readout == "complement":
        model.set_params(class_prior="uniform")
    theirs = peer.predict_proba(vectorizer.transform(NEW).multiply(idf).tocsr())
    np.testing.assert_allclose(model.fit(TEXTS, Y).predict_proba(NEW), theirs, atol=1e-10)


def test_norm_is_complement_nbs():
    vectorizer, matrix = counted(TEXTS)
    peer = ComplementNB(norm=True).fit(matrix, Y)
    model = plain(Words("complement", norm=True), 1.0, class_prior="uniform").fit(TEXTS, Y)
    np.testing.assert_allclose(
        model.predict_proba(NEW), peer.predict_proba(vectorizer.transform(NEW)), atol=1e-10
    )


@pytest.mark.parametrize(
    ("options", "theirs"),
    [
        ({"ngram_range": (1, 2)}, {"ngram_range": (1, 2)}),
        ({"analyzer": "char", "ngram_range": (2, 3)}, {"analyzer": "char", "ngram_range": (2, 3)}),
        (
            {"analyzer": "char_wb", "ngram_range": (1, 4)},
            {"analyzer": "char_wb", "ngram_range": (1, 4)},
        ),
        ({"stop_words": "english"}, {"stop_words": "english"}),
        (
            {"stop_words": ["at"], "ngram_range": (1, 3)},
            {"stop_words": ["at"], "ngram_range": (1, 3)},
        ),
        ({"lowercase": False}, {"lowercase": False}),
        ({"analyzer": str.split}, {"analyzer": str.split}),
    ],
)  # fmt: skip
def test_options_are_count_vectorizers(options, theirs):
    model = plain("multinomial", 1.0, **options).fit(TEXTS, Y)
    assert_same_counts(model, TEXTS, Y, **theirs)
    vectorizer, matrix = counted(TEXTS, **theirs)
    peer = MultinomialNB().fit(matrix, Y)
    np.testing.assert_allclose(
        model.predict_proba(NEW), peer.predict_proba(vectorizer.transform(NEW)), atol=1e-10
    )


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.text(max_size=40), st.integers(0, 2)), min_size=1, max_size=12),
    st.sampled_from(list(PEERS)),
)
def test_any_texts_score_as_scikit_learns(rows, readout):
    texts, y = [text for text, _ in rows], np.array([k for _, k in rows])
    try:
        _, matrix = counted(texts)
    except ValueError:  # scikit-learn takes no empty vocabulary; we do
        assert not len(plain(readout).fit(texts, y).words_)
        return
    peer = PEERS[readout](alpha=0.5).fit(matrix, y)
    model = plain(readout, 0.5, class_prior="uniform" if readout == "complement" else None)
    ours = model.fit(texts, y).predict_proba(texts)
    np.testing.assert_allclose(ours, peer.predict_proba(matrix), atol=1e-10)


@readouts
def test_min_df_and_max_features_are_the_vectorizers(readout):
    vectorizer, matrix = counted(TEXTS, min_df=2)
    peer = PEERS[readout]().fit(matrix, Y)
    model = plain(Words(readout, min_df=2), 1.0)
    if readout == "complement":
        model.set_params(class_prior="uniform")
    ours = model.fit(TEXTS, Y).predict_proba(NEW)
    assert sorted(model.words_) == sorted(vectorizer.get_feature_names_out())
    np.testing.assert_allclose(ours, peer.predict_proba(vectorizer.transform(NEW)), atol=1e-10)
    limited = plain(readout, 1.0, max_features=12).fit(TEXTS, Y)
    assert len(limited.words_) == 12
    assert {"cash", "prize", "at", "lunch"} <= set(limited.words_)
    assert not limited.statistics_.tables["text"].is_approximate


@readouts
@pytest.mark.parametrize("options", [{"max_df": 0.3}, {"max_df": 2}, {"max_df": 0.25, "min_df": 2}])
def test_max_df_is_the_vectorizers(readout, options):
    vectorizer, matrix = counted(TEXTS, **options)
    peer = PEERS[readout]().fit(matrix, Y)
    model = plain(Words(readout, **options), 1.0)
    if readout == "complement":
        model.set_params(class_prior="uniform")
    ours = model.fit(TEXTS, Y).predict_proba(NEW)
    assert sorted(model.words_) == sorted(vectorizer.get_feature_names_out())
    np.testing.assert_allclose(ours, peer.predict_proba(vectorizer.transform(NEW)), atol=1e-10)


@given(
    st.lists(st.text("abc ", max_size=8), min_size=4, max_size=12),
    st.one_of(st.floats(0, 1), st.integers(1, 9)),
    st.sampled_from([None, 3, 50]),
)
def test_max_df_on_every_road(texts, max_df, max_features):
    texts = [" ".join(letter * 2 for letter in text.replace(" ", "")) for text in texts]
    y = [i % 3 for i in range(len(texts))]
    options = {"max_features": max_features}

    def new():
        return plain(Words(max_df=max_df), 1.0, **options)

    whole = new().fit(texts, y)
    try:
        vectorizer, _ = counted(texts, max_df=max_df, **options)
        expected = sorted(vectorizer.get_feature_names_out())
    except ValueError:  # scikit-learn takes no empty vocabulary; we do
        expected = []
    assert sorted(whole.words_) == expected

    chunks = new().partial_fit(texts[:3], y[:3], classes=[0, 1, 2]).partial_fit(texts[3:], y[3:])
    merged = new().fit(texts[:3], y[:3]) + new().fit(texts[3:], y[3:])
    more = new().fit(texts + ["aa bb cc"] * 3, [*y, 0, 1, 2])
    more.forget(["aa bb cc"] * 3, [0, 1, 2])
    later = plain(Words(), 1.0, **options).fit(texts, y)
    later.change_settings(readout=Words(max_df=max_df))
    with TemporaryDirectory() as folder:
        whole.save(f"{folder}/m.priory")
        loaded = priory.TextNB.load(f"{folder}/m.priory")
    for other in (chunks, merged, more, later, loaded):
        assert sorted(other.words_) == expected
        np.testing.assert_array_equal(other.predict_proba(texts), whole.predict_proba(texts))


# No smoothing at all


def by_hand(texts, y, new, readout):
    """Return the posterior without smoothing, word by word."""
    vectorizer, matrix = counted(texts)
    dense, rows = matrix.toarray().astype(float), vectorizer.transform(new).toarray()
    classes = np.unique(y)
    scores = np.zeros((len(new), len(classes)))
    with np.errstate(divide="ignore", invalid="ignore"):
        for k, label in enumerate(classes):
            of_class = dense[y == label]
            scores[:, k] = np.log(np.mean(y == label))
            if readout == "multinomial":
                p = of_class.sum(axis=0) / of_class.sum()
                scores[:, k] += np.where(rows > 0, rows * np.log(p), 0.0).sum(axis=1)
            else:
                p = (of_class > 0).mean(axis=0)
                scores[:, k] += np.log(np.where(rows > 0, p, 1 - p)).sum(axis=1)
    return scores


@pytest.mark.parametrize("readout", ["multinomial", "bernoulli"])
def test_without_smoothing_a_word_never_seen_with_a_class_excludes_it(readout):
    y = np.where(Y == "spam", "spam", "other")
    texts = [text or "at" for text in TEXTS]
    model = plain(readout, 0.0).fit(texts, y)
    new = [*texts, "cash", "at lunch", "prize cash"]
    ours = model.predict_joint_log_proba(new)
    np.testing.assert_allclose(ours, by_hand(texts, y, new, readout), atol=1e-10)
    assert np.isneginf(ours).any()


def test_without_smoothing_bernoulli_wants_the_words_that_all_texts_had():
    texts, y = ["aa bb", "aa cc", "bb dd", "bb"], np.array([0, 0, 1, 1])
    model = plain("bernoulli", 0.0).fit(texts, y)
    new = ["aa bb", "bb dd", "aa", "cc"]
    np.testing.assert_allclose(
        model.predict_joint_log_proba(new), by_hand(texts, y, new, "bernoulli"), atol=1e-12
    )


# The algebra


@readouts
def test_learning_in_pieces_merging_and_forgetting_give_the_same(readout):
    whole = plain(readout).fit(TEXTS, Y)
    pieces = plain(readout)
    for i in range(len(TEXTS)):
        pieces.partial_fit(TEXTS[i : i + 1], Y[i : i + 1])
    assert pieces.statistics_ == whole.statistics_
    merged = plain(readout).fit(TEXTS[:3], Y[:3]) + plain(readout).fit(TEXTS[3:], Y[3:])
    assert merged.statistics_ == whole.statistics_
    np.testing.assert_allclose(merged.predict_proba(NEW), whole.predict_proba(NEW), rtol=1e-6)
    left = merged.forget(TEXTS[:3], Y[:3])
    assert words_and_counts(left) == words_and_counts(plain(readout).fit(TEXTS[3:], Y[3:]))


def test_read_outs_change_without_reading_again():
    model = plain("multinomial", 1.0).fit(TEXTS, Y)
    for readout in ("bernoulli", "complement", Words("multinomial", "log", idf=True)):
        model.change_settings(readout=readout, smoothing=0.3)
        fresh = plain(readout, 0.3).fit(TEXTS, Y)
        np.testing.assert_array_equal(model.predict_proba(NEW), fresh.predict_proba(NEW))


def test_the_long_table_keeps_the_words_and_the_analyzer():
    model = plain(ngram_range=(1, 2), stop_words=["at"]).fit(TEXTS, Y)
    again = Statistics.from_arrow(model.statistics_.to_arrow())
    assert again == model.statistics_
    assert again.schema["text"].analyzer == model.statistics_.schema["text"].analyzer


def test_forgetting_what_was_never_learned_is_refused_and_loses_nothing():
    model = plain().fit(TEXTS, Y)
    before = model.statistics_
    with pytest.raises(ForgetError, match="'unheard' was never learned"):
        model.forget(["unheard of"], ["ham"])
    with pytest.raises(ForgetError, match="'lunch'"):
        model.forget(["lunch", "lunch"], ["spam", "spam"])
    assert model.statistics_ is before


def test_words_split_differently_do_not_mix():
    with pytest.raises(SchemaError, match="split by different analyzers"):
        plain().fit(TEXTS, Y).merge(plain(ngram_range=(1, 2)).fit(TEXTS, Y))


def test_a_limit_keeps_the_vocabulary_bounded_and_says_what_it_dropped():
    rng = np.random.default_rng(1)
    model = plain(max_features=50)
    for _ in range(20):
        texts = [" ".join(f"w{int(i)}" for i in rng.zipf(1.3, 40) % 5000) for _ in range(20)]
        model.partial_fit(texts, rng.integers(0, 2, 20))
    table = model.statistics_.tables["text"]
    assert table.n_words <= 100
    assert len(model.words_) == 50
    assert table.is_approximate
    assert (table.dropped > 0).all()
    kept = table.per_label(table.pairs.count)
    assert (kept + table.dropped).sum() == 20 * 20 * 40
    assert Statistics.from_arrow(model.statistics_.to_arrow()) == model.statistics_
    with pytest.raises(ForgetError, match="approximate"):
        model.forget(texts[:1], [0])


# What comes in


def test_the_same_texts_in_every_form_give_the_same_model():
    texts, y = [*TEXTS, None], [*Y, "ham"]
    expected = plain().fit(texts, y)
    array = np.array(texts, dtype=object)
    forms = [
        array,
        pd.Series(texts),
        pd.Series(texts, dtype="string"),
        pd.Series(texts, dtype="category"),
        pd.DataFrame({"message": texts}),
        pa.array(texts),
        pa.array(texts, pa.large_string()),
        pa.array(["left out", *texts])[1:],
        pa.chunked_array([texts[:2], texts[2:], []], pa.string()),
        array.reshape(-1, 1),
    ]
    polars = pytest.importorskip("polars")
    forms.append(polars.Series(texts))
    for form in forms:
        model = plain().fit(form, y)
        assert model.statistics_ == expected.statistics_, type(form)
        np.testing.assert_array_equal(model.predict_proba(form), expected.predict_proba(texts))


def test_a_missing_text_is_no_text():
    model = plain("bernoulli").fit([*TEXTS, None, np.nan], [*Y, "ham", "ham"])
    np.testing.assert_allclose(
        model.predict_proba([None])[0], model.statistics_.weight / model.statistics_.weight.sum()
    )
    assert model.statistics_.tables["text"].documents.sum() == len(TEXTS)
    spoken = plain(missing="category").fit([*TEXTS, None, None], [*Y, "ham", "ham"])
    assert spoken.predict([None]).tolist() == ["ham"]


def test_weights_count_as_repetitions():
    weights = np.arange(len(TEXTS)) % 3 + 1
    weighted = plain("multinomial", 1.0).fit(TEXTS, Y, sample_weight=weights)
    repeated = plain("multinomial", 1.0).fit(np.repeat(TEXTS, weights), np.repeat(Y, weights))
    np.testing.assert_allclose(
        weighted.predict_proba(NEW), repeated.predict_proba(NEW), rtol=0, atol=1e-12
    )


def test_class_prior_by_words():
    model = plain("multinomial", 1.0, class_prior="words").fit(TEXTS, Y)
    table = model.statistics_.tables["text"]
    words = table.per_label(table.pairs.count)
    np.testing.assert_allclose(model.predict_proba([""])[0], words / words.sum())


def test_several_threads_count_the_same():
    rng = np.random.default_rng(0)
    texts = [" ".join(f"word{int(i)}" for i in rng.zipf(1.2, 60) % 20_000) for _ in range(8000)]
    y = rng.integers(0, 5, len(texts))
    one = plain(n_threads=1).fit(texts, y)
    for threads in (2, 5):
        several = plain(n_threads=threads).fit(texts, y)
        assert words_and_counts(several) == words_and_counts(one)
        np.testing.assert_allclose(
            several.predict_proba(texts[:2000]), one.predict_proba(texts[:2000]), atol=1e-12
        )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: plain().fit("one text", ["a"]), "list of texts"),
        (lambda: plain().fit([1, 2], ["a", "b"]), "read as text, but holds 1"),
        (lambda: plain().fit([b"x"], ["a"]), "decode bytes"),
        (lambda: plain().fit(np.array([["a", "b"]]), ["a"]), "one column of texts"),
        (lambda: plain(analyzer="words").fit(["a"], ["a"]), "analyzer must be one of"),
        (lambda: plain(ngram_range=(2, 1)).fit(["a"], ["a"]), "ngram_range must be two integers"),
        (lambda: plain(stop_words="german").fit(["a"], ["a"]), "'english' or a list"),
        (lambda: plain(max_features=0).fit(["a"], ["a"]), "max_features"),
        (lambda: plain(readout="gauss").fit(["a"], ["a"]), "readout must be one of"),
        (lambda: plain(analyzer=lambda text: text).fit(["a"], ["a"]), "list of strings"),
        (lambda: plain(analyzer=lambda text: [1]).fit(["a"], ["a"]), "list of strings"),
        (lambda: Words("bernoulli", idf=True), "bernoulli"),
        (lambda: Words(min_df=0), "min_df"),
        (lambda: Words(max_df=0), "max_df must be a share of the texts"),
        (lambda: Words(max_df=1.5), "max_df must be a share of the texts"),
        (lambda: Words(max_df=True), "max_df must be a share of the texts"),
        (lambda: Words(min_df=3, max_df=2), "max_df must be at least min_df"),
        (lambda: plain(analyzer=Analyzer(), ngram_range=(1, 2)).fit(["a"], ["a"]), "own options"),
        (lambda: plain(smoothing=-1).fit(["a"], ["a"]), "at least 0"),
    ],
)
def test_what_makes_no_sense_is_refused(make, message):
    with pytest.raises((InputError, SettingError), match=message):
        make()


# What comes out


def test_score_samples_is_the_probability_of_the_known_words():
    model = plain("multinomial", 1.0).fit(["aa bb", "bb cc"], [0, 1])
    p = np.exp(model.model_.terms[0].parameters.table)
    words = model.words_.tolist()
    a, b = p[words.index("aa")], p[words.index("bb")]
    expected = np.log(0.5 * (3 * a**2 * b).sum())
    np.testing.assert_allclose(model.score_samples(["aa bb aa unknown"]), [expected])
    with pytest.raises(NoLikelihoodError, match="other classes"):
        plain("complement").fit(TEXTS, Y).score_samples(TEXTS)
    with pytest.raises(NoLikelihoodError, match="weighted"):
        plain(Words(term="log")).fit(TEXTS, Y).score_samples(TEXTS)


@pytest.mark.parametrize("readout", ["multinomial", "bernoulli"])
def test_samples_look_like_their_class(readout):
    model = plain(readout, 1e-9).fit(["red red rose", "blue sea"], ["warm", "cold"])
    texts, labels = model.sample(200, random_state=0)
    for text, label in zip(np.ravel(texts), labels, strict=True):
        allowed = {"red", "rose"} if label == "warm" else {"blue", "sea"}
        assert set(text.split()) <= allowed
    again = plain(readout).fit(np.ravel(texts), labels)
    assert again.predict(["red", "sea"]).tolist() == ["warm", "cold"]


def test_the_linear_form_gives_the_same_scores():
    model = plain("bernoulli", 1.0).fit(TEXTS, Y)
    form = model.linear_form()
    words = [feature.removeprefix("text: ") for feature in form.features]
    vectorizer = CountVectorizer(vocabulary=words, binary=True)
    scores = vectorizer.transform(NEW) @ form.weights + form.bias
    np.testing.assert_allclose(scores, model.predict_joint_log_proba(NEW), atol=1e-10)


def test_the_explanation_shows_the_words():
    model = plain("multinomial", 1.0).fit(TEXTS, Y)
    row = model.explain(["cash cash at noon"])[0]
    words = {part.title: part.log_p for part in row.factors[0].parts}
    assert set(words) == {"P(cash | class)", "P(at | class)", "P(noon | class)"}
    np.testing.assert_allclose(sum(words.values()), row.factors[0].log_likelihood, atol=1e-12)
    assert "P(cash | class)^2" in str(row)
    assert "n! / Π x! = 12 orders" in str(row)  # 4! / 2!


def test_the_explanation_lists_unknown_words_and_ngrams():
    model = plain("multinomial", 1.0, analyzer="word", ngram_range=(1, 2)).fit(TEXTS, Y)
    row = model.explain(["prize zebra at noon"])[0]
    factor = row.factors[0]
    assert {part.name for part in factor.parts} == {"prize", "at", "noon", "at noon"}
    assert factor.unknown == ("zebra", "prize zebra", "zebra at")
    assert "not in the vocabulary, skipped: zebra, prize zebra, zebra at" in str(row)
    assert row.to_dict()["factors"][0]["unknown"] == list(factor.unknown)
    nothing = str(model.explain(["zebra quux"])[0])
    assert "P(text" not in nothing and "skipped: zebra, quux, zebra quux" in nothing


def test_texts_may_come_one_by_one_and_with_gaps():
    texts = [*TEXTS[:4], None, float("nan"), pd.NA, TEXTS[7]]
    model = plain("multinomial", 1.0).fit((text for text in texts), Y)
    assert model.predict(iter(NEW)).tolist() == model.predict(NEW).tolist()
    kept = [0, 1, 2, 3, 7]
    alone = plain("multinomial", 1.0).fit([texts[i] for i in kept], Y[kept])
    assert words_and_counts(model).keys() == words_and_counts(alone).keys()


def test_messages_may_be_bytes():
    mails = [b"Subject: free\n\ncash caf\xe9", b"Subject: lunch\n\nnoon"] * 3
    model = plain("multinomial", 1.0, analyzer="email").fit(mails, [1, 0] * 3)
    latin = plain("multinomial", 1.0, analyzer="email").fit(
        [mail.decode("latin-1") for mail in mails], [1, 0] * 3
    )
    assert sorted(model.words_) == sorted(latin.words_)
    for some in (mails, pa.array(mails), pd.Series(mails), [*mails[:-1], None]):
        assert model.predict(some)[:2].tolist() == [1, 0]
    with pytest.raises(InputError, match="decode bytes first"):
        plain().fit(mails, [1, 0] * 3)


def test_top_features_have_counts_and_log_odds():
    model = plain("multinomial", 1.0).fit(TEXTS, Y)
    best = model.top_features(3)
    assert best["spam"][0].feature == "prize"
    assert best["spam"][0].count == 4
    table = np.exp(model.model_.terms[0].parameters.table)[model.words_.tolist().index("prize")]
    prior = model.statistics_.weight / model.statistics_.weight.sum()
    spam = model.classes_.tolist().index("spam")
    rest = (prior * table)[np.arange(4) != spam].sum() / (1 - prior[spam])
    assert best["spam"][0].log_odds == pytest.approx(np.log(table[spam] / rest))
    assert "prize" in str(best)
    assert best.to_dict()["spam"][0]["feature"] == "prize"


def test_it_is_a_scikit_learn_estimator():
    model = plain("multinomial", 0.5)
    assert clone(model).get_params() == model.get_params()
    texts, y = TEXTS * 4, np.tile(np.where(Y == "spam", 1, 0), 4)
    assert cross_val_score(model, texts, y, cv=4).mean() > 0.9
    grid = GridSearchCV(model, {"smoothing": [0.1, 1.0], "ngram_range": [(1, 1), (1, 2)]}, cv=2)
    assert grid.fit(texts, y).best_score_ > 0.9
    again = pickle.loads(pickle.dumps(model.fit(texts, y)))
    np.testing.assert_array_equal(again.predict_proba(NEW), model.predict_proba(NEW))


# Beside other columns


def test_texts_stand_beside_other_columns():
    table = {
        "review": [*TEXTS[:4], None, *TEXTS[5:]],
        "stars": [1.0, 2.0, 5.0, None, 4.0, 3.0, 4.0, 1.0],
        "shop": ["a", "a", "b", "b", None, "c", "c", "a"],
    }
    model = NaiveBayes.textbook().set_params(text=["review"]).fit(table, Y)
    assert model.schema_["review"].kind == "words"
    alone = plain("multinomial", 1.0, missing="skip", analyzer="word").fit(table["review"], Y)
    others = NaiveBayes.textbook().fit({k: table[k] for k in ("stars", "shop")}, Y)
    prior = np.log(model.statistics_.weight / model.statistics_.weight.sum())
    expected = (
        alone.predict_joint_log_proba(table["review"])
        + others.predict_joint_log_proba({k: table[k] for k in ("stars", "shop")})
        - prior
    )
    np.testing.assert_allclose(model.predict_joint_log_proba(table), expected, atol=1e-10)
    one = {name: column[0] for name, column in table.items()}
    np.testing.assert_allclose(model.predict_joint_log_proba(one), expected[:1], atol=1e-10)


def test_sentences_that_hardly_repeat_are_found_to_be_text():
    rng = np.random.default_rng(0)
    words = [f"word{i}" for i in range(50)]
    table = pd.DataFrame({"note": [" ".join(rng.choice(words, 9)) for _ in range(30)]})
    model = NaiveBayes().fit(table, rng.integers(0, 2, 30))
    assert model.schema_["note"].kind == "words"
    assert "9 words" in model.schema_["note"].why
    chosen = NaiveBayes(families={"note": "complement"}, text="note").fit(table, [0, 1] * 15)
    assert chosen.model_.terms[0].family == Words("complement")


# Real texts


def load(name):
    if not DATA.is_dir():
        pytest.skip("the folder shared/data is not there")
    table = pd.read_csv(next(DATA.glob(f"{name}.csv*")), keep_default_na=False, na_values=[""])
    return table["text"].to_numpy(dtype=object), table["target"].to_numpy(dtype=object), table


@pytest.mark.parametrize("name", ["sms_spam", "ling_spam", "spamassassin", "newsgroups20"])
def test_real_texts_count_and_score_as_scikit_learns(name):
    texts, y, _ = load(name)
    texts = np.array([text if isinstance(text, str) else "" for text in texts], dtype=object)
    train, test = slice(0, None, 2), slice(1, 2000, 2)
    vectorizer, matrix = counted(texts[train])
    new = vectorizer.transform(texts[test])
    model = plain("multinomial", 1.0).fit(texts[train], y[train])
    table = model.statistics_.tables["text"].in_order()
    assert table.vocabulary.words() == sorted(vectorizer.get_feature_names_out(), key=str.encode)
    place = [vectorizer.vocabulary_[word] for word in table.vocabulary.words()]
    for k, label in enumerate(model.classes_):
        of_class = table.pairs.label == k
        found = np.zeros((2, table.n_words))
        found[0, table.pairs.word[of_class]] = table.pairs.count[of_class]
        found[1, table.pairs.word[of_class]] = table.pairs.rows[of_class]
        rows = matrix[y[train] == label]
        np.testing.assert_array_equal(found[0], np.asarray(rows.sum(axis=0)).ravel()[place])
        np.testing.assert_array_equal(found[1], np.asarray((rows > 0).sum(axis=0)).ravel()[place])
    for readout, peer in PEERS.items():
        prior = "uniform" if readout == "complement" else None
        model.change_settings(readout=readout, class_prior=prior)
        theirs = peer().fit(matrix, y[train]).predict_log_proba(new)
        ours = model.predict_log_proba(texts[test])
        np.testing.assert_allclose(ours, theirs, atol=1e-10, rtol=1e-10)


def test_a_real_table_with_text_numbers_categories_and_gaps():
    if not DATA.is_dir():
        pytest.skip("the folder shared/data is not there")
    path = DATA / "womens_clothing_reviews.csv.gz"
    table = pd.read_csv(path, keep_default_na=False, na_values=[""])
    y = table.pop("target")
    model = NaiveBayes(text=["title"]).fit(table[::2], y[::2])
    kinds = {block.name: block.kind for block in model.schema_}
    assert (kinds["title"], kinds["review_text"], kinds["age"]) == ("words", "words", "numbers")
    with_text = model.score(table[1::2], y[1::2])
    others = [name for name in table.columns if name not in ("title", "review_text", "rating")]
    without = NaiveBayes().fit(table[others][::2], y[::2]).score(table[others][1::2], y[1::2])
    assert with_text > 0.85 > without


# The lecture's


@pytest.mark.parametrize("readout", ["multinomial", "bernoulli"])
def test_the_textbook_is_scikit_learns_at_any_size(readout):
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(["sun", "Sea", "the", "sky", "cat"], 6)) for _ in range(60)]
    y = rng.choice(["a", "b"], 60, p=[0.3, 0.7])
    model = priory.TextNB.textbook(
        0.5, readout, stop_words=["the"], ngram_range=(1, 2), lowercase=False
    )
    vectorizer = CountVectorizer(stop_words=["the"], ngram_range=(1, 2), lowercase=False)
    peer = {"multinomial": MultinomialNB, "bernoulli": BernoulliNB}[readout](alpha=0.5)
    peer.fit(vectorizer.fit_transform(texts), y)
    found = model.fit(texts, y).predict_log_proba(texts)
    np.testing.assert_allclose(
        found, peer.predict_log_proba(vectorizer.transform(texts)), atol=1e-9
    )
    assert model.classifier_.tuning is None


def test_the_textbook_by_words():
    model = priory.TextNB.textbook(class_prior="words", analyzer="char").fit(
        ["aab", "b"], ["x", "y"]
    )
    np.testing.assert_allclose(model.predict_proba([""]), [[0.75, 0.25]])


@pytest.mark.parametrize("kind", ["texts", "table", "sparse"])
def test_after_all_is_forgotten_it_learns_again(kind):
    texts = [f"{a} lunch noon {i}" for i, a in enumerate(["cash", "win", "meet", "see"] * 15)]
    y = ["spam", "spam", "ham", "ham"] * 15
    if kind == "sparse":
        X, make = CountVectorizer().fit_transform(texts), NaiveBayes
    elif kind == "table":
        X, make = pd.DataFrame({"t": texts, "n": range(60)}), lambda: NaiveBayes(text=["t"])
    else:
        X, make = texts, lambda: priory.TextNB(analyzer="word")
    first, rest = (X[:40], y[:40]), (X[40:], y[40:])
    emptied, merged = (make().fit(*first).forget(*first) for _ in range(2))
    emptied.partial_fit(*rest)
    merged.merge(make().fit(*rest))
    expected = make().fit(*rest).predict_proba(rest[0])
    for model in emptied, merged:
        np.testing.assert_allclose(model.predict_proba(rest[0]), expected, atol=1e-6)


def test_texts_that_were_counted_are_not_split_anew():
    texts, y = ["win cash now", "lunch at noon"] * 30, ["spam", "ham"] * 30
    model = priory.TextNB(analyzer="word").fit(texts, y)
    for change in {"analyzer": "char"}, {"stop_words": "english"}, {"ngram_range": (1, 2)}:
        with pytest.raises(SettingError, match=r"'text' were counted by .* Learn the data again"):
            model.change_settings(**change)
    assert model.change_settings(analyzer="word", smoothing=0.5).predict(["cash"]) == ["spam"]
    table = NaiveBayes().fit({"a": ["x", "y"] * 20}, y[:40])
    with pytest.raises(SettingError, match="counted by no analyzer"):
        table.change_settings(text=["a"])


def test_one_text_and_all_texts_are_different_limits():
    texts, y = ["win cash now", "lunch at noon", "win lunch"] * 20, ["s", "h", "s"] * 20
    one = priory.TextNB(Words("complement", max_df=1), analyzer="word").fit(texts, y)
    model = priory.TextNB(Words("complement", max_df=1.0), analyzer="word").fit(texts, y)
    changed = model.change_settings(readout=Words("complement", max_df=1))
    np.testing.assert_allclose(changed.predict_proba(texts[:3]), one.predict_proba(texts[:3]))


@pytest.mark.parametrize(
    "gaps", [pd.Series([np.nan, np.nan]), pd.Series([None, None]), pa.array([None, None])]
)
def test_texts_of_which_all_are_missing(gaps):
    model = priory.TextNB(analyzer="word").fit(["win cash", "lunch at noon"] * 30, [1, 0] * 30)
    np.testing.assert_allclose(model.predict_proba(gaps), 0.5, atol=1e-6)


def test_texts_as_categories_of_polars():
    polars = pytest.importorskip("polars")
    texts = ["win cash", "lunch at noon"] * 30
    model = priory.TextNB(analyzer="word").fit(texts, [1, 0] * 30)
    for several in False, True:
        column = polars.Series(texts, dtype=polars.Categorical)
        column = polars.concat([column, column], rechunk=False) if several else column
        p = model.predict_proba(column)
        np.testing.assert_allclose(p[:60], model.predict_proba(texts))


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: priory.TextNB(stop_words=5).fit(["a"], [0]), "stop_words must be"),
        (lambda: priory.TextNB(ngram_range=(1, 1000)).fit(["a"], [0]), "ngram_range .* 255"),
        (lambda: priory.TextNB(sample_size=1.5).fit(["a"], [0]), "sample_size .* integer"),
        (lambda: priory.TextNB(n_threads="a").fit(["a"], [0]), "n_threads .* integer"),
        (lambda: priory.TextNB.from_classifier(5), "must be a Classifier"),
        (lambda: Words(idf="x"), "idf must be True or False"),
        (
            lambda: priory.TextNB().fit(["a b", "c d"] * 20, [0, 1] * 20).fewest_changes(["a"]),
            "no column of labels or numbers",
        ),
    ],
)
def test_what_cannot_be_is_refused(call, match):
    with pytest.raises(SettingError, match=match):
        call()
