"""Texts are told from names by their words, however these are parted."""

import warnings

import numpy as np
import pytest

from priory import NaiveBayes
from priory.base.errors import IdentifierWarning
from priory.data.reading import infer
from priory.data.schema import Kind
from priory.text import Analyzer
from priory.text.sentences import as_text, text_setting

WORDS = ["free", "money", "see", "you", "tomorrow", "now", "lunch", "cash"]
CHINESE = list("我喜欢吃苹果和香蕉因为很好今天气")
THAI = list("กขคงจฉชซญดตถทธนบปผพ")
JAPANESE = list("あいうえお日本語カタナのはがを")


def drawn(words, length, between, n=200):
    rng = np.random.default_rng(0)
    return [between.join(rng.choice(words, length)) for _ in range(n)]


@pytest.mark.parametrize("between", [" ", "\n", "\t", "   ", " \n\t", "\u3000", "\u2028"])
@pytest.mark.parametrize("length", [3, 4, 12])
def test_words_between_any_white_space(between, length):
    block = infer({"x": drawn(WORDS, length, between)})["x"]
    assert block.kind is Kind.WORDS and block.analyzer == Analyzer()
    assert f"strings of {length} words" in block.why


@pytest.mark.parametrize("length", [6, 20])
@pytest.mark.parametrize("letters", [CHINESE, THAI, JAPANESE], ids=["Chinese", "Thai", "Japanese"])
def test_texts_without_blanks(length, letters):
    block = infer({"x": drawn(letters, length, "")})["x"]
    assert block.kind is Kind.WORDS and block.analyzer == Analyzer()
    assert block.why.startswith(f"strings of {length} letters")


def test_texts_without_blanks_are_learned():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    texts = ["".join(rng.choice(CHINESE[k * 4 : k * 4 + 10], 12)) for k in y]
    model = NaiveBayes().fit({"x": texts[:200]}, y[:200])
    assert model.score({"x": texts[200:]}, y[200:]) > 0.9


@pytest.mark.parametrize(
    "strings",
    [
        [f"row {i}" for i in range(1000)],
        [f"INV 2020 {i:05}" for i in range(1000)],
        [f"{i}-{i * 7}-{i * 13}" for i in range(1000)],
        [f"Given{i} Middle{i % 700} Family{i % 800}" for i in range(1000)],  # words hardly repeat
        ["王小明", "李大山", "陈美丽"],
        drawn(WORDS, 2, " "),
        [],
    ],
)
def test_names_are_no_texts(strings):
    assert as_text(strings) is None


def test_what_looks_like_text_may_be_declared():
    assert text_setting("x", ["a good one", "not so good"]) == "text=['x']"
    assert text_setting("x", ["我喜欢吃", "很好今天"]) == "text=['x']"
    assert text_setting("x", ["2020 17", "2020 18"]) is None


@pytest.mark.parametrize("n", [60, 1200])
@pytest.mark.parametrize(
    ("string", "hint"),
    [
        ("Given{} Family{}", r"text=\['x'\]"),
        ("id{}", r"families=\{'x': 'categorical'\}"),
    ],
)
def test_a_column_left_out_says_how_it_is_used(n, string, hint):
    X = {"x": [string.format(i, i) for i in range(n)], "z": np.arange(n) % 7}
    with pytest.warns(IdentifierWarning, match=rf"'x' has hardly two rows .* all the same: {hint}"):
        NaiveBayes.textbook().fit(X, np.arange(n) % 2)


def test_the_setting_that_is_named_works():
    X = {"x": [f"Given{i} Family{i}" for i in range(60)]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = NaiveBayes.textbook().set_params(text=["x"]).fit(X, np.arange(60) % 2)
    assert model.schema_["x"].kind is Kind.WORDS
