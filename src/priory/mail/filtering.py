"""The filter: learn messages, move them between ham and spam, and keep what follows."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from priory.base.errors import ForgetError, InputError, ModelFileError
from priory.base.typing import AnyArray, BoolArray, FloatArray
from priory.classifier.classifier import Classifier, load
from priory.data.columns import Frame, Labels, Texts
from priory.data.schema import Block, Kind, Schema
from priory.families.priors import Laplace
from priory.families.telling_words import GROUPS, TellingWords, chosen, tagged_words
from priory.kernels.words import count_matrix
from priory.mail.fitting import Bands, bands_of, check_rate, log_odds, trust_of
from priory.mail.judging import keep_index, state_of, write_index
from priory.mail.ledger import WIDTH, Ledger, digests_of
from priory.mail.places import COLUMN, HAM, SPAM
from priory.mail.wording import encoded_words
from priory.statistics.statistics import Statistics
from priory.text.analyzer import Analyzer
from priory.tuning.settings import Settings

__all__ = ["Learned", "MailFilter"]

NOTE = "mail"
ANALYZER = Analyzer("email")
SCHEMA = Schema((COLUMN,), (Block(COLUMN, (COLUMN,), Kind.WORDS, "messages", ANALYZER),))
CLASSES = (HAM, SPAM)

SMOOTHING = Laplace(0.01)
FOLDS = 10
FALSE_POSITIVES, MISSED = 0.001, 0.01


class Learned(NamedTuple):
    """What became of messages: new ones, ones that were known, ones that changed sides."""

    new: int
    known: int
    moved: int


class MailFilter:
    r"""Learn what is ham and what is spam, from messages as bytes, and judge others.

        P(spam | message) = σ(log π_spam / π_ham + Σ_g f_g Σ_w log P(w | spam) / P(w | ham))

    over the most telling words w of four groups g (`TellingWords`). The factors f, the prior and
    the bands are fitted to held-out evidence: that of each message from a model that has not
    learned it. A message is known by its words: learning it twice changes nothing, and learning it
    as the other class moves it, exactly.

    >>> spam = [b"Subject: win\n\nfree money", b"Subject: win\n\nfree cash money"]
    >>> ham = [b"Subject: lunch\n\nsee you at noon", b"Subject: notes\n\nsee you there"]
    >>> mail = MailFilter()
    >>> mail.learn(spam, ham)
    Learned(new=4, known=0, moved=0)
    >>> mail.learn(ham=spam[:1])
    Learned(new=0, known=0, moved=1)
    """

    def __init__(self, false_positives: float = FALSE_POSITIVES, missed: float = MISSED) -> None:
        self.change_rates(false_positives, missed)
        self.ledger = Ledger.empty()
        family = TellingWords()
        self.classifier = Classifier(
            Settings.textbook(
                families={COLUMN: family}, smoothing=SMOOTHING, text={COLUMN: ANALYZER}
            )
        )

    def change_rates(
        self, false_positives: float | None = None, missed: float | None = None
    ) -> None:
        """Change which share of ham may be called spam, and of spam ham."""
        if false_positives is not None:
            check_rate("false_positives", false_positives)
            self.false_positives = false_positives
        if missed is not None:
            check_rate("missed", missed)
            self.missed = missed

    # Learning

    def learn(self, spam: Iterable[bytes] = (), ham: Iterable[bytes] = ()) -> Learned:
        """Learn messages; those that were learned as the other class leave it first."""
        spam, ham = list(spam), list(ham)
        return self.learn_words(encoded_words(spam + ham), [True] * len(spam) + [False] * len(ham))

    def learn_words(self, words: Sequence[bytes], is_spam: Sequence[bool]) -> Learned:
        """Learn messages by their words, as `encoded_words` gives them."""
        if not words:
            raise InputError("There are no messages to learn.")
        digest, spam = digests_of(words), np.array(is_spam, dtype=np.bool_)
        last = {number: i for i, number in enumerate(digest.tolist())}
        some = np.array(sorted(last.values()))  # of the same message, the last
        digest, spam = digest[some], spam[some]
        texts = _texts([words[i] for i in some.tolist()])
        line = self.ledger.find(digest)
        was_spam = np.zeros(len(digest), dtype=np.bool_)
        was_spam[line >= 0] = self.ledger.is_spam[line[line >= 0]]
        moved = (line >= 0) & (was_spam != spam)
        fresh = (line < 0) | moved
        try:
            if moved.any():
                self.classifier.forget_statistics(_counted(texts.take(moved), was_spam[moved]))
        except ForgetError as error:
            raise ForgetError(
                f"A message to be moved is not as it was learned. {error} Learn all mail anew, "
                "into a new --model."
            ) from None
        if fresh.any():
            self.classifier.update_statistics(_counted(texts.take(fresh), spam[fresh]))
        self.classifier.declare(CLASSES)
        sums = held_out_sums(self.classifier.statistics, texts, spam, digest)
        self.ledger = self.ledger.replaced(Ledger(digest, spam, sums))
        self._trust()
        repeated = len(words) - len(some)
        return Learned(int((line < 0).sum()), int((~fresh).sum()) + repeated, int(moved.sum()))

    def _trust(self) -> None:
        """Let the family and the prior be as the ledger says."""
        trust = trust_of(self.ledger)
        names = ("text_first", "text_second", "tagged_first", "tagged_second")
        factors = dict(zip(names, trust.factors.tolist(), strict=True))
        p = 1.0 / (1.0 + np.exp(-trust.prior))
        prior = {HAM: float(1.0 - p), SPAM: float(p)}
        self.classifier.change_settings(
            families={COLUMN: TellingWords(**factors)}, class_prior=prior
        )

    @property
    def bands(self) -> Bands:
        """The log-odds up to which a message is ham, and from which it is spam."""
        return bands_of(self.scores, self.ledger.is_spam, self.false_positives, self.missed)

    @property
    def scores(self) -> FloatArray:
        """The held-out log-odds of spam of every message, as the ledger has them."""
        return log_odds(self.ledger, trust_of(self.ledger))

    # Judging

    @property
    def is_ready(self) -> bool:
        """Whether both classes were seen."""
        return bool(self.ledger.is_spam.any() and not self.ledger.is_spam.all())

    def check_ready(self) -> None:
        """Refuse to judge before both classes were seen."""
        for label, there in (
            (SPAM, self.ledger.is_spam.any()),
            (HAM, (~self.ledger.is_spam).any()),
        ):
            if not there:
                raise InputError(
                    f"The filter has learned no {label} yet: priory mail learn --{label} MAILBOX."
                )

    def index(self, state: Sequence[int]) -> bytes:
        """Make the index of the model file in a state, from which single messages are judged."""
        self.check_ready()
        model = self.classifier.model
        (term,) = model.terms
        parameters: Any = term.parameters
        family: Any = term.family
        telling = np.flatnonzero(parameters.evidence)
        words = parameters.vocabulary.take(telling.astype(np.int32)).words()
        log_prior = model.log_prior
        head = {
            "model": list(state),
            "prior": float(log_prior[1] - log_prior[0]),
            "most": family.most,
            "factors": family.factors.tolist(),
            "bands": list(self.bands),
        }
        return write_index(head, words, parameters.evidence[telling])

    def figures(self) -> dict[str, Any]:
        """Count what was learned, and how the held-out messages fall into the bands."""
        spam = self.ledger.is_spam
        counts: dict[str, Any] = {HAM: int((~spam).sum()), SPAM: int(spam.sum())}
        if not self.is_ready:
            return counts
        bands, scores = self.bands, self.scores
        called, unsure = scores >= bands.spam, (scores > bands.ham) & (scores < bands.spam)
        return {
            **counts,
            "caught": float(called[spam].mean()),
            "false_positives": int(called[~spam].sum()),
            "unsure": float(unsure.mean()),
        }

    # Keeping

    def write(self, path: str) -> None:
        """Save the filter, and the index beside it."""
        self.save(path)
        if self.is_ready:
            keep_index(path, self.index(state_of(path)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the filter to a model file, which holds no message, but all their words."""
        note = {
            "false_positives": self.false_positives,
            "missed": self.missed,
            "ledger": self.ledger.to_plain(),
        }
        kept = self.classifier.provenance
        self.classifier.provenance = replace(kept, notes={**kept.notes, NOTE: note})
        self.classifier.save(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> MailFilter:
        """Read a filter from its model file."""
        classifier = load(path)
        note: Any = classifier.provenance.notes.get(NOTE)
        if not isinstance(note, Mapping) or "ledger" not in note:
            raise ModelFileError(
                f"{os.fspath(path)} is no mail filter: priory mail learn did not write it, or it "
                "was merged since."
            )
        found = cls(note.get("false_positives", FALSE_POSITIVES), note.get("missed", MISSED))
        found.ledger, found.classifier = Ledger.from_plain(note["ledger"]), classifier
        return found


def held_out_sums(
    statistics: Statistics, texts: Texts, is_spam: BoolArray, digest: AnyArray
) -> AnyArray:
    """Sum what speaks for each message, from a model that has learned all but its fold.

    The messages must be among those counted. Folds go by the digests. The last column is the least
    sum for ham that words of the text could reach.
    """
    table: Any = statistics.tables[COLUMN]
    family = TellingWords()
    indptr, codes, _ = count_matrix(*texts.buffers, table.vocabulary, texts.splitter)
    having = np.zeros((table.n_words, 2))
    having[table.pairs.word, table.pairs.label] = table.weight
    is_tagged = tagged_words(table.vocabulary)
    row = np.repeat(np.arange(len(digest)), np.diff(indptr))
    fold = (digest % np.uint64(FOLDS)).astype(np.uint8)
    of_entry = fold[row]
    order = np.argsort(of_entry, kind="stable")
    ends = np.concatenate([[0], np.cumsum(np.bincount(of_entry, minlength=FOLDS))])
    sums = np.zeros((len(digest), WIDTH), dtype=np.float32)
    for f in range(FOLDS):
        mine = fold == f
        if not mine.any():
            continue
        entries = order[ends[f] : ends[f + 1]]
        some_codes, some_spam = codes[entries], is_spam[row[entries]]
        left, texts_left = having.copy(), table.documents_weight.copy()
        for k, of_class in enumerate((~is_spam, is_spam)):
            some = some_codes[some_spam == bool(k)]
            left[:, k] -= np.bincount(some, minlength=len(left))
            texts_left[k] -= np.count_nonzero(of_class & mine)
        told = family.of_counts(table.vocabulary, left, texts_left, SMOOTHING, is_tagged)
        place = np.cumsum(mine) - 1
        lengths = np.diff(indptr)[mine]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        found = chosen(starts, some_codes, told.evidence, told.group, family.most)
        cells = GROUPS * found.rows + told.group[found.codes]
        total = np.bincount(cells, told.evidence[found.codes], GROUPS * int(mine.sum()))
        sums[mine, :GROUPS] = total.reshape(-1, GROUPS)[place[mine]]
        text = told.evidence[~is_tagged]
        least = np.partition(text, family.most)[: family.most] if len(text) > family.most else text
        sums[mine, GROUPS] = np.minimum(least, 0.0).sum()
    return sums


def _texts(words: Sequence[bytes]) -> Texts:
    data = np.frombuffer(b"".join(words), dtype=np.uint8)
    offsets = np.concatenate([[0], np.cumsum([len(some) for some in words])]).astype(np.int64)
    return Texts(data, offsets, None, ANALYZER.splitter)


def _counted(texts: Texts, is_spam: BoolArray) -> Statistics:
    labels = Labels(is_spam.astype(np.int32), CLASSES)
    return Statistics.count(Frame(len(texts), {COLUMN: texts}), labels, SCHEMA)
