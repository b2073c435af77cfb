"""How the analyzer of texts is chosen, and that the choice stays."""

import numpy as np
import pandas as pd
import pytest

import priory
from priory import NaiveBayes, TextNB
from priory.base.errors import SchemaError
from priory.text import Analyzer


def of_pairs(n=1500, seed=0):
    """Draw texts in which only the order of two words tells the class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    filler = [" ".join(f"word{i}" for i in rng.integers(0, 40, 4)) for _ in y]
    told = np.where(y == 1, "not good", "good not")
    return [f"{a} {b} {a[::-1]}" for a, b in zip(filler, told, strict=True)], y


def of_words(n=1500, seed=0):
    """Draw texts in which single words tell the class."""
    letters = np.array(list("abcde"))
    words = ["".join(w) for w in np.random.default_rng(7).permutation(np.stack(
        np.meshgrid(*[letters] * 4), axis=-1).reshape(-1, 4))[:300]]  # fmt: skip
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    telling = np.where(rng.random(n) < 0.9, y, 1 - y)
    texts = [[words[50 * k + i] for i in rng.integers(0, 50, 1)] for k in telling]
    noise = [[words[100 + i] for i in rng.integers(0, 200, 3)] for _ in y]
    return [" ".join(rng.permutation(a + b)) for a, b in zip(texts, noise, strict=True)], y


def of_endings(n=1500, seed=0):
    """Draw texts of words that never come twice, whose endings tell the class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    texts = []
    for k in y:
        stems = ["".join(rng.choice(letters, 6)) for _ in range(3)]
        texts.append(" ".join(stem + ("ing" if k else "ung") for stem in stems))
    return texts, y


def analyzer_of(model):
    return model.classifier_.statistics.schema["text"].analyzer


@pytest.mark.parametrize(
    ("draw", "expected"),
    [
        (of_words, Analyzer()),
        (of_pairs, Analyzer(ngram_range=(1, 2))),
        (of_endings, Analyzer("char_wb", (2, 5))),
    ],
)
def test_what_tells_the_class_is_chosen(draw, expected):
    texts, y = draw()
    model = TextNB().fit(texts, y)
    assert analyzer_of(model) == expected
    assert model.score(*draw(seed=1)) > 0.8
    assert "log-loss" in str(model.schema_)


def test_scripts_without_spaces_have_characters():
    rng = np.random.default_rng(0)
    letters = np.array(list("的一是不了人我在有他这中大来上国个到说们为子和你地出道也时年"))
    y = rng.integers(0, 2, 800)
    texts = ["".join(rng.choice(letters, 12)) + ("很好" if k else "不好") for k in y]
    model = TextNB().fit(texts, y)
    assert analyzer_of(model).unit in ("char", "word")
    assert model.score(texts, y) > 0.9


def test_neither_order_nor_later_rows_change_the_choice(tmp_path):
    texts, y = of_pairs()
    model = TextNB().fit(texts, y)
    order = np.random.default_rng(0).permutation(len(y))
    permuted = TextNB().fit([texts[i] for i in order], y[order])
    assert analyzer_of(permuted) == analyzer_of(model)
    np.testing.assert_allclose(
        permuted.predict_proba(texts), model.predict_proba(texts), rtol=1e-4, atol=1e-6
    )
    model.save(tmp_path / "m.priory", keep_sample=True)
    loaded = priory.load(tmp_path / "m.priory")
    others, z = of_words()
    for later in (loaded, model):
        later.partial_fit(others, z)
        assert analyzer_of(later) == Analyzer(ngram_range=(1, 2))
    np.testing.assert_allclose(loaded.predict_proba(texts), model.predict_proba(texts), rtol=1e-6)


def test_parts_that_chose_differently_are_not_merged():
    a, b = TextNB().fit(*of_pairs()), TextNB().fit(*of_words())
    with pytest.raises(SchemaError, match="split by different analyzers"):
        a + b


def test_a_file_and_a_table_choose_on_their_first_rows(tmp_path):
    texts, y = of_pairs()
    rows = pd.DataFrame({"note": texts, "size": np.arange(len(y)) % 7, "target": y})
    rows.to_csv(tmp_path / "rows.csv", index=False)
    model = priory.train(tmp_path / "rows.csv", "target", text=["note"])
    assert model.statistics.schema["note"].analyzer == Analyzer(ngram_range=(1, 2))
    table = NaiveBayes(text="note").fit(rows.drop(columns="target"), y)
    assert table.classifier_.statistics.schema["note"].analyzer == Analyzer(ngram_range=(1, 2))


def test_what_is_given_is_kept():
    texts, y = of_pairs()
    for options, expected in (
        ({"analyzer": "word"}, Analyzer()),
        ({"stop_words": ["good"]}, Analyzer(stop_words=("good",))),
        ({"max_features": 100}, Analyzer(max_features=100)),
        ({"weights": None}, Analyzer()),
        ({"weights": "temperature"}, Analyzer()),
        ({"readout": "multinomial"}, Analyzer()),
    ):
        assert analyzer_of(TextNB(**options).fit(texts, y)) == expected
    assert analyzer_of(TextNB.textbook().fit(texts, y)) == Analyzer("sklearn")
    assert TextNB.textbook().analyzer == "sklearn"


def test_few_texts_keep_words():
    texts, y = of_pairs(100)
    assert analyzer_of(TextNB().fit(texts, y)) == Analyzer()
