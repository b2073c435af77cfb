"""Mail as attackers write it: what is not shown is not read, and what is shown is."""

from email import policy
from email.message import EmailMessage
from email.parser import BytesParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from priory.kernels.text import Splitter
from priory.text.disguise import undisguised
from priory.text.markup import read_html
from priory.text.messages import email_words
from priory.text.mime import read_fields, read_parts


@pytest.mark.parametrize(
    ("text", "shown", "how"),
    [
        ("plain", "plain", []),
        ("V\u200bi\u200cag\u200dra\u2060 f\u00adree", "Viagra free", ["invisible"]),
        ("a\u034fb\ufeffc \U000e0041\U000e0042d", "abc d", ["invisible"]),
        ("\u0440\u0430ypal", "paypal", ["alphabets"]),
        ("Ρaypal Αpple", "Paypal Apple", ["alphabets"]),
        ("привет мир paypal", "привет мир paypal", []),
        ("привет-paypal", "привет-paypal", []),
        ("ｆｒｅｅ 𝐜𝐚𝐬𝐡 𝒘𝒊𝒏 ⓕⓡⓔⓔ", "free cash win free", ["styled"]),
        ("naïve café", "naïve café", []),
        ("می\u200cخواهم", "میخواهم", []),
        ("❤\ufe0f", "❤", []),
    ],
)
def test_letters_in_disguise(text, shown, how):
    assert undisguised(text) == (shown, how)


@given(st.text())
def test_undisguising_twice_is_undisguising_once(text):
    once, _ = undisguised(text)
    assert undisguised(once)[0] == once


@pytest.mark.parametrize(
    ("html", "text", "hidden"),
    [
        ('a<p style="display:none">b</p>c', "a c", ["display"]),
        ('a<p style="DISPLAY : None !important">b</p>c', "a c", ["display"]),
        ('a<div hidden>b<div>b</div>b</div>c', "a c", ["attribute"]),
        ('a<i style="visibility: hidden">b</i>c', "ac", ["visibility"]),
        ('a<i style="font-size:0">b</i>c', "ac", ["size"]),
        ('a<i style="font-size:0.5px; color:red">b</i>c', "ac", ["size"]),
        ('a<i style="font-size:10px">b</i>c', "abc", []),
        ('a<i style="opacity:0">b</i>c', "ac", ["opacity"]),
        ('a<div style="max-height:0;overflow:hidden">b</div>c', "a c", ["size"]),
        ('a<font color=white>b</font>c', "ac", ["colour"]),
        ('a<font color="#FEFEFE">b</font>c', "ac", ["colour"]),
        ('<body bgcolor=#000>a<font color=black>b<font size=1>b</font>b</font>c', "ac", ["colour"]),
        ('<td bgcolor=blue><font color=white>a</font></td>', "a", []),
        ('<td background="p.gif"><font color=white>a</font></td>', "a", []),
        ('<i style="color:#fff;background:#fff url(p.png)">a</i>', "a", []),
        ('<i style="color:rgb(1,2,3);background-color:#010203">a</i>b', "b", ["colour"]),
        ('<p hidden>a<p>b', "b", ["attribute"]),
        ('<span style="display:none"><b>a</b><img alt="b"></span>c', "c", ["display"]),
        ('<br style="display:none">a<input hidden>b', "a b", []),
        ('a<p style="display:none">never closed', "a", ["display"]),
        ('<div style="display:none"></div>a', "a", []),
    ],
)  # fmt: skip
def test_hidden_text_is_noted_not_read(html, text, hidden):
    page = read_html(html)
    assert (page.text, page.hidden) == (text, hidden)


def test_links_of_hidden_text_are_still_links():
    page = read_html('<p style="display:none"><a href="http://a.example">b</a></p>')
    assert page == ("", ["http://a.example"], ["display"])


def words(data: bytes) -> list[str]:
    return email_words(data, Splitter().split)


def test_disguises_are_words_too():
    head = "Subject: fr\u200bee\nContent-Type: text/html; charset=utf-8\n\n"
    found = words((head + '<p>\u0440aypal<i style="font-size:0">agenda</i></p>').encode())
    assert {"subject:free", "disguise:invisible", "disguise:alphabets", "hidden:size"} <= {*found}
    assert "paypal" in found and "agenda" not in found


def test_relays_and_the_path_back():
    found = words(
        b"Received: from unknown (HELO mx1.bulk.example) (203.0.113.9)\n by here\n"
        b"Received: from a.b.example.org (a.b.example.org [192.0.2.77]) by there; now\n"
        b"Return-Path: <bounce@lists.other.example>\nFrom: x@bank.example\n\n"
    )
    assert {"received:example.org", "received:192.0.2", "received:192.0"} <= {*found}
    assert "received:bulk.example" in found
    assert {"return-path:other.example", "return-path:differs"} <= {*found}
    same = words(b"Return-Path: <b@mail.bank.example>\nFrom: x@bank.example\n\n")
    assert "return-path:differs" not in same


def test_no_word_of_a_text_can_look_like_a_tag():
    found = words(b"Subject: xy\n\nfrom:boss subject:lunch header:in-reply-to a:b")
    assert [word for word in found if ":" in word] == [
        "subject:xy", "missing:from", "missing:to", "content-type:text/plain"
    ]  # fmt: skip


def test_only_so_many_relays_are_read():
    relay = b"Received: from a%d.example (x) by y\n"
    found = words(b"".join(relay % i for i in range(50)) + b"\nhi")
    assert sum(word.startswith("received:") for word in found) == 8


TEXTS = st.text("abc éß\n", min_size=1, max_size=30)


@st.composite
def messages(draw, depth=2):
    message = EmailMessage(policy=policy.SMTP)
    message["Subject"] = draw(st.text("ab é", max_size=60))
    cte = st.sampled_from(["base64", "quoted-printable", "8bit"])
    message.set_content(draw(TEXTS), cte=draw(cte))
    for _ in range(draw(st.integers(0, 3))):
        how = draw(st.sampled_from(["alternative", "file", "text", "message"]))
        if how == "alternative" and message.get_content_maintype() == "text":
            message.add_alternative(f"<p>{draw(TEXTS)}</p>", subtype="html", cte=draw(cte))
        elif how == "message" and depth:
            message.add_attachment(draw(messages(depth - 1)))
        elif how == "file":
            name = draw(st.text("ab é.", min_size=1, max_size=80))
            message.add_attachment(draw(st.binary()), "application", "zip", filename=name)
        else:
            message.add_attachment(draw(TEXTS), cte=draw(cte), disposition="inline")
    return message


@given(messages())
def test_parts_are_those_of_the_standard_library(message):
    data = message.as_bytes()
    whole = BytesParser(policy=policy.default).parsebytes(data)
    leaves = [part for part in whole.walk() if not part.is_multipart()]
    data = data.replace(b"\r\n", b"\n")
    fields, body = read_fields(data)
    found = read_parts(fields, body)
    assert [part.kind for part in found] == [part.get_content_type() for part in leaves]
    for mine, theirs in zip(found, leaves, strict=True):
        content = theirs.get_payload(decode=True)
        if mine.kind.startswith("text/"):
            content = content.replace(b"\r\n", b"\n")
            assert mine.charset == theirs.get_content_charset()
            assert mine.content().replace(b"\r\n", b"\n").rstrip(b"\n") == content.rstrip(b"\n")
        else:
            assert mine.content() == content
            assert mine.name.decode().strip() == (theirs.get_filename() or "").strip()
