"""The printed sum is the sum."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.special import logsumexp

from priory import Classifier, Settings, TextNB
from priory.base.errors import ImpossibleEvidenceWarning
from priory.families import Binomial, Categorical, Gaussian, Histogram, Words

X = {
    "outlook": ["Sunny", "Rain", "Rain", "Sunny", "Rain"],
    "humidity": [85.0, 70.0, 72.5, None, 90.0],
    "windy": [True, False, None, True, False],
}
Y = ["No", "Yes", "Yes", "No", "Maybe"]


@pytest.fixture
def classifier():
    return Classifier(Settings.textbook(smoothing=1.0, families={"humidity": "student-t"})).update(
        X, Y
    )


def printed(text):
    """Return the numbers of every line, by the title of the line."""
    lines = [line.rsplit(maxsplit=3) for line in text.splitlines()[1:]]
    return {title.strip(): np.array(numbers, dtype=float) for title, *numbers in lines}


def test_printed_factors_multiply_to_the_printed_joint(classifier):
    row = {"outlook": "Sunny", "humidity": 80.0, "windy": True}
    numbers = printed(str(classifier.explain(row)))
    factors = [v for title, v in numbers.items() if title == "P(class)" or title.startswith("×")]
    assert len(factors) == 4
    joint = np.prod(factors, axis=0)
    np.testing.assert_allclose(joint, numbers["= P(class, row)"], rtol=2e-3)
    np.testing.assert_allclose(joint / joint.sum(), numbers["P(class | row)"], atol=1e-3)
    np.testing.assert_allclose(
        numbers["P(class | row)"], classifier.predict_proba(row)[0], atol=5e-5
    )


def test_text(classifier):
    text = str(classifier.explain({"outlook": "Rain", "humidity": None, "windy": False}))
    lines = text.splitlines()
    assert lines[0].split() == ["Maybe", "No", "Yes"]
    assert [line.split("  ")[0] for line in lines[1:3]] == [
        "P(class)",
        "× P(outlook = Rain | class)",
    ]
    assert "humidity is missing" in lines[3]
    assert lines[3].count("–") == 3
    assert "windy = False" in lines[4]


def test_numbers_add_up_exactly(classifier):
    for worked in classifier.explain(X):
        total = worked.log_prior + sum(factor.log_likelihood for factor in worked.factors)
        np.testing.assert_allclose(worked.log_joint, total, rtol=1e-14)
        assert worked.posterior.sum() == pytest.approx(1.0, rel=1e-14)


def test_it_is_a_sequence(classifier):
    explanation = classifier.explain(X)
    assert len(explanation) == 5
    assert [row.factors[0].value for row in explanation] == X["outlook"]
    assert str(explanation).count("P(class | row)") == 5
    assert str(explanation[1]) in str(explanation)


def test_no_rows(classifier):
    assert len(classifier.explain({name: [] for name in X})) == 0


def test_gap_as_a_category_is_told():
    classifier = Classifier(Settings.textbook(missing={"windy": "category"})).update(X, Y)
    text = str(
        classifier.explain({"outlook": ["Rain"] * 2, "humidity": [70.0] * 2, "windy": [None, True]})
    )
    assert "× P(windy is missing | class)" in text
    assert "× P(windy is there | class)" in text


def test_counts_show_true_probabilities():
    x, y = {"x": [0, 2, 3, 7, 5]}, ["a", "a", "a", "b", "b"]
    worked = (
        Classifier(Settings.textbook(families="poisson", smoothing=0.0))
        .update(x, y)
        .explain({"x": 3})[0]
    )
    expected = stats.poisson.logpmf(3, [5 / 3, 6])
    np.testing.assert_allclose(worked.factors[0].log_likelihood, expected, rtol=1e-12)


def test_sparse_rows_are_described():
    matrix = sp.csr_matrix(np.array([[1.0, 0, 2], [0, 3, 0]]))
    worked = Classifier(Settings.textbook()).update(matrix, ["a", "b"]).explain(matrix)[0]
    assert "2 columns present, sum 3" in str(worked)
    p = np.array([[2 / 6, 1 / 6, 3 / 6], [1 / 6, 4 / 6, 1 / 6]])
    expected = [stats.multinomial.logpmf([1, 0, 2], 3, row) - np.log(3) for row in p]
    np.testing.assert_allclose(worked.factors[0].log_likelihood, expected, rtol=1e-12)
    assert "P(x2 | class)^2" in str(worked)
    assert "left out: n! / Π x! = 3 orders, the same for every class" in str(worked)


def test_family_without_a_likelihood_is_explained_all_the_same():
    counts = np.array([[1.0, 0, 2], [0, 3, 0]])
    worked = (
        Classifier(Settings.textbook(families="complement"))
        .update(counts, ["a", "b"])
        .explain(counts)[0]
    )
    assert worked.posterior[0] > worked.posterior[1]


def test_tiny_numbers_have_four_digits_too():
    classifier = Classifier(Settings.textbook()).update(
        {"x": [0.0, 1.0, 100.0, 101.0]}, ["a", "a", "b", "b"]
    )
    text = str(classifier.explain({"x": 100.5}))
    assert "e-8686" in text  # (100.5 − 0.5)² / (2 · 0.25) = 20,000 = 8,686 · log 10


def test_many_classes_are_cut_off():
    n = 9
    classifier = Classifier(Settings.textbook()).update(
        {"x": [f"v{i}" for i in range(n)]}, [f"k{i}" for i in range(n)]
    )
    text = str(classifier.explain({"x": "v8"}))
    assert "(3 less probable classes are not shown)" in text
    assert "k8" in text.splitlines()[0]


# Every family, weights, texts, counts, gaps and structures: each line multiplies to the one under.

FAMILIES = [
    "plain",
    {"number": "student-t", "spread": "log-normal", "whole": "poisson"},
    {"number": "histogram", "spread": "histogram-mdl", "whole": "categorical"},
    {"number": "kernel-density", "spread": "rank-normal", "whole": Binomial(trials=60)},
    {"number": Gaussian(shared=True), "word": Categorical(unseen="smooth")},
    {("number", "spread"): "multivariate-gaussian", ("word", "truth"): "joint"},
]
MORE = [
    {},
    {"structure": "tan"},
    {"structure": "aode"},
    {"structure": "joint"},
    {"structure": "hill-climb"},
    {"structure": [("word", "number"), ("truth", "number"), ("truth", "word")]},
    {"pairs": "auto"},
    {"weights": "columns"},
    {"weights": "temperature", "missing": "category"},
    {"pairs": "auto", "weights": "columns"},
]
COUNTS = ["multinomial", "bernoulli", "complement"]
READOUTS = [
    "multinomial",
    "bernoulli",
    "complement",
    Words("multinomial", term="log", idf=True),
    Words("complement", norm=True),
    Words("multinomial", min_df=3),
    Words("multinomial", max_df=0.5),
]
TEXTS = ["red sea, red sky", "blue sea", "red red rose", "blue sky and sea", "a rose", "sky blue"]


def check_sum(classifier, X, is_score):
    """Hold the lines to the line under them, on the object and as they are printed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ImpossibleEvidenceWarning)
        explanation, p = classifier.explain(X), classifier.predict_proba(X)
        joint = classifier.predict_joint_log_proba(X)
    for i, worked in enumerate(explanation):
        assert worked.is_score == is_score
        told = sum(line.log_p for line in worked.lines() if line.log_p is not None)
        np.testing.assert_allclose(worked.log_joint, told, rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(worked.log_joint, joint[i])
        np.testing.assert_array_equal(worked.posterior, p[i])
        for factor in worked.factors:
            if factor.parts or factor.together:
                parts = sum(part.log_p for part in (*factor.parts, *factor.together))
                np.testing.assert_allclose(factor.log_likelihood, parts, rtol=1e-12, atol=1e-12)
        if worked.is_impossible:
            assert "impossible under every class" in str(worked)
            continue
        normalised = np.exp(worked.log_joint - logsumexp(worked.log_joint))
        rounding = 1e-12 + 1e-15 * np.abs(worked.log_joint[worked.log_joint > -np.inf]).max()
        np.testing.assert_allclose(worked.posterior, normalised, rtol=0, atol=rounding)
        check_printed(worked)


def check_printed(worked):
    lines = str(worked).splitlines()
    k = len(worked.classes)
    logs, n = np.zeros(k), 0
    for line in lines[1:]:
        if line.startswith(("P(class) ", "×")):
            logs += [as_log(number) for number in line.split()[-k:]]
            n += 1
        elif line.startswith("="):
            assert line.startswith("= score" if worked.is_score else "= P(class, row)")
            found = np.array([as_log(number) for number in line.split()[-k:]])
            np.testing.assert_allclose(found, logs, rtol=0, atol=6e-4 * (n + 1))
        elif line.startswith("P(class | row)"):
            p = np.array(line.split()[-k:], dtype=float)
            np.testing.assert_allclose(p, np.exp(found - logsumexp(found)), atol=2e-3)


def as_log(number):
    digits, _, power = number.partition("e")
    with np.errstate(divide="ignore"):
        return np.log(float(digits)) + int(power or 0) * np.log(10)


def mixed(seed, n, n_classes):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    y[:n_classes] = np.arange(n_classes)
    word = rng.choice(["it's", "b", "ü", "d"], n).astype(object)
    word[rng.random(n) < 0.2] = None
    number = rng.normal(y, 1.0, n).round(2)
    number[rng.random(n) < 0.2] = np.nan
    X = {
        "word": word,
        "truth": rng.random(n) < 0.2 + 0.2 * y,
        "number": number,
        "whole": rng.poisson(1 + y),
        "spread": rng.exponential(1 + y, n).round(3),
    }
    return X, np.array(["low", "mid", "high", "top"])[y]


def strange(X):
    """Return rows with gaps and with values that were never learned."""
    other = {name: values[:8].copy() for name, values in X.items()}
    other["word"][::3] = "never"
    other["word"][::5] = None
    other["number"][::4] = 1e3
    other["number"][1::4] = np.nan
    other["whole"][::3] = 55
    other["spread"][1::3] = -1e3
    return other


@pytest.mark.parametrize("smoothing", [0.0, 0.5])
@pytest.mark.parametrize("families", FAMILIES, ids=range(len(FAMILIES)))
def test_lines_multiply_in_every_family(families, smoothing):
    X, y = mixed(1, 60, 3)
    classifier = Classifier(Settings.textbook(families, smoothing)).update(X, y)
    check_sum(classifier, {name: values[:6] for name, values in X.items()}, False)
    check_sum(classifier, strange(X), False)


@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    more=st.sampled_from(MORE),
    n_classes=st.integers(2, 4),
    families=st.sampled_from(["plain", "auto"]),
)
def test_lines_multiply_with_weights_and_structures(seed, more, n_classes, families):
    X, y = mixed(seed, 80, n_classes)
    if more.get("structure", "naive") != "naive":
        families = "plain"
    classifier = Classifier(Settings.textbook(families, **more)).fit(X, y)
    is_score = any(t.weight != 1 or t.about == "edge" for t in classifier.model.terms)
    is_score |= classifier.model.bias is not None and bool(classifier.model.bias.any())
    check_sum(classifier, strange(X), is_score)


@pytest.mark.parametrize("weights", [None, "temperature"])
@pytest.mark.parametrize("family", COUNTS)
def test_lines_multiply_for_counts(family, weights):
    rng = np.random.default_rng(0)
    X = rng.poisson(0.8, (40, 13))
    y = rng.integers(0, 3, 40)
    declared = {tuple(f"x{j}" for j in range(13)): family}
    for table, families in ((sp.csr_matrix(X), family), (X, declared)):
        settings = Settings.textbook(families, weights=weights)
        classifier = Classifier(settings).fit(table, y)
        check_sum(classifier, table[:6], weights is not None or family == "complement")
    text = str(classifier.explain(np.minimum(X[:1], 1)))
    if family == "bernoulli":
        assert "columns that are not there" in text


@pytest.mark.parametrize("smoothing", [0.0, 1.0])
@pytest.mark.parametrize("readout", READOUTS, ids=str)
def test_lines_multiply_for_words(readout, smoothing):
    model = TextNB(readout, smoothing, weights=None).fit(TEXTS, ["a", "b", "a", "b", "c", "c"])
    words = readout if isinstance(readout, Words) else Words(readout)
    asked = [*TEXTS, "", "red zebra sea", "nothing known", " ".join(TEXTS)]
    texts = {"text": asked}
    check_sum(model.classifier_, texts, not words.is_likelihood)


def test_weighted_words_are_a_score_with_a_bias():
    model = TextNB("bernoulli", 1.0).fit(TEXTS * 5, ["a", "b", "a", "b", "b", "b"] * 5)
    check_sum(model.classifier_, {"text": [*TEXTS, "zebra"]}, True)
    assert "× bias of the class" in str(model.explain(["sea"]))


def test_words_that_are_not_there_are_one_line_and_unknown_ones_are_named():
    model = TextNB("bernoulli", 1.0, weights=None, analyzer="sklearn")
    worked = model.fit(TEXTS, ["a", "b", "a", "b", "c", "c"]).explain(["red zebra sea yak"])[0]
    lines = str(worked).splitlines()
    assert [line.split("  ")[0] for line in lines if line.startswith("×")] == ["×"] * 3
    assert any("4 words that are not there" in line for line in lines)
    assert "    not in the vocabulary, skipped: zebra, yak" in lines
    parts = {part.title: np.exp(part.log_p) for part in worked.factors[0].parts}
    np.testing.assert_allclose(parts["P(red is there | class)"], [3 / 4, 1 / 4, 1 / 4])


def test_many_words_are_cut_off_but_not_lost():
    texts = [" ".join(f"w{i}" for i in range(20)), "w1 w2"]
    worked = TextNB.textbook().fit(texts, ["a", "b"]).explain(texts)[0]
    assert "×   12 more words" in str(worked)
    check_printed(worked)


def test_what_is_summed_out_is_said():
    X = {"left": ["up", "up", "down"], "right": ["in", "out", "in"]}
    settings = Settings.textbook({("left", "right"): "joint"})
    classifier = Classifier(settings).update(X, ["a", "b", "b"])
    text = str(classifier.explain({"left": ["up"], "right": ["askew"]}))
    assert "× P(left = up | class)" in text
    assert "never seen, summed out: right = askew" in text
    assert "× P(right = in | class)" in str(classifier.explain({"left": [None], "right": ["in"]}))


def test_a_number_in_a_bin_is_told_by_its_bin():
    X = {"x": [1.0, 2.0, 3.0, 4.0]}
    settings = Settings.textbook("histogram", 0.0)
    classifier = Classifier(settings).update(X, ["a", "a", "b", "b"])
    worked = classifier.explain({"x": 900.0})[0]
    assert "P(x in (3.5, inf] | class)" in str(worked)
    assert np.exp(worked.log_joint).tolist() == [0.0, 0.25]


def test_weight_0_leaves_a_factor_out():
    X, y = mixed(3, 60, 2)
    classifier = Classifier(Settings.textbook(weights="columns")).fit(X, y)
    terms = classifier.model.terms
    object.__setattr__(terms[0], "weight", 0.0)
    worked = classifier.explain({name: values[6:7] for name, values in X.items()})[0]
    assert "has weight 0" in str(worked) or "is missing" in str(worked)
    check_printed(worked)


def test_line_breaks_in_names_do_not_break_the_table():
    classifier = Classifier(Settings.textbook()).update({"a\nb": ["u\nv", "w"]}, [0, 1])
    assert "× P(a b = u v | class)" in str(classifier.explain({"a\nb": ["u\nv"]}))


def test_dates_and_ordered_categories_are_written_as_people_know_them():
    days = np.array(["2024-05-06", "2024-06-07T01:02:03", "2024-07-08", "NaT"], "datetime64[s]")
    size = pd.Categorical(["S", "L", None, "M"], ["S", "M", "L"], ordered=True)
    model = Classifier(Settings.textbook(families={"size": "gaussian"}))
    model.update(pd.DataFrame({"when": days, "size": size}), [0, 1, 1, 0])
    row = model.explain({"when": "2024-06-07 01:02:03", "size": "M"})[0]
    assert "P(when = 2024-06-07 01:02:03 | class)" in str(row)
    assert "P(size = M | class)" in str(row)
    when = row.factors[0]
    assert when.title == "when = 2024-06-07 01:02:03"
    assert when.value == days[1].astype(float)  # programs have the number
    x = days[:3].astype(float).tolist()
    binned = Classifier(Settings.textbook(Histogram(bins=3))).update({"x": x}, [0, 1, 1]).model
    block, term = model.statistics.schema["when"], binned.terms[0]
    told = term.family.formula(block, x[1], term.parameters)
    assert re.fullmatch(r"P\(when in \(2024-0[56][-\d :]+, 2024-0[67][-\d :]+\] \| class\)", told)
