"""What factors add to all rows at once: sums, counts, tables, pictures, HTML."""

import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.model.test_explanation import FAMILIES, MORE, TEXTS, mixed, strange

from priory import Classifier, NaiveBayes, Settings, TextNB
from priory.base.errors import ImpossibleEvidenceWarning, SettingError
from priory.examples import play_tennis
from priory.families import Words
from priory.model.log_odds import log_odds
from priory.model.shading import spans_of_words
from priory.text import Analyzer

EVIL = "\"><script>alert('&')</script><img src=x onerror=alert(1)>"


def softmax(scores):
    p = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return p / p.sum(axis=-1, keepdims=True)


def check(classifier, X):
    """Hold the sum of all parts to predict_proba, as scores, as log-odds and as a table."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ImpossibleEvidenceWarning)
        explanation, p = classifier.explain(X), classifier.predict_proba(X)
    scores = explanation.log_prior + explanation.log_factors.sum(axis=0)
    if explanation.bias is not None:
        scores = scores + explanation.bias
    by_column = explanation.log_prior + sum(explanation.by_column().values())
    np.testing.assert_allclose(by_column, scores, rtol=1e-12, atol=1e-12)
    possible = ~np.isneginf(scores).all(axis=1)
    np.testing.assert_allclose(softmax(scores[possible]), p[possible], rtol=0, atol=1e-12)
    n, k = p.shape
    for by in ("factor", "column"):
        frame = explanation.to_frame(by)
        assert frame.shape[0] == n * k
        told = frame.to_numpy().sum(axis=1).reshape(n, k)
        finite = np.isfinite(told.max(axis=1)) & possible
        again = softmax((k - 1) / k * told[finite])
        sizes = np.abs(explanation.log_factors[:, finite])
        sizes = sizes[np.isfinite(sizes)].max(initial=0.0)
        atol = 1e-12 + 4e-15 * sizes * (sizes > 100)  # 1e3 is far from any number learned
        np.testing.assert_allclose(again, p[finite], rtol=0, atol=atol)
    return explanation


@pytest.mark.parametrize("smoothing", [0.0, 0.5])
@pytest.mark.parametrize("families", FAMILIES, ids=range(len(FAMILIES)))
def test_parts_add_up_in_every_family(families, smoothing):
    X, y = mixed(2, 60, 3)
    weight = np.random.default_rng(0).uniform(0.5, 3.0, 60)
    classifier = Classifier(Settings.textbook(families, smoothing)).update(X, y, weight)
    check(classifier, X)
    check(classifier, strange(X))


@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    more=st.sampled_from([*MORE, {"class_prior": "uniform"}]),
    n_classes=st.integers(2, 4),
)
def test_parts_add_up_with_structures_weights_and_priors(seed, more, n_classes):
    X, y = mixed(seed, 80, n_classes)
    classifier = Classifier(Settings.textbook("plain", **more)).fit(X, y)
    check(classifier, strange(X))


@pytest.mark.parametrize("readout", [Words("multinomial"), Words("complement", "log")], ids=str)
def test_parts_add_up_for_texts_beside_columns(readout):
    X = {"note": TEXTS * 4, "n": np.arange(24) % 7}
    y = list("abaccb") * 4
    options = Settings(families={"note": readout}, text=("note",))
    check(Classifier(options).fit(X, y), {"note": [*TEXTS, "", None], "n": np.arange(8)})


def test_many_classes():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 40, 400)
    X = {"a": (y + rng.integers(0, 5, 400)) % 13, "b": rng.normal(y, 2.0)}
    check(Classifier().fit(X, [f"k{i}" for i in y]), X)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), k=st.integers(1, 6))
def test_log_odds_are_those_to_the_mean_of_the_others(seed, k):
    scores = np.random.default_rng(seed).normal(size=(3, k))
    told = log_odds(scores)
    for i in range(k):
        others = np.delete(scores, i, axis=1)
        expected = scores[:, i] - others.mean(axis=1) if k > 1 else np.zeros(3)
        np.testing.assert_allclose(told[:, i], expected, atol=1e-12)
    np.testing.assert_allclose(log_odds(scores, 0), scores - scores[:, :1])


def test_impossible_classes_have_infinite_odds_but_no_nan():
    told = log_odds(np.array([[-np.inf, 0.0], [-np.inf, -np.inf], [-np.inf, 1.0]]))
    assert told.tolist() == [[-np.inf, np.inf], [0.0, 0.0], [-np.inf, np.inf]]
    three = log_odds(np.array([-np.inf, 3.0, 1.0]))
    assert three.tolist() == [-np.inf, 1.5, -1.5]


@pytest.fixture
def days():
    X, y = play_tennis()
    model = NaiveBayes.textbook(smoothing=0).fit(X, y)
    return model, {"outlook": "Sunny", "temperature": "Cool", "humidity": "High", "wind": "Strong"}


def test_counts_are_those_of_the_textbook(days):
    model, day = days
    row = model.explain(day)[0]
    text = row.text(counts=True)
    assert "5 of 14   9 of 14" in text
    assert "3 of 5    2 of 9" in text
    assert [row.factors[0].support.shown(k) for k in (0, 1)] == ["3 of 5", "2 of 9"]
    frame = row.to_frame()
    sunny = frame[(frame.column == "outlook") & (frame["class"] == "No")].iloc[0]
    assert (sunny["count"], sunny.total) == (3, 5)
    assert sunny.factor == pytest.approx((3 / 5) / (2 / 9))
    assert np.exp(frame[frame["class"] == "No"].log_odds.sum()) == pytest.approx(
        0.7954 / 0.2046, 1e-3
    )


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6), more=st.sampled_from(MORE), with_weights=st.booleans())
def test_counts_are_those_of_the_rows(seed, more, with_weights):
    """Count the rows that have the values of a factor, by hand."""
    X, y = mixed(seed, 60, 3)
    rng = np.random.default_rng(seed)
    weight = rng.choice([0.5, 1.0, 2.0], 60) if with_weights else np.ones(60)
    classifier = Classifier(Settings.textbook("plain", **more)).fit(X, y, weight)
    of_class = [weight * (y == label) for label in classifier.classes]
    for i, row in enumerate(classifier.explain({c: v[:5] for c, v in X.items()})):
        for factor in row.factors:
            support = factor.support
            if support is None or factor.about == "missing" or factor.column not in X:
                continue
            column = pd.Series(X[factor.column])
            total = [w[column.notna()].sum() for w in of_class]
            np.testing.assert_allclose(support.total, total)
            if support.seen is not None:
                same = (column == X[factor.column][i]).to_numpy()
                np.testing.assert_allclose(support.seen, [w[same].sum() for w in of_class])


def test_words_have_counts():
    model = TextNB.textbook().fit(TEXTS, list("abaccb"))
    part = next(p for p in model.explain(["red sea"])[0].factors[0].parts if p.name == "red")
    assert [part.support.shown(k) for k in range(3)] == ["4 of 7", "0 of 4", "0 of 5"]
    texts = TextNB("bernoulli", 1.0, weights=None).fit(TEXTS, list("abaccb"))
    part = next(p for p in texts.explain(["red sea"])[0].factors[0].parts if p.name == "red")
    assert [part.support.shown(k) for k in range(3)] == ["2 of 2", "0 of 2", "0 of 2"]


def test_it_is_a_sequence_of_rows_and_slices(days):
    model, _ = days
    X, _ = play_tennis()
    whole = model.explain(X)
    part = whole[3:6]
    assert len(part) == 3
    assert str(part[0]) == str(whole[3]) == str(whole[-11])
    assert part.to_frame().to_numpy() == pytest.approx(whole.to_frame().to_numpy()[6:12])
    with pytest.raises(IndexError):
        _ = whole[14]


def test_rows_do_not_change_with_the_table():
    X = np.random.default_rng(0).normal(size=(20, 3))
    model = NaiveBayes.textbook().fit(X, [0, 1] * 10)
    explanation = model.explain(X)
    before = str(model.explain(X))
    X[:] = 0.0
    assert str(explanation) == before


def test_importance(days):
    model, _ = days
    X, _ = play_tennis()
    found = model.change_settings(smoothing=1).explain(X).importance()
    assert found.columns[0] == "humidity"
    assert found.to_dict()["outlook"]["bits"] == pytest.approx(0.2467, abs=1e-4)
    said = np.abs(model.explain(X).to_frame()["wind"]).mean()
    assert found.to_frame().mean_log_odds["wind"] == pytest.approx(said)


def test_errors(days):
    model, day = days
    explanation = model.explain(day)
    with pytest.raises(SettingError, match="by must be 'factor' or 'column', not 'row'"):
        explanation.to_frame("row")
    with pytest.raises(SettingError, match="label must be one of the classes, 'No', 'Yes', not 3"):
        explanation[0].contributions(3)
    with pytest.raises(SettingError, match="kind must be 'waterfall' or 'bars', not 'pie'"):
        explanation.plot("pie")
    with pytest.raises(SettingError, match="these are 14: take one"):
        model.explain(play_tennis()[0]).plot("bars")


def test_plots(days):
    plt = pytest.importorskip("matplotlib.pyplot")
    model, day = days
    row = model.explain(day)[0]
    figure = row.plot()
    labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert labels[0] == "P(class)"
    assert set(labels[1:]) == {title for title, _, _ in row.contributions()[1:]}
    bars = figure.axes[0].patches
    odds = np.log(row.posterior[0] / row.posterior[1])
    assert bars[-1].get_x() + bars[-1].get_width() == pytest.approx(odds)
    assert "P(No) goes from 0.357 to 0.795" in figure.axes[0].get_title(loc="left")
    evil = NaiveBayes.textbook().fit({"_$a\n^$": ["$x^{", "b"] * 3}, ["$_{", "k", "z"] * 2)
    for kind in ("waterfall", "bars"):
        drawn = evil.explain({"_$a\n^$": ["$x^{"]}).plot(kind)
        drawn.canvas.draw()
    model.explain(play_tennis()[0]).plot().canvas.draw()
    plt.close("all")


def test_impossible_classes_are_told_as_such(days):
    """In a notebook, in pictures and in averages: without NaN, and not as if nothing was said."""
    model, day = days
    explanation = model.explain({**day, "outlook": "Overcast"})
    page = explanation._repr_html_()
    assert "odds × ∞" in page and "nan" not in page
    assert str(explanation.importance()).splitlines()[1].split() == ["outlook", "∞", "0.25"]
    assert explanation.importance().to_dict()["outlook"]["mean_log_odds"] is None
    explanation.plot("importance").canvas.draw()


@pytest.mark.parametrize("unit", ["word", "char", "char_wb", str.split])
def test_html_escapes_whatever_comes(unit):
    X = {EVIL: [EVIL, "b"] * 3, "note": [f"hello {EVIL}", "good bye"] * 3}
    options = Settings.textbook(text={"note": Analyzer(unit)})
    classifier = Classifier(options).fit(X, [EVIL, "k"] * 3)
    html = classifier.explain(X)._repr_html_()
    assert "<script" not in html
    assert "<img" not in html
    assert "&lt;img" in html


@settings(max_examples=30, deadline=None)
@given(
    words=st.lists(
        st.sampled_from(["Red", "sea", "the", "blue,", "x", "(rose)", "हिन्दी", "日本の", "ไทย!!"]),
        max_size=12,
    ),
    longest=st.integers(1, 3),
    stops=st.sampled_from([None, ("the", "本")]),
    options=st.sampled_from([{}, {"symbols": True}, {"normalize": "nfkc"}]),
)
def test_shades_add_up_to_what_the_words_say(words, longest, stops, options):
    analyzer = Analyzer(ngram_range=(1, longest), stop_words=stops, **options)
    text = " ".join(words)
    said = {gram: float(len(gram)) for gram in analyzer.split(text)}
    spans = spans_of_words(text, said, dict.fromkeys(said, "?"), analyzer)
    assert sum(value for _, _, value, _ in spans) == pytest.approx(sum(said.values()))
    assert all(a[1] <= b[0] for a, b in pairwise(spans))


class TestIntervals:
    def test_of_a_textbook_model_are_those_of_predict_interval(self):
        days = {"outlook": ["Sunny", "Sunny", "Rain", "Rain"] * 3, "windy": [1, 0, 1, 0] * 3}
        classifier = Classifier(Settings.textbook()).update(days, ["No", "No", "No", "Yes"] * 3)
        X = {"outlook": ["Sunny", "Rain"], "windy": [1, 0]}
        explanation = classifier.explain(X, interval=0.8)
        expected = classifier.predict_interval(X, 0.8)
        np.testing.assert_array_equal(explanation.interval.low, expected.low)
        row = explanation[1]
        np.testing.assert_array_equal(row.interval.high, expected.high[1])
        assert f"{expected.low[1, 0]:.3f}–{expected.high[1, 0]:.3f}" in str(row)
        assert "80 % interval" in row._repr_html_()
        assert expected.how in str(row)
        assert row.to_dict()["interval"]["low"]["No"] == expected.low[1, 0]
        assert explanation[1:].interval.low.shape == (1, 2)

    def test_are_not_there_unless_asked_for(self):
        classifier = Classifier(Settings.textbook()).update({"x": ["a", "b"]}, [0, 1])
        row = classifier.explain({"x": "a"})[0]
        assert row.interval is None and row.to_dict()["interval"] is None
        assert "interval" not in str(row)
