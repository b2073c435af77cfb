"""Texts: what priory and its peers do with raw strings."""

from __future__ import annotations

import functools
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.pipeline import make_pipeline

import priory
from benchmarks.works import SEED, SKLEARN, Peer, Sizes, Work
from priory.families import Words

__all__ = ["NEWSGROUPS", "SCRIPTS", "TEXT_FITS", "accuracies", "texts", "zipf_texts"]

VOWPAL_WABBIT, FASTTEXT, POLARS = "Vowpal Wabbit", "fastText", "Polars"
CLASSES = 20
NEWSGROUPS = Path(__file__).parents[2] / "shared" / "data" / "newsgroups20.csv.gz"
"""A real collection, measured where it is there."""

RATE = 0.01
"""fastText's threads write to the same memory, and at its own rate of 0.1 a run may end in NaN."""

FEW_BYTES = 1_000_000
"""A run with fewer is a quick one."""

SCRIPTS = {
    "ASCII": "abcdefghijklmnopqrstuvwxyz",
    "accents": "abcdefghijklmnopqrstuvwxyzàâäçéèêëîïôöùûüÿñãõå",
    "Cyrillic": "абвгдежзийклмнопрстуфхцчшщъыьэюя",
    "Devanagari": "अआइकखगचजटडतदनपबमयरलवशसह\u093e\u093f\u0940\u0941\u0947\u094d\u0902",
    "CJK": "的一是不了人我在有他这中大来上国个到说们为子和你地出道也时年",
}


RATES = {"CJK": 0.25}
"""What part of ASCII's rate is wanted, by bytes, else ⅔: every character of Chinese is a word, and
every pair, so that it has four times as many words."""


def zipf_texts(n_bytes: int, n_words: int, script: str = "ASCII") -> tuple[list[str], np.ndarray]:
    """Draw texts of words whose frequencies fall as Zipf's law says, every class with its own."""
    rng = np.random.default_rng(SEED)
    words = _words(rng, n_words, SCRIPTS[script])
    width = float(np.mean([len(word.encode()) for word in words[:1000]])) + 1
    n_texts = max(20, int(n_bytes / (100 * width)))
    chance = 1 / (np.arange(n_words) + 3.0)
    steps = np.cumsum(chance / chance.sum())
    steps[-1] = 1.0
    y = rng.integers(0, CLASSES, n_texts)
    texts = []
    for first in range(0, n_texts, 10_000):
        some = y[first : first + 10_000]
        lengths = rng.integers(40, 160, len(some))
        word = np.searchsorted(steps, rng.random(lengths.sum()))
        own = rng.random(len(word)) < 0.2
        shift = np.repeat(101 * (1 + some), lengths)
        word[own] = (word[own] + shift[own]) % n_words
        tokens, ends = words[word], np.cumsum(lengths)
        texts += [
            " ".join(tokens[end - length : end]) for end, length in zip(ends, lengths, strict=True)
        ]
    return texts, y


def _words(rng: np.random.Generator, n: int, letters: str) -> np.ndarray:
    """Return n different words, the frequent ones short."""
    found: dict[str, None] = {}
    alphabet = np.array(list(letters))
    while len(found) < n:
        length = 2 + int(rng.poisson(1 + 4 * len(found) / n))
        found["".join(rng.choice(alphabet, length))] = None
    return np.array(list(found), dtype=object)


TEXT_FITS: Mapping[str, Callable[[], Callable[[Any, Any], Any]]] = {
    "priory": lambda: lambda X, y: priory.TextNB.textbook().fit(X, y),
    SKLEARN: lambda: lambda X, y: make_pipeline(CountVectorizer(), MultinomialNB()).fit(X, y),
}
"""Returns the fit; the key "priory" is ours."""


def texts(sizes: Sizes) -> Iterator[Work]:
    """Fit and predict raw strings: drawn ones, in several scripts, and real ones."""
    drawn, y = zipf_texts(sizes.text_bytes, sizes.words)
    data = f"{_megabytes(drawn):.0f} MB of ASCII, {sizes.words:,} words, {CLASSES} classes"
    with tempfile.TemporaryDirectory() as folder:
        yield from _fit_and_predict("TextNB", drawn, y, data, _others(drawn, y, Path(folder)))
    ascii_texts, labels = drawn[: len(drawn) // 4], y[: len(drawn) // 4]
    size = sum(map(len, ascii_texts))
    for script in list(SCRIPTS)[1:]:
        other, other_y = zipf_texts(size, sizes.words, script)
        scale = _megabytes(other) / _megabytes(ascii_texts)
        yield Work(
            f"TextNB fit, {script}",
            f"{_megabytes(other):.0f} MB",
            functools.partial(_fit_words, other, other_y),
            [
                Peer(
                    "priory, ASCII",
                    functools.partial(_fit_words, ascii_texts, labels),
                    None,
                    RATES.get(script, 2 / 3) / scale,
                )
            ],
        )
    if NEWSGROUPS.is_file() and sizes.text_bytes > FEW_BYTES:
        table = pd.read_csv(NEWSGROUPS, keep_default_na=False)
        real, y = table["text"].tolist(), table["target"].to_numpy()
        data = f"newsgroups20, {_megabytes(real):.0f} MB, {CLASSES} classes"
        yield from _fit_and_predict("TextNB", real, y, data, [])
        yield from _tuned_fits(real, y, data)
    scale = max(1, sizes.text_bytes // 400_000)  # 300 of the whole run
    short, y = short_texts(1_000 * scale, 20)
    yield _tuned_fit(f"{len(short):,} short texts, 20 classes", short, y, {}, 2)
    many, y = short_texts(167 * scale, 1000)
    yield _tuned_fit(f"{len(many):,} short texts, 1,000 classes", many, y, {}, None)


def short_texts(n: int, classes: int) -> tuple[list[str], np.ndarray]:
    """Draw texts of ten words, four of them the class's own on average."""
    rng = np.random.default_rng(SEED)
    y, own = rng.integers(0, classes, n), rng.integers(0, 20_000, (classes, 30))
    common = (rng.random((n, 10)) ** 3 * 20_000).astype(np.int64)
    telling = own[y[:, None], rng.integers(0, 30, (n, 10))]
    words = np.where(rng.random((n, 10)) < 0.4, telling, common)
    return [" ".join(f"w{word}" for word in row) for row in words.tolist()], y


def _tuned_fits(X: list[str], y: np.ndarray, data: str) -> Iterator[Work]:
    """Fit the default: with the analyzer given, and with everything chosen."""
    yield _tuned_fit(f"{data}, analyzer given", X, y, {"analyzer": "word"}, 3)
    yield _tuned_fit(f"{data}, everything chosen", X, y, {}, 1)


def _tuned_fit(
    data: str, X: list[str], y: np.ndarray, options: dict[str, Any], ratio: float | None
) -> Work:
    def fit() -> Any:
        return priory.TextNB(**options).fit(X, y).model_

    theirs = TEXT_FITS[SKLEARN]()
    return Work(
        "TextNB() fit, tuned", data, fit, [Peer(SKLEARN, lambda: theirs(X, y), None, ratio)]
    )


def _fit_words(X: list[str], y: np.ndarray) -> priory.TextNB:
    """Fit words of every script."""
    return priory.TextNB.textbook(analyzer="word").fit(X, y)


def _fit_and_predict(
    name: str, X: list[str], y: np.ndarray, data: str, others: Sequence[Peer]
) -> Iterator[Work]:
    ours, theirs = TEXT_FITS["priory"](), TEXT_FITS[SKLEARN]()
    few = X[:500]

    def difference(a: Any, b: Any) -> float:
        return float(np.abs(a.predict_log_proba(few) - b.predict_log_proba(few)).max())

    peers = [Peer(SKLEARN, lambda: theirs(X, y), difference, 40), *others]
    yield Work(f"{name} fit from raw strings", data, lambda: ours(X, y), peers)
    fitted, peer = ours(X, y), theirs(X, y)
    yield Work(
        f"{name} predict_log_proba from raw strings",
        data,
        lambda: fitted.predict_log_proba(X),
        [
            Peer(
                SKLEARN,
                lambda: peer.predict_log_proba(X),
                lambda a, b: float(np.abs(a[:500] - b[:500]).max()),
                30,
            )
        ],
    )


def _others(X: list[str], y: np.ndarray, folder: Path) -> list[Peer]:
    """Return the peers that read a file or group words; their models are others, so uncompared."""
    vw, fast = folder / "texts.vw", folder / "texts.fasttext"
    with vw.open("w") as a, fast.open("w") as b:
        for text, k in zip(X, y.tolist(), strict=True):
            a.write(f"{k + 1} | {text}\n")
            b.write(f"__label__{k} {text}\n")

    def vowpal_wabbit() -> Any:
        from vowpalwabbit import Workspace

        workspace = Workspace(f"--oaa {CLASSES} --data {vw} --bit_precision 22 --quiet")
        workspace.finish()
        return workspace

    def fasttext() -> Any:
        from fasttext import train_supervised

        threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2
        try:
            return train_supervised(str(fast), epoch=1, lr=RATE, thread=threads, verbose=0)
        except RuntimeError as error:  # then it stopped early, and its time is too short
            return error

    def polars() -> Any:
        import polars as pl

        words = pl.col("text").str.to_lowercase().str.extract_all(r"\b\w\w+\b")
        frame = pl.DataFrame({"text": X, "label": y})
        long = frame.lazy().select(words, "label").explode("text").drop_nulls()
        return long.group_by("label", "text").len().collect()

    def same_counts(model: Any, groups: Any) -> float:
        table = model.statistics_.tables["text"]
        return abs(float(table.pairs.count.sum()) - float(groups["len"].sum())) + abs(
            len(table.pairs.count) - len(groups)
        )

    return [
        Peer(VOWPAL_WABBIT, vowpal_wabbit, None, 8),
        Peer(FASTTEXT, fasttext, None, 8),
        Peer(POLARS, polars, same_counts, 5, 0.0),
    ]


def accuracies() -> list[tuple[str, float, float | None]]:
    """Return the accuracy of each read-out, and of scikit-learn's, on later newsgroups."""
    if not NEWSGROUPS.is_file():
        return []
    table = pd.read_csv(NEWSGROUPS, keep_default_na=False)
    train, test = table[table["split"] == "train"], table[table["split"] == "test"]
    vectorizer = CountVectorizer()
    known, new = vectorizer.fit_transform(train["text"]), vectorizer.transform(test["text"])
    peers = {
        "multinomial": MultinomialNB(),
        "bernoulli": BernoulliNB(),
        "complement": ComplementNB(),
    }
    found = []
    plain = priory.TextNB.textbook().fit(train["text"], train["target"])
    for readout, peer in peers.items():
        plain.change_settings(readout=readout)
        theirs = peer.fit(known, train["target"]).score(new, test["target"])
        found.append((f"{readout}, α = 1", plain.score(test["text"], test["target"]), theirs))
    for readout in (
        Words("multinomial", "log"),
        Words("complement", "log", idf=True),
    ):
        plain.change_settings(readout=readout, smoothing=0.1)
        title = f"{readout.title}, normalised log-tf{', idf' if readout.idf else ''}, α = 0.1"
        found.append((title, plain.score(test["text"], test["target"]), None))
    chosen = priory.TextNB().fit(train["text"], train["target"])
    found.append(("chosen by leave-one-out", chosen.score(test["text"], test["target"]), None))
    return found


def _megabytes(X: list[str]) -> float:
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in X) / 1e6
