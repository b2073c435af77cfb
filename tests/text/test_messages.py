"""E-mails become words: decoded, tagged, and never an error."""

import csv
import gzip
import re
import subprocess
import sys
from email import policy
from email.message import EmailMessage
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from priory.base.errors import InputError
from priory.kernels.text import Splitter
from priory.text.disguise import undisguised
from priory.text.messages import email_words, html_text

DATA = Path(__file__).parents[3] / "shared" / "data" / "spamassassin.csv.gz"

SIZE = 100_000

Splitter = partial(Splitter, "sklearn")  # words of two letters and more, whatever the script


def letter(**headers):
    message = EmailMessage()
    message["From"] = "Ann Bee <ann@mail.example.com>"
    message["To"] = "cee@example.org"
    message["Subject"] = "Lunch"
    for name, value in headers.items():
        del message[name]
        message[name] = value
    return message


def words(message):
    """Return the words of a message, which are the same however it is handed over."""
    data = message if isinstance(message, bytes) else message.as_bytes()
    found = email_words(data, Splitter().split)
    assert email_words(data.decode("latin-1"), Splitter().split) == found
    assert email_words(data.decode("ascii", "surrogateescape"), Splitter().split) == found
    assert email_words(data.replace(b"\n", b"\r\n"), Splitter().split) == found
    assert email_words(b"From x@y Mon Jan  1 00:00:00 2001\n" + data, Splitter().split) == found
    return found


def untagged(message):
    return [word for word in words(message) if ":" not in word]


def tagged(tag, message):
    return [word.partition(":")[2] for word in words(message) if word.startswith(tag + ":")]


def test_a_plain_message():
    message = letter()
    message.set_content("See you at noon")
    assert words(message) == [
        "from:ann@mail.example.com",
        "from:mail.example.com",
        "from:example.com",
        "from:ann",
        "from:bee",
        "to:cee@example.org",
        "to:example.org",
        "subject:lunch",
        "content-transfer-encoding:7bit",
        "header:mime-version",
        "content-type:text/plain",
        "charset:utf-8",
        "see",
        "you",
        "at",
        "noon",
    ]


@pytest.mark.parametrize("cte", ["quoted-printable", "base64", "8bit"])
@pytest.mark.parametrize(
    ("text", "charset"),
    [
        ("grüße aus köln", "iso-8859-1"),
        ("привет мир", "koi8-r"),
        ("привет мир", "windows-1251"),
        ("こんにちは 世界", "utf-8"),
        ("こんにちは 世界", "shift-jis"),
        ("中文 邮件", "gb2312"),
        ("中文 郵件", "big5"),
    ],
)
def test_charsets_and_transfer_encodings(text, charset, cte):
    message = letter()
    message.set_content(text, charset=charset, cte=cte)
    assert untagged(message) == text.split()
    assert tagged("charset", message) == [message.get_content_charset()]


def test_seven_bit_charset():
    body = "日本".encode("iso-2022-jp")
    head = b"Subject: x\nContent-Type: text/plain; charset=ISO-2022-JP\n\n"
    assert untagged(head + body) == ["日本"]


@pytest.mark.parametrize("charset", ["us-ascii", "utf-8", "no-such-charset", "punycode", '"', ""])
def test_wrong_charsets_fall_back(charset):
    head = f"Subject: x\nContent-Type: text/plain; charset={charset}\n\n".encode()
    assert untagged(head + "naïve".encode("latin-1")) == ["naïve"]
    if charset != "utf-8":
        assert untagged(head + "naïve".encode()) == ["naïve"]


def test_a_message_that_was_decoded_before():
    """A str of characters beyond Latin-1 is text, whatever charset its headers declare."""
    head = "Subject: привет\nContent-Type: text/plain; charset={}\n\n"
    for charset in ("koi8-r", "utf-8", "us-ascii"):
        found = email_words(head.format(charset) + "мир “naïve”", Splitter().split)
        assert [w for w in found if ":" not in w] == ["мир", "naïve"]
        assert "subject:привет" in found
    quoted = "Subject: “x”\nContent-Transfer-Encoding: quoted-printable\n"
    quoted += "Content-Type: text/plain; charset=koi8-r\n\n=D0=D2=C9"
    assert "при" in email_words(quoted, Splitter().split)


def test_html_is_read_as_it_is_seen():
    message = letter()
    message.set_content(
        '<head><title>no</title></head><p>Fr<b>ee</b> <img alt="pills" src="http://a.example/p.gif">'
        '<a href="https://www.shop.example.co.uk:8080/buy/now?id=77">here</a> '
        '<a href="mailto:sales@example.com">us</a><img src="data:image/png;base64,AAAA">',
        subtype="html",
        cte="base64",
    )
    assert untagged(message) == ["free", "pills", "here", "us"]
    assert tagged("url", message) == [
        "a.example", "gif",
        "www.shop.example.co.uk", "example.co.uk", "co.uk", "buy", "now", "id", "77",
    ]  # fmt: skip
    assert tagged("mail", message) == ["sales@example.com", "example.com"]
    assert tagged("content-type", message) == ["text/html"]


def test_html_that_claims_to_be_plain():
    assert untagged(b"Subject: x\n\n<html><body>so <b>it</b> is") == ["so", "it", "is"]
    assert untagged(b"Subject: x\n\nwrite <b>bold</b>") == ["write", "bold"]


def test_of_alternatives_a_word_counts_once():
    """Which one is shown is up to the reader: both are read, and what both say counts once."""
    message = letter()
    message.set_content("plain words")
    message.add_alternative("<p>other words and words</p>", subtype="html")
    assert untagged(message) == ["plain", "words", "other", "and", "words"]
    message = letter()
    message.set_content(" \n", cte="base64")
    message.add_alternative("<p>other words</p>", subtype="html")
    assert untagged(message) == ["other", "words"]


def test_related_parts_inside_alternatives():
    message = letter()
    message.set_content("<p>seen</p>", subtype="html")
    message.add_related(b"GIF", "image", "gif", filename="Dot One.gif")
    message.make_mixed()
    message.add_attachment("not read", filename="notes.txt")
    message.add_attachment(b"MZ", "application", "octet-stream", filename="invoice.pdf.exe")
    assert untagged(message) == ["seen"]
    names = ["dot", "one.gif", "gif", "notes.txt", "txt", "invoice.pdf.exe", "exe"]
    assert tagged("attachment", message) == names
    kinds = ["text/html", "image/gif", "text/plain", "application/octet-stream"]
    assert tagged("content-type", message) == kinds


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a", ["a"]),
        ("a.b.", ["a.b", "b"]),
        ("my file.PDF", ["my", "file.pdf", "pdf"]),
        ("v1.0 notes", ["v1.0", "notes"]),
        ("Grüße.txt", ["grüße.txt", "txt"]),
        (" . ", []),
    ],
)
def test_names_of_attachments(name, expected):
    message = letter()
    message.add_attachment(b"", "application", "octet-stream", filename=name)
    assert tagged("attachment", message) == expected


def test_forwarded_messages_are_read():
    inner = letter(Subject="Inner")
    inner.set_content("inside")
    message = letter()
    message.set_content("outside")
    message.add_attachment(inner)
    assert untagged(message) == ["outside", "inside"]
    assert tagged("subject", message) == ["lunch"]


def test_delivery_reports_are_read():
    report = b"From: x@y\nContent-Type: multipart/report; boundary=b\n\n--b\n\nsorry\n--b\n"
    report += b"Content-Type: message/delivery-status\n\nStatus: 550\n\nAction: failed\n--b--\n"
    assert untagged(report) == ["sorry", "status", "550", "action", "failed"]


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("=?utf-8?q?caf=C3=A9_au?= lait", ["café", "au", "lait"]),
        ("=?UTF-8?B?Y2Fmw6k=?=\n =?UTF-8?B?IGF1?=", ["café", "au"]),
        ("=?utf-8?b?w?= =?utf-8?q?x?=", ["wx"]),
        ("=?utf-8?q?caf=C3?= =?utf-8?q?=A9?=", ["café"]),
        ("=?iso-8859-1?q?gr=FC=DF?= =?koi8-r?b?0NLJ?=", ["grüßпри"]),
        ("=?nonsense?q?caf=C3=A9?=", ["café"]),
        ("=?koi8-r*ru?b?0NLJ?= money", ["при", "money"]),
        ("=?utf-8?q?free money?=", ["free", "money"]),
        ("=?utf-8?x?free?= =?", ["utf", "free"]),
        ("folded\n\tover", ["folded", "over"]),
    ],
)
def test_encoded_headers(header, expected):
    data = f"From: a@example.com\nSubject: {header}\n\n".encode()
    assert tagged("subject", data) == expected


@pytest.mark.parametrize("charset", ["utf-8", "latin-1"])
def test_headers_of_raw_bytes(charset):
    data = "Subject: café\nFrom: René <r@example.com>\n\n".encode(charset)
    assert tagged("subject", data) == ["café"]
    assert tagged("from", data) == ["r@example.com", "example.com", "rené"]


def test_headers_that_speak():
    data = b"""Received: from secret by route
Date: Mon, 1 Jan 2001 00:00:00 +0000
X-Spam-Status: Yes
X-Spam-Flag: YES
X-Bogosity: Spam
Authentication-Results: fail
List-Id: <list.example.com>
Delivered-To: victim@example.net
Message-ID: <1@example.net>
From: "A, B" <ab@example.com>, c@Example.ORG.
Reply-To: other@example.com
Cc: many@example.com
X-Mailer: BulkMailer 9.0
User-Agent: Mutt
X-Priority: 1 (Highest)
In-Reply-To: <2@example.net>

Hi there"""
    assert words(data) == [
        "from:ab@example.com", "from:example.com", "from:c@example.org", "from:example.org",
        "reply-to:other@example.com", "reply-to:example.com", "cc:many@example.com",
        "cc:example.com", "x-mailer:bulkmailer", "x-mailer:mutt", "x-priority:1",
        "header:in-reply-to", "missing:to", "missing:subject", "content-type:text/plain",
        "hi", "there",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://10.1.2.3/x1", ["url:10.1.2.3", "url:x1"]),
        ("(see www.Example.com).", ["see", "url:www.example.com", "url:example.com"]),
        ("https://user:pw@example.com?q=one#two", ["url:example.com", "url:one", "url:two"]),
        ("ftp://files.example.com", ["url:files.example.com", "url:example.com"]),
        ("<HTTP://EXAMPLE.COM/>", ["url:example.com"]),
        ("write to Bob.Cee@example.com.", ["write", "to", "mail:bob.cee@example.com",
                                           "mail:example.com"]),
        ("a@b", ["mail:a@b", "mail:b"]),
        ("at @home http:// www. x@", ["at", "home", "http", "www"]),
    ],
)  # fmt: skip
def test_links_and_addresses_in_text(text, expected):
    data = b"Subject: x\n\n" + text.encode()
    assert [
        w for w in words(data) if not w.startswith(("subject", "missing", "content"))
    ] == expected


def test_a_text_that_is_no_message_is_read_whole():
    assert email_words("Note: buy milk\n\nand bread", Splitter().split) == Splitter().split(
        "Note: buy milk and bread"
    )
    assert email_words("", Splitter().split) == []


BROKEN = {
    "no boundary": b"Subject: x\nContent-Type: multipart/mixed\n\n--b\n\nfound\n--b--",
    "wrong boundary": b"Subject: x\nContent-Type: multipart/mixed; boundary=z\n\n--b\n\nfound\n",
    "never closed": b"Subject: x\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nfound",
    "encoded multipart": b"Subject: x\nContent-Type: multipart/mixed; boundary=b\n"
    b"Content-Transfer-Encoding: base64\n\n--b\n\nfound\n--b--",
    "no blank line": b"Subject: x\nfound here",
    "blank lines first": b"\n\r\n\nSubject: x\n\nfound",
    "byte order mark": b"\xef\xbb\xbfSubject: x\n\nfound",
    "bad base64": b"Subject: x\nContent-Transfer-Encoding: base64\n\nfound",
    "bad quoted-printable": b"Subject: x\nContent-Transfer-Encoding: quoted-printable\n\nfound =Z",
    "unknown encoding": b"Subject: x\nContent-Transfer-Encoding: \xff\n\nfound",
    "strange type": b"Subject: x\nContent-Type: multipart/\xff a@?\n\nfound",
    "strange priority": b"Subject: x\nX-Priority: \xff\n\nfound",
    "bad type": b'Subject: x\nContent-Type: ;;="\n\nfound',
    "bad addresses": b'Subject: x\nTo: "\nFrom: <<a@b,,>;:((\nCc: a@b,\n\nfound',
    "bad file name": b"Subject: x\nContent-Disposition: inline; filename*=z'z'%ff\n\nfound",
    "nul": b"Subject: x\0\n\n\0found\0",
    "too many boundaries": b"Subject: x\n"
    + b"".join(
        b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (i, i) for i in range(99)
    )
    + b"\nfound",
    "messages in messages": b"Subject: x\n"
    + b"Content-Type: message/rfc822\n\n" * 5000
    + b"\nfound",
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_messages_give_what_can_be_read(name):
    found = email_words(BROKEN[name], Splitter().split)
    assert "found" in found
    assert not any(re.search("[\ud800-\udfff]|\\s", word) for word in found)


PIECES = [
    b"From: ", b"To: ", b"Subject: ", b"Content-Type: ", b"multipart/mixed",
    b"multipart/alternative", b"text/html", b"text/plain", b"message/rfc822", b"; boundary=b",
    b"message/delivery-status", b"--b",
    b"--b--", b"\n", b"\n\n", b"\r\n", b" ", b"; charset=", b"utf-8", b"utf-7", b"idna", b"hex",
    b"Content-Transfer-Encoding: ", b"base64", b"quoted-printable", b"x-uuencode", b"begin 644 a\n",
    b"Content-Disposition: attachment", b"; filename*=", b"; filename*0*=utf-8''%ff",
    b'"', b"'", b"=?",
    b"?=", b"?q?", b"?b?", b"=C3", b"a@b", b"@", b"http://", b"www.", b"<", b">", b"&#", b"\xff",
    b"\xc3\xa9", b"\0", b"x",
]  # fmt: skip


@given(st.binary() | st.lists(st.sampled_from(PIECES), max_size=40).map(b"".join))
def test_any_bytes_give_words(data):
    found = email_words(data, Splitter().split)
    for word in found:
        assert isinstance(word, str) and word
        assert not re.search(r"\s", word)
        word.encode("utf-8")


@given(st.text() | st.text("\ud800\udc80é€\n:x", max_size=20))
def test_any_text_gives_words(text):
    for word in email_words("Subject: x\n\n" + text, Splitter().split):
        word.encode("utf-8")


@given(st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0", exclude_categories=["C"])))
def test_subjects_as_the_standard_library_writes_them(subject):
    """RFC 2047 as email.header encodes it, long subjects folded, is read back."""
    from email.header import Header

    head = Header(subject, "utf-8").encode()
    found = email_words(f"From: a@example.com\nSubject: {head}\n\n", Splitter().split)
    expected = Splitter().split(undisguised(subject)[0])
    assert [w[8:] for w in found if w.startswith("subject:")] == expected


@given(
    st.text(st.characters(codec="utf-8", exclude_characters="\r", exclude_categories=["C"])),
    st.sampled_from(["base64", "quoted-printable", "8bit"]),
)
def test_bodies_as_the_standard_library_writes_them(text, cte):
    message = EmailMessage(policy=policy.default)
    message["Subject"] = "x"
    message.set_content(text + "\n", cte=cte)
    if not re.search(r"@|://|www\.|^\s*<", text, re.IGNORECASE):
        found = email_words(message.as_bytes(), Splitter().split)
        assert [w for w in found if ":" not in w] == Splitter().split(undisguised(text)[0])


HOSTILE = [
    "a", "a@", "a.", "www.", "http://", "http://x ", "=?a?q?", "=?utf-8?q?x?= ", ";", '"', "(", "<",
    "a: b\n", "\n", "\r", "a@b.c,", " b\n", "=", "boundary=", "boundary ", "charset ",
    "--b\n", "--b\n\n",
    "--b\nContent-Type: message/rfc822\n\n", "+AA", "xn--a.",
]  # fmt: skip
HEADS = [
    "Subject: ",
    "To: ",
    "Subject: x\n\n",
    'Subject: x\nContent-Type: text/plain; a="',
    "Subject: x\nContent-Type: text/html\n\n",
    "Subject: x\nContent-Type: multipart/mixed; boundary=b\n\n",
    "Subject: x\nContent-Type: message/delivery-status\n\n",
    "Subject: x\nContent-Type: text/plain; charset=punycode\n\n",
    "Subject: x\nContent-Disposition: attachment; filename*0=",
]


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_messages_take_linear_time(head, piece):
    """It would not end within the hour if the rest were read again at every piece."""
    email_words(head + piece * (SIZE // len(piece)), Splitter().split)


def test_refuses_what_is_no_message():
    with pytest.raises(InputError, match=r"message must be a str or bytes, not int"):
        email_words(5, Splitter().split)


def test_html_text_is_there_too():
    assert html_text("<p>x") == "x"


def test_email_is_imported_when_first_used():
    code = "import sys, priory.text.messages; print('email' in sys.modules, 'html' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "False"]


@pytest.mark.skipif(
    not DATA.is_file(), reason="the file shared/data/spamassassin.csv.gz is not there"
)
def test_better_than_plain_splitting_on_real_mail():
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.metrics import accuracy_score, log_loss
    from sklearn.model_selection import cross_val_predict
    from sklearn.naive_bayes import MultinomialNB

    csv.field_size_limit(2**30)
    with gzip.open(DATA, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))[::6]
    y = np.array([row["target"] for row in rows])
    figures = []
    for analyzer in (Splitter().split, lambda text: email_words(text, Splitter().split)):
        X = CountVectorizer(analyzer=analyzer).fit_transform(row["text"] for row in rows)
        p = cross_val_predict(MultinomialNB(), X, y, cv=5, method="predict_proba")
        labels = np.unique(y)
        figures.append((accuracy_score(y, labels[p.argmax(axis=1)]), -log_loss(y, p)))
    plain, email = figures
    assert email[0] > plain[0] + 0.01
    assert email[1] > plain[1] / 2
