"""Bytes that claim a charset are read as text all the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from priory.text.charsets import decode

NAMES = [
    "utf-8", "koi8-r", "big5", "iso-2022-jp", "utf-7", "utf-16", "hex", "rot13", "punycode", "IDNA",
    "unicode-escape", "undefined", "x-unknown", "a\0b", "é", "",
]  # fmt: skip


@pytest.mark.parametrize(
    ("data", "charset", "text"),
    [
        ("Привет".encode("koi8-r"), "KOI8-R", "Привет"),
        ("日本".encode("iso-2022-jp"), "iso-2022-jp", "日本"),
        ("naïve".encode(), "us-ascii", "naïve"),
        ("naïve".encode("latin-1"), "us-ascii", "naïve"),
        ("naïve “quoted”".encode("cp1252"), "utf-8", "naïve “quoted”"),
        (b"\x81\xff", None, "\x81ÿ"),
        (b"\\x41-", "unicode_escape", "\\x41-"),
        (b"+2AA-", "utf-7", "\ufffd"),
    ],
)
def test_the_first_charset_that_fits(data, charset, text):
    assert decode(data, charset) == text


@given(st.binary(max_size=50), st.sampled_from(NAMES) | st.text(max_size=8))
def test_never_fails_and_can_be_written(data, charset):
    decode(data, charset).encode("utf-8")
