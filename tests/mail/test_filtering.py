"""The filter: exact moves, honest bands, words that cannot be drowned."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.mail.letters import BOTH, HAM, letter, letters

from priory import load
from priory.base.errors import ForgetError, InputError, ModelFileError, SettingError
from priory.mail import Judge, MailFilter
from priory.mail.fitting import bands_of
from priory.mail.wording import encoded_words, words_of
from priory.text import Analyzer


@pytest.fixture(scope="module")
def taught():
    spam, ham = letters(150)
    mail = MailFilter()
    mail.learn(spam, ham)
    return mail


def same(a, b):
    """Tell whether all counts are equal; normalised log(1 + tf), which are rounded, nearly so."""
    ours, theirs = (mail.classifier.statistics for mail in (a, b))
    x, y = (some.tables["message"].in_order() for some in (ours, theirs))
    if ours.rows.tolist() != theirs.rows.tolist() or ours.classes != theirs.classes:
        return False
    if x.vocabulary.words() != y.vocabulary.words() or len(x.pairs.word) != len(y.pairs.word):
        return False
    assert np.allclose(x.pairs.log_tf, y.pairs.log_tf, rtol=1e-12)
    names = ("word", "label", "rows", "weight", "count")
    return all(np.array_equal(getattr(x.pairs, n), getattr(y.pairs, n)) for n in names)


def lines(mail):
    """Sort what the ledger says of each message, but for sums, which go by when it was learned."""
    return sorted(zip(mail.ledger.digest.tolist(), mail.ledger.is_spam.tolist(), strict=True))


def test_the_words_are_those_of_the_analyzer():
    (message,), _ = letters(1)
    assert words_of(message) == Analyzer("email").split(message.decode())


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 5), st.booleans())
def test_a_message_that_is_moved_was_never_there(seed, n_wrong, is_spam):
    spam, ham = letters(8, seed)
    wrong = [letter(random.Random(seed + i), is_spam) for i in range(n_wrong)]
    right, moved = MailFilter(), MailFilter()
    right.learn(spam + wrong if is_spam else spam, ham if is_spam else ham + wrong)
    moved.learn(spam if is_spam else spam + wrong, ham + wrong if is_spam else ham)
    found = moved.learn(wrong) if is_spam else moved.learn(ham=wrong)
    assert found == (0, 0, n_wrong)
    assert same(moved, right)
    assert lines(moved) == lines(right)


def test_learning_again_changes_nothing(taught, tmp_path):
    spam, ham = letters(150)
    taught.save(tmp_path / "a.priory")
    again = MailFilter.load(tmp_path / "a.priory")
    assert again.learn(spam, ham) == (0, 300, 0)
    assert same(again, taught)
    assert again.bands == pytest.approx(taught.bands)


def test_a_filter_is_the_same_however_its_mail_came(taught):
    spam, ham = letters(150)
    parts = MailFilter()
    parts.learn(ham=ham[:70])
    parts.learn(spam=spam)
    parts.learn(ham=ham[70:] + ham[:5])
    assert same(parts, taught)
    assert lines(parts) == lines(taught)
    assert parts.learn(spam, ham) == (0, 300, 0)  # judges all mail anew
    assert parts.bands == pytest.approx(taught.bands)
    assert sorted(parts.scores) == pytest.approx(sorted(taught.scores))


def test_the_index_says_what_the_model_says(taught, tmp_path):
    path = str(tmp_path / "mail.priory")
    taught.write(path)
    judge, model = Judge(path), load(path)
    rng = random.Random(7)
    for message in [letter(rng, i % 2 == 0) for i in range(20)] + [b"", b"Subject: x\n\ny"]:
        p = model.predict_proba({"message": [message.decode()]})[0, 1]
        assert judge.verdict(message).probability == pytest.approx(p, abs=1e-9)


def test_terms_add_up(taught):
    message = letter(random.Random(3), True).decode()
    classifier = taught.classifier
    (term,) = classifier.model.terms
    row = classifier.frame({"message": [message]})["message"]
    parts = term.family.parts(term.block, row, term.parameters).each
    p = classifier.predict_proba({"message": [message]})[0]
    total = classifier.model.log_prior + sum(part.log_p for part in parts)
    assert np.diff(total) == pytest.approx(np.log(p[1] / p[0]))
    assert len(parts) <= 4 * term.family.most
    assert "not among the most telling" in str(classifier.explain({"message": [message]}))


@pytest.mark.parametrize("words", [BOTH, HAM])
def test_padding_does_not_drown_spam(taught, words):
    rng = random.Random(5)
    plain = [letter(rng, True) for _ in range(40)]
    padded = [message + " ".join(rng.sample(words, 150)).encode() for message in plain]
    p = taught.classifier.predict_proba({"message": [message.decode() for message in padded]})
    assert (p[:, 1] > 0.5).mean() >= 0.9


def test_held_out_bands_keep_the_rate_on_new_mail(taught):
    rng = random.Random(99)
    new = [letter(rng, False).decode() for _ in range(300)]
    p = taught.classifier.predict_proba({"message": new})[:, 1]
    assert (np.log(p / (1 - p)) >= taught.bands.spam).mean() <= 0.01
    wide = MailFilter(false_positives=0.2)
    wide.learn(*letters(150))
    assert wide.bands.spam <= taught.bands.spam


@given(
    st.lists(st.tuples(st.floats(-50, 50), st.booleans()), min_size=1),
    st.floats(0.001, 0.5),
    st.floats(0.001, 0.5),
)
def test_bands_hold_their_shares(rows, false_positives, missed):
    scores, spam = (
        np.array([score for score, _ in rows]),
        np.array([is_spam for _, is_spam in rows]),
    )
    ham_to, spam_from = bands_of(scores, spam, false_positives, missed)
    assert ham_to <= spam_from and spam_from >= 0
    assert (scores[~spam] >= spam_from).sum() <= false_positives * (~spam).sum()
    assert (scores[spam] <= ham_to).sum() <= missed * spam.sum()


def test_what_cannot_be():
    with pytest.raises(SettingError, match="false_positives must be a number between 0 and 1"):
        MailFilter(false_positives=1.5)
    with pytest.raises(InputError, match="no messages to learn"):
        MailFilter().learn()
    mail = MailFilter()
    mail.learn(spam=[b"Subject: a\n\nb"])
    with pytest.raises(InputError, match="learned no ham yet: priory mail learn --ham"):
        mail.index([0])


def test_a_model_of_something_else_is_no_filter(tmp_path):
    from priory import Classifier

    Classifier().update({"x": ["a", "b"]}, ["ham", "spam"]).save(tmp_path / "other.priory")
    with pytest.raises(ModelFileError, match="is no mail filter"):
        MailFilter.load(tmp_path / "other.priory")


def test_a_message_that_is_not_as_it_was_learned_is_not_moved(taught, tmp_path):
    taught.save(tmp_path / "a.priory")
    mail = MailFilter.load(tmp_path / "a.priory")
    words = encoded_words(letters(150)[0][:1])
    mail.classifier.forget_statistics(
        filter_of(letters(150)[0][:1]).classifier.statistics
    )  # by the general commands, behind the back of the ledger
    with pytest.raises(ForgetError, match="not as it was learned"):
        mail.learn_words(words, [False])


def filter_of(spam):
    mail = MailFilter()
    mail.learn(spam)
    return mail


def test_words_are_those_of_the_analyzer():
    for message in [*letters(20)[0], "Subject: né\n\n日本 ﬁ ΟΔΟΣ b".encode()]:
        assert words_of(message) == Analyzer("email").split(message.decode("latin-1"))
    assert words_of(b"") == words_of(b"\n\n") == []
