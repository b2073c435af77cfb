"""A classifier for lists of texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any, Self

from priory.base.errors import InputError, SettingError, listing
from priory.base.typing import AnyArray, FloatArray
from priory.classifier.classifier import Classifier
from priory.estimators.naive_bayes import NaiveBayes
from priory.families.words import Words
from priory.model.information import word_importances
from priory.text.analyzer import Analyzer
from priory.tuning.settings import Settings

__all__ = ["TextNB"]

COLUMN = "text"
OPTIONS = {field.name: field.default for field in fields(Analyzer) if field.name != "unit"}
"""The parameters that are an analyzer's, and their defaults."""


class TextNB(NaiveBayes):
    """Naive Bayes for texts: raw strings in, counted in one pass.

        P(k | text) ∝ P(k) Π_w P(w | k)^tf_w

    Parameters
    ----------
    readout : "auto", "multinomial", "bernoulli", "complement" or a `Words`
        The likelihood of the word counts; "auto" is chosen by leave-one-out. `Words` has further
        options: normalised log-tf, idf, a minimum document frequency.
    smoothing : "auto", a number or a prior
        Additive (Laplace) smoothing α; 0 is allowed, and "auto" is chosen by leave-one-out.
    weights : "auto", "temperature" or None
        Whether to calibrate probabilities by a temperature and a bias for each class: repeated and
        related words make naive Bayes overconfident.
    analyzer : "auto", "word", "sklearn", "char", "char_wb", "html", "email", a function, `Analyzer`
        How texts are split into words; an `Analyzer` includes the options `ngram_range`,
        `stop_words`, `lowercase`, `max_features`, `strip_accents`, `normalize`, `token_pattern`
        and `symbols`. "auto" chooses words, words and their pairs, or n-grams of characters on the
        first texts that are learned, where weights are "auto" and none of the options is given;
        else it is "word".
    ngram_range : tuple of two integers
        The shortest and the longest n-grams of words, or of characters.
    stop_words : None, "english" or a list of words
        Words to ignore.
    lowercase : bool
        Whether to convert texts to lower case first.
    max_features : None or int
        The size of the vocabulary: only about so many words, the most frequent, are kept, in
        bounded memory.
    class_prior : None, "uniform", "words", or a probability for each class
        None takes the fraction of the texts in each class, "words" the fraction of the words.
    missing : "skip", "category" or "error"
        Whether a missing text is ignored, is a category of its own, or is an error.
    n_threads : None or int
        The number of threads; None takes PRIORY_NUM_THREADS, or the available cores.
    sample_size : int
        The largest number of texts used to choose what is "auto".
    strip_accents : None, "unicode" or "ascii"
        Whether to remove accents first, of any letters or with whatever is not ASCII.
    normalize : None or "nfkc"
        Whether to convert to Unicode's form NFKC first, and to fold the case.
    token_pattern : None or str
        A regular expression whose matches are the words.
    symbols : bool
        Whether symbols and punctuation are words too, such as `$$$` and `!`.

    Examples
    --------
    >>> texts = ["win cash now", "cash prize inside", "lunch at noon", "see you at lunch"]
    >>> model = TextNB().fit(texts, ["spam", "spam", "ham", "ham"])
    >>> model.predict(["free cash", "lunch today"]).tolist()
    ['spam', 'ham']
    >>> print(model.top_features(1))
    ham    count  log-odds
    lunch  2      1.48
    <BLANKLINE>
    spam  count  log-odds
    cash  2      1.62
    """

    def __init__(
        self,
        readout: Any = "auto",
        smoothing: Any = "auto",
        weights: Any = "auto",
        analyzer: Any = "auto",
        ngram_range: tuple[int, int] = (1, 1),
        stop_words: Any = None,
        lowercase: bool = True,
        max_features: int | None = None,
        class_prior: Any = None,
        missing: Any = "skip",
        n_threads: int | None = None,
        sample_size: int = 50_000,
        strip_accents: str | None = None,
        normalize: str | None = None,
        token_pattern: str | None = None,
        symbols: bool = False,
    ) -> None:
        self.readout = readout
        self.smoothing = smoothing
        self.weights = weights
        self.analyzer = analyzer
        self.ngram_range = ngram_range
        self.stop_words = stop_words
        self.lowercase = lowercase
        self.max_features = max_features
        self.class_prior = class_prior
        self.missing = missing
        self.n_threads = n_threads
        self.sample_size = sample_size
        self.strip_accents = strip_accents
        self.normalize = normalize
        self.token_pattern = token_pattern
        self.symbols = symbols

    @classmethod
    def textbook(  # type: ignore[override]
        cls, smoothing: Any = 1.0, readout: Any = "multinomial", **changes: Any
    ) -> Self:
        """Make the textbook classifier: a bag of words with fixed smoothing, nothing tuned.

            P(w | k) = (count_wk + α) / (words_k + α|V|)

        `changes` are further parameters. With `readout` "bernoulli" the features are whether each
        word of the vocabulary occurs. Words are scikit-learn's, so that its results are the same.

        >>> model = TextNB.textbook(class_prior="words")
        >>> model = model.fit(["fine day", "fine", "bad day"], [1, 1, 0])
        >>> model.predict_proba(["bad"]).round(4).tolist()  # 2/5 · 2/5 and 3/5 · 1/6, normalised
        [[0.6154, 0.3846]]
        """
        return cls(readout, smoothing, **{"weights": None, "analyzer": "sklearn", **changes})

    @classmethod
    def from_classifier(cls, classifier: Classifier) -> Self:
        """Make a fitted estimator of a classifier that has learned one column of texts, `text`.

        >>> from priory import Classifier, Settings
        >>> texts = {"text": ["win cash now", "lunch at noon"]}
        >>> classifier = Classifier(Settings(text=["text"])).update(texts, ["spam", "ham"])
        >>> TextNB.from_classifier(classifier).predict(["cash"]).tolist()
        ['spam']
        """
        if not isinstance(classifier, Classifier):
            raise SettingError(
                f"classifier must be a Classifier, not a {type(classifier).__name__}; that of an "
                "estimator is its classifier_."
            )
        schema, settings = classifier.statistics.schema, classifier.settings
        block = schema[COLUMN] if tuple(schema.columns) == (COLUMN,) else None
        if block is None or block.analyzer is None:
            raise SettingError(
                f"TextNB reads one column of texts, {COLUMN!r}, and the classifier has "
                f"{listing(schema.columns)}. Use NaiveBayes.from_classifier."
            )
        family = _of_column(settings.families)
        result = cls(
            "multinomial" if family == "plain" else family,
            _of_column(settings.smoothing),
            settings.weights,
            block.analyzer,
            class_prior=settings.class_prior,
            missing=_of_column(settings.missing),
            n_threads=settings.n_threads,
            sample_size=settings.sample_size,
        )
        result.adopt(classifier, None, "arrow")
        return result

    @property
    def words_(self) -> AnyArray:
        """The vocabulary."""
        words: AnyArray = self._fitted().model.terms[0].parameters.words
        return words

    @property
    def feature_importances_(self) -> FloatArray:
        """The importance of each of `words_`, normalised to sum to 1.

            importance ∝ P(w) Σ_k P(k | w) log2( P(k | w) / P(k) )

        the contribution of the word to the mutual information I(W; Y) of a token and the class,
        less its expectation by chance.

        >>> texts = ["free cash now", "cash now", "lunch now"] * 9
        >>> model = TextNB.textbook().fit(texts, [1, 1, 0] * 9)
        >>> model.words_[model.feature_importances_.argmax()]
        'lunch'
        """
        model, statistics = self.model_, self.statistics_
        bits = word_importances(statistics.tables[COLUMN])
        kept = model.terms[0].parameters.weights.kept
        bits = bits[: len(kept)][kept]
        total = bits.sum()
        return bits / total if total else bits

    @property
    def settings(self) -> Settings:
        """The parameters as settings of a classifier that reads one column of texts."""
        return super().settings.changed(
            families={COLUMN: self._readout()},
            smoothing={COLUMN: self.smoothing},
            text={COLUMN: self._analyzer()},
        )

    def _readout(self) -> Words | str:
        if isinstance(self.readout, Words):
            return self.readout
        if isinstance(self.readout, str) and self.readout == "auto":
            return "auto"
        return Words(self.readout)

    def _analyzer(self) -> Analyzer | str:
        options = {name: getattr(self, name) for name in OPTIONS}
        if isinstance(self.analyzer, str) and self.analyzer == "auto":
            return "auto" if options == OPTIONS else Analyzer("word", **options)
        if not isinstance(self.analyzer, Analyzer):
            return Analyzer(self.analyzer, **options)
        if options != OPTIONS:
            raise SettingError(
                f"analyzer is {self.analyzer}, which has its own options: give "
                f"{', '.join(OPTIONS)} there."
            )
        return self.analyzer

    def _rows(self, X: Any) -> Any:
        """Make a table of one column."""
        if isinstance(X, str | bytes):
            raise InputError(
                f"X must be a list of texts, not a single text: {X!r:.50}. Give [text]."
            )
        shape: tuple[int, ...] = getattr(X, "shape", ())
        if len(shape) == 2:
            if shape[1] != 1:
                raise InputError(
                    f"X must be one column of texts, but has {shape[1]}. For a table with text and "
                    "other columns use NaiveBayes."
                )
            X = X.iloc[:, 0] if hasattr(X, "iloc") else X[:, 0]
        if isinstance(X, Iterator):
            X = list(X)
        return {COLUMN: X}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        tags.input_tags.string = True
        tags.input_tags.sparse = False
        tags.input_tags.categorical = False
        tags.no_validation = True
        return tags


def _of_column(setting: Any) -> Any:
    return setting.get(COLUMN, "auto") if isinstance(setting, Mapping) else setting
