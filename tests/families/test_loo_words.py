"""Texts left out of their own sums: held to counting all the others again."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from priory.base.errors import ForgetError
from priory.data.columns import Texts
from priory.data.reading import infer, read, read_labels
from priory.data.schema import Block, Kind
from priory.families import Bernoulli, Gaussian, Words
from priory.families.loo import LooRows, log_likelihood_loo
from priory.families.priors import Dirichlet, Laplace, MEstimate
from priory.kernels.utf8 import encode_texts
from priory.kernels.vocabulary import Vocabulary
from priory.model.model import Model
from priory.model.term import Choice
from priory.statistics import Statistics
from priory.statistics.tables import WordsTable
from priory.text import Analyzer
from priory.tuning.leave_one_out import log_joint_loo, term_scores_loo

DATA = Path(__file__).parents[3] / "shared" / "data"

READOUTS = [
    Words(),
    Words(term="log"),
    Words(idf=True),
    Words(term="log", idf=True),
    Words("complement"),
    Words("complement", term="log"),
    Words("complement", idf=True),
    Words("complement", term="log", idf=True),
    Words("complement", norm=True),
    Words("complement", term="log", idf=True, norm=True),
    Words("bernoulli"),
    Words("evidence"),
    Words("evidence", term="log"),
]
PRIORS = [Laplace(1.0), Laplace(0.01), MEstimate(2.0), MEstimate(3.0, "marginal")]

TEXTS = [
    "aa bb bb cc",
    "aa bb dd dd dd",
    None,
    "",
    "ee ff aa aa aa aa",
    "gg",
    "bb cc cc aa gg hh",
    "aa",
    "ii ii ii",
    "cc dd ee aa",
    "hh hh bb",
]
Y = np.array([0, 0, 1, 1, 1, 2, 1, 0, 3, 2, 1], dtype=np.int32)
WEIGHTS = np.array([1, 2, 1, 0.5, 3, 0.25, 1, 2.5, 1, 2, 0.75])


def words_of(texts, analyzer=None):
    return Texts(*encode_texts(texts), (analyzer or Analyzer()).splitter)


def block_of(max_features=None):
    return Block("text", ("text",), Kind.WORDS, analyzer=Analyzer(max_features=max_features))


def counted(column, y, weight=None, n_classes=4):
    return WordsTable.count(block_of(), column, y, weight, n_classes)


def by_counting_again(family, column, y, weight, prior, n_classes=4, some=None):
    """Return the scores of each text under all the others, read into a new table."""
    weight = np.ones(len(y)) if weight is None else weight
    scores = []
    for i in range(len(y)) if some is None else some:
        left = weight.copy()
        left[i] = 0.0
        others = np.flatnonzero(left > 0)
        table = counted(column.take(others), y[others], left[others], n_classes)
        parameters = family.parameters(table, prior)
        scores.append(family.log_likelihood(column.take(slice(i, i + 1)), parameters)[0])
    return np.array(scores).reshape(-1, n_classes)


def assert_left_out(family, column, y, weight, prior, n_classes=4):
    table = counted(column, y, weight, n_classes)
    ours = log_likelihood_loo(family, column, y, weight, table, prior)
    expected = by_counting_again(family, column, y, weight, prior, n_classes)
    np.testing.assert_allclose(ours, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("weight", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("least", [1, 2, 3])
@pytest.mark.parametrize("prior", PRIORS, ids=str)
@pytest.mark.parametrize("family", READOUTS, ids=str)
def test_each_text_is_scored_as_if_it_had_not_been_counted(family, prior, least, weight):
    family = Words(family.readout, family.term, family.idf, least, family.norm)
    assert_left_out(family, words_of(TEXTS), Y, weight, prior)


@pytest.mark.parametrize("weight", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("least", [1, 2])
@pytest.mark.parametrize("readout", ["multinomial", "bernoulli", "complement"])
def test_without_a_prior(readout, least, weight):
    family = Words(readout, min_df=least)
    assert_left_out(family, words_of(TEXTS), Y, weight, Laplace(0.0))


@pytest.mark.parametrize("weight", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("most", [3, 0.35])
@pytest.mark.parametrize("family", READOUTS, ids=str)
def test_the_words_that_max_df_keeps_stay(family, most, weight):
    column, prior = words_of(TEXTS), Laplace(0.5)
    table = counted(column, Y, weight)
    family = replace(family, max_df=most)
    ours = log_likelihood_loo(family, column, Y, weight, table, prior)
    weight = np.ones(len(Y)) if weight is None else weight
    kept = Vocabulary([word for word in table.vocabulary.words() if word not in ("aa", "bb")])
    expected = []
    for i in range(len(Y)):
        others = np.flatnonzero(np.arange(len(Y)) != i)
        rest = counted(column.take(others), Y[others], weight[others]).only_words(kept)
        parameters = replace(family, max_df=1.0).parameters(rest, prior)
        expected.append(family.log_likelihood(column.take(slice(i, i + 1)), parameters)[0])
    np.testing.assert_allclose(ours, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("least", [1, 2])
def test_priors_that_name_values(least):
    words = ("aa", "bb", "cc", "dd", "ee", "ff", "gg", "hh", "ii")
    prior = Dirichlet({word: 0.5 + 0.1 * i for i, word in enumerate(words)})
    assert_left_out(Words(min_df=least), words_of(TEXTS), Y, None, prior)
    there = Dirichlet({True: 0.5, False: 1.5})
    assert_left_out(Words("bernoulli", min_df=least), words_of(TEXTS), Y, WEIGHTS, there)


def test_a_closed_form_is_there_for_what_is_asked_for_most():
    table = counted(words_of(TEXTS), Y)

    def closed(family, prior):
        return family.loo_scores(LooRows(Y), table, prior) is not None

    for family, prior in product(READOUTS, PRIORS):
        marginal = prior == MEstimate(3.0, "marginal")
        read_anew = family.norm or (marginal and (family.idf or family.readout == "bernoulli"))
        read_anew |= family.readout == "evidence" and not isinstance(prior, Laplace)
        assert closed(family, prior) == (not read_anew)
    assert closed(Words(), Laplace(0.0))
    assert closed(Words(), MEstimate(0.0))
    assert not closed(Words("bernoulli"), Laplace(0.0))


word_lists = st.lists(
    st.sampled_from(["aa", "bb", "cc", "dd", "ee", "ff", "gg", "hh", "été"]), max_size=9
)
rows = st.lists(
    st.tuples(
        st.none() | word_lists.map(" ".join),
        st.integers(0, 4),
        st.sampled_from([0.125, 0.3, 0.5, 1.0, 1.0, 2.0, 3.0, 2.5]),
    ),
    min_size=1,
    max_size=14,
)


@settings(max_examples=150, deadline=None)
@given(
    rows,
    st.sampled_from(READOUTS),
    st.integers(1, 3),
    st.sampled_from(PRIORS),
    st.booleans(),
)
def test_any_texts(rows, family, least, prior, weighted):
    family = Words(family.readout, family.term, family.idf, least, family.norm)
    texts, y, weight = zip(*rows, strict=True)
    weights = np.array(weight) if weighted else None
    assert_left_out(family, words_of(texts), np.array(y, dtype=np.int32), weights, prior, 5)


@pytest.mark.parametrize("family", READOUTS[:-1:3] + READOUTS[-1:], ids=str)
def test_many_classes(family):
    rng = np.random.default_rng(0)
    texts = [
        " ".join(f"w{min(w, 60)}" for w in rng.zipf(1.4, rng.integers(0, 15))) for _ in range(90)
    ]
    y = rng.integers(0, 40, 90).astype(np.int32)
    for least, prior in ((1, PRIORS[0]), (2, PRIORS[3])):
        family = Words(family.readout, family.term, family.idf, least, family.norm)
        assert_left_out(family, words_of(texts), y, None, prior, 41)


def test_words_that_a_limit_keeps_stay_the_same():
    column, analyzer = words_of(TEXTS), block_of(max_features=5)
    table = WordsTable.count(analyzer, column, Y, None, 4)
    assert table.limit < table.n_words and not table.is_approximate
    kept = table.most_frequent(5)
    for family in READOUTS:
        ours = log_likelihood_loo(family, column, Y, None, table, Laplace(0.5))
        for i in range(len(Y)):
            others = np.arange(len(Y)) != i
            rest = counted(column.take(others), Y[others])
            rest = rest.only_words(table.vocabulary.take(np.flatnonzero(kept)))
            one = column.take(slice(i, i + 1))
            expected = family.log_likelihood(one, family.parameters(rest, Laplace(0.5)))
            np.testing.assert_allclose(ours[i : i + 1], expected, atol=1e-10)


def test_sums_that_dropped_words_give_what_they_still_know():
    column = words_of([f"aa bb c{i}c d{i}d" for i in range(9)])
    y = np.arange(9, dtype=np.int32) % 2
    table = WordsTable.count(block_of(max_features=3), column, y, None, 2)
    assert table.is_approximate
    for family in (Words(), Words("complement", term="log"), Words("bernoulli")):
        assert np.isfinite(log_likelihood_loo(family, column, y, None, table, Laplace(1.0))).all()


@pytest.mark.parametrize("family", READOUTS, ids=str)
def test_a_text_that_was_never_learned_is_refused(family):
    column = words_of(TEXTS)
    table, never = counted(column, Y), words_of(["ii aa"])
    for texts, y in ((never, 0), (words_of(["dd dd dd dd"]), 0)):
        with pytest.raises(ForgetError, match="learned"):
            term_scores_loo(
                block_of(), family, Laplace(1.0), table, texts, np.array([y], dtype=np.int32)
            )
        if family.readout == "bernoulli":
            break  # it does not ask how often


def test_rows_in_stretches_are_the_same():
    column, left, table = words_of(TEXTS), LooRows(Y, WEIGHTS), counted(words_of(TEXTS), Y, WEIGHTS)
    for family in READOUTS:
        adder = family.loo_adder(column, left, table, Laplace(1.0))
        whole, parts = np.ones((len(Y), 4)), np.ones((len(Y), 4))
        adder(slice(0, len(Y)), whole)
        for rows in (slice(0, 3), slice(3, 4), slice(4, 4), slice(4, len(Y))):
            adder(rows, parts[rows])
        np.testing.assert_array_equal(whole, parts)


@pytest.mark.parametrize("class_prior", [None, "uniform", "words"])
@pytest.mark.parametrize("weight", [None, np.array([1, 2, 0, 0.5, 3, 0.25, 1, 2.5, 1])])
def test_a_table_with_a_text_among_its_columns(class_prior, weight):
    X = pd.DataFrame(
        {
            "title": ["aa bb", "bb cc cc", None, "", "dd aa bb", "bb", "cc", "aa aa", "bb ee"],
            "size": [1.0, 2.5, 3.0, np.nan, 2.0, 4.0, 1.5, 0.5, 2.0],
            "body": ["xx yy", "yy zz", "xx xx", "zz yy", "xx", "yy yy", "zz", "xx yy", None],
            "reply": [True, False, True, True, False, False, True, False, True],
        }
    )
    y = np.array(["a", "b", "a", "b", "a", "b", "a", "b", "c"])
    schema = infer(X, {("title",): Analyzer(), ("body",): Analyzer("char", (1, 2))})
    choices = {
        "title": Choice(Words("complement", term="log"), Laplace(0.3), "category"),
        "size": Choice(Gaussian(), None),
        "body": Choice(Words("bernoulli"), Laplace(1.0)),
        "reply": Choice(Bernoulli(), Laplace(1.0)),
    }
    frame, labels = read(X, schema), read_labels(y)
    statistics = Statistics.count(frame, labels, schema, weight)
    ours = log_joint_loo(statistics, choices, frame, labels, weight, class_prior)
    for i in range(len(y)):
        left = np.ones(len(y)) if weight is None else weight.copy()
        left[i] = 0.0
        some = left > 0
        rest = Statistics.count(frame.take(some), labels.take(some), schema, left[some])
        model = Model.read(rest.with_classes(statistics.classes), choices, class_prior)
        with np.errstate(divide="ignore"):
            expected = model.log_joint(frame.take(slice(i, i + 1)))
        np.testing.assert_allclose(ours[i : i + 1], expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(
    "name, n, some", [("sms_spam.csv", 300, 40), ("newsgroups20.csv.gz", 100, 12)]
)
@pytest.mark.parametrize(
    "family",
    [
        Words(),
        Words("complement", term="log"),
        Words("bernoulli", min_df=2),
        Words(idf=True),
    ],
    ids=str,
)
def test_real_texts(name, n, some, family):
    if not (DATA / name).exists():
        pytest.skip(f"{DATA / name} is not there")
    table = pd.read_csv(DATA / name, keep_default_na=False).sample(n, random_state=0)
    y, classes = pd.factorize(table["target"])
    column, y, K = words_of(table["text"].tolist()), y.astype(np.int32), len(classes)
    words = counted(column, y, None, K)
    ours = log_likelihood_loo(family, column, y, None, words, Laplace(0.3))
    expected = by_counting_again(family, column, y, None, Laplace(0.3), K, range(0, n, n // some))
    np.testing.assert_allclose(ours[:: n // some], expected, rtol=1e-10, atol=1e-9)
