"""A message passes through byte for byte, but for one field."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.mail.letters import letters, mbox

from priory.base.errors import InputError
from priory.mail.mailboxes import is_single, read_mail, read_piped
from priory.mail.passing import with_field

PIECES = [b"Subject: x\n", b"X-Priory: ham\n", b"x-priory : old\n\tfolded\n", b"\n", b"\r\n", b"a",
          b"From a\n", b"To: b\r\n", b"X-Priory: spam\r\n", b"\xff", b" x\n"]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=12).map(b"".join))
def test_only_our_field_changes(message):
    once = with_field(message, "spam", 0.5)
    field = b"X-Priory: spam, probability=0.5000"
    assert once.count(field) >= 1
    assert with_field(once, "spam", 0.5) == once
    start = message.find(b"\n") + 1 if message.startswith(b"From ") else 0
    line = re.match(rb"[^\n]*\n", once[start:])[0]
    assert line.rstrip(b"\r\n") == field
    rest = once[:start] + once[start + len(line) :]
    if message[start : start + 1] == b" ":  # no header: an empty line keeps it from being ours
        assert rest[start : start + 1] == b"\n"
    elif b"priory" not in message.lower():
        assert rest == message


def test_the_body_is_never_touched():
    message = b"To: a\r\nX-Priory: ham,\r\n old\r\n\r\nX-Priory: in the body\r\n"
    assert with_field(message, "unsure", 0.25) == (
        b"X-Priory: unsure, probability=0.2500\r\nTo: a\r\n\r\nX-Priory: in the body\r\n"
    )


def test_mailboxes_of_every_kind(tmp_path):
    spam, _ = letters(3)
    texts = [message.strip() for message in spam]
    (tmp_path / "in.mbox").write_bytes(mbox(spam))
    box = tmp_path / "Maildir"
    for name, message in zip(("cur/1:2,S", "cur/2:2,", "new/3"), spam, strict=True):
        (box / name).parent.mkdir(parents=True, exist_ok=True)
        (box / name).write_bytes(message)
    (box / "tmp").mkdir()
    (box / "tmp" / "4").write_bytes(b"To: unfinished\n\n")
    folder = tmp_path / "folder"
    (folder / "deep").mkdir(parents=True)
    (folder / ".hidden").write_bytes(b"To: no\n\n")
    (folder / "1.eml").write_bytes(spam[0])
    (folder / "deep" / "2.mbox").write_bytes(mbox(spam[1:]))
    for place in (tmp_path / "in.mbox", box, folder):
        assert [data.strip() for _, data in read_mail(place)] == texts
        assert not is_single(place)
    assert is_single(folder / "1.eml")
    assert [data.strip() for data in read_piped(mbox(spam))] == texts
    assert read_piped(spam[0]) == [spam[0]]
    with pytest.raises(InputError, match="No such file or folder"):
        list(read_mail(tmp_path / "nowhere"))
