"""A folder per class gives texts and their classes, whole or in batches."""

import os
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from priory.base.errors import InputError, PrioryWarning, SettingError
from priory.kernels.text import Splitter
from priory.sources import files, iter_folder, read_folder
from priory.text.messages import email_words

split_words = Splitter().split

MESSAGE = b"From: a@example.com\nSubject: x\nContent-Type: text/plain; charset=koi8-r\n\n"
HELLO = MESSAGE + "привет".encode("koi8-r")


def write(root, **contents):
    """Write files; in their names __ stands for a slash and _ for a dot."""
    for name, content in contents.items():
        path = root / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


@pytest.fixture
def two(tmp_path):
    return write(tmp_path, ham__1_txt="see you", spam__1_txt="free money")


def test_classes_are_the_first_folders(tmp_path):
    write(
        tmp_path,
        spam__b_txt="4",
        spam__a__2_txt="3",
        ham__10_txt="1",
        ham__9_txt="2",
        readme_txt="not read",
        ham___hidden="not read",
        ham___git__config="not read",
    )
    (tmp_path / ".hidden").mkdir()
    assert read_folder(tmp_path) == (["1", "2", "3", "4"], ["ham", "ham", "spam", "spam"])
    assert read_folder(str(tmp_path)) == read_folder(tmp_path)


def test_empty_files_and_binaries_are_told_and_skipped(two):
    write(two, ham__0_txt="", spam__program=b"MZ\0\0\x90", spam__wide_txt="wide".encode("utf-16"))
    expected = r"Skipped files that are empty or binary: 'ham/0.txt', 'spam/program'\."
    with pytest.warns(PrioryWarning, match=expected):
        assert read_folder(two)[0] == ["see you", "free money", "wide"]


@pytest.mark.skipif(os.name != "posix", reason="links need rights elsewhere")
def test_links_out_of_the_folder_are_told_and_skipped(two, tmp_path_factory):
    away = tmp_path_factory.mktemp("away")
    (away / "secret.txt").write_text("a secret")
    (two / "ham" / "2.txt").symlink_to(away / "secret.txt")
    (two / "stolen").symlink_to(away)
    (two / "spam" / "3.txt").symlink_to(two / "ham" / "1.txt")  # this one stays inside
    expected = r"Skipped links that lead out of the folder: 'ham/2.txt', 'stolen'\."
    with pytest.warns(PrioryWarning, match=expected):
        assert read_folder(two) == (["see you", "free money", "see you"], ["ham", "spam", "spam"])


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("naïve".encode(), "naïve"),
        ("naïve".encode("utf-8-sig"), "naïve"),
        ("naïve “so”".encode("cp1252"), "naïve “so”"),
        (b"\x81\xff", "\x81ÿ"),
        ("naïve".encode("utf-16"), "naïve"),
        ("naïve".encode("utf-32"), "naïve"),
        (b"Subject: \x93x\x94\n\n", "Subject: “x”\n\n"),
    ],
)
def test_texts_are_read_in_what_fits(two, data, text):
    write(two, ham__1_txt=data)
    assert read_folder(two)[0][0] == text


def test_a_given_encoding_must_fit(two):
    write(two, ham__1_txt="привет".encode("koi8-r"), ham__2_eml=HELLO)
    texts, _ = read_folder(two, encoding="koi8-r")
    assert texts[0] == "привет"
    assert "привет" in email_words(texts[1], Splitter().split)  # a message says its own
    with pytest.raises(InputError, match=r"1\.txt' cannot be read as 'utf-8': .*Without encoding="):
        read_folder(two, encoding="utf-8")


@pytest.mark.parametrize("encoding", ["no such", "hex", 5, ""])
def test_an_encoding_must_be_one(two, encoding):
    with pytest.raises(SettingError, match=r"encoding must be the name of a text encoding"):
        read_folder(two, encoding=encoding)


def test_html_gives_what_is_seen(two):
    page = "<html><head><meta charset='koi8-r'></head><p>при<b>вет</b><p>мир".encode("koi8-r")
    write(two, ham__1_html=page, ham__2_htm="<p>naïve<br>text", ham__3_html="<meta charset=hex>x")
    assert read_folder(two)[0][:4] == ["привет мир", "see you", "naïve text", "x"]


@pytest.mark.parametrize("name", ["1_eml", "1", "0001_ea7e79d3153e7469", "cur__1_M2P3_host:2,S"])
def test_messages_lose_nothing(two, name):
    write(two, **{f"ham__{name}": HELLO, "ham__1_txt": b"x"})
    text = next(t for t in read_folder(two)[0] if t != "x")
    assert text.encode("latin-1") == HELLO
    assert email_words(text, Splitter().split) == email_words(HELLO, Splitter().split)
    assert "привет" in email_words(text, Splitter().split)


@given(st.binary())
def test_any_message_gives_the_same_words_as_its_bytes(body):
    for charset in (b"utf-8", b"iso-8859-1", b"us-ascii"):
        data = b"Subject: x\nContent-Type: text/plain; charset=%s\n\n" % charset + body
        text = files.message_text(data)
        assert data in (text.encode("utf-8"), text.encode("latin-1", "replace"))
        if text.isascii() or text.encode("latin-1", "replace") == data:
            assert email_words(text, Splitter().split) == email_words(data, Splitter().split)


def test_a_file_without_a_suffix_may_be_text(two):
    write(two, ham__1="no “headers”".encode("cp1252"), ham__2="Note: this\n\nis none")
    assert read_folder(two)[0][:3] == ["no “headers”", "see you", "Note: this\n\nis none"]


def test_mbox_files_name_their_class(tmp_path):
    box = "From a\nTo: b\n\none\n\nFrom c\nTo: d\n\ntwo\n"
    write(tmp_path, ham_mbox=box, spam__1_txt="three", spam__old__x_mbox=box, spam_mbox=box)
    texts, labels = read_folder(tmp_path)
    assert labels == ["ham"] * 2 + ["spam"] * 5
    assert [text.split()[-1] for text in texts] == ["one", "two", "three", *["one", "two"] * 2]


def test_other_files_are_passed_over_with_a_warning(two):
    write(two, ham__cat_png=b"\x89PNG", ham__b_zip=b"PK", ham__c_txt_gz=b"\x1f\x8b")
    with pytest.warns(PrioryWarning, match=r"not text: 'ham/.*png'"):
        assert read_folder(two)[1] == ["ham", "spam"]


def test_pipes_and_circles_are_passed_over(two):
    os.mkfifo(two / "ham" / "pipe")
    (two / "ham" / "circle").symlink_to(two / "ham")
    assert read_folder(two)[1] == ["ham", "spam"]


@given(st.data())
def test_batches_are_the_whole(tmp_path_factory, data):
    root = tmp_path_factory.mktemp("texts")
    sizes = data.draw(st.lists(st.integers(1, 30), min_size=2, max_size=8))
    for i, size in enumerate(sizes):
        write(root, **{f"{'ab'[i % 2]}__{i}_txt": "x" * size})
    limit = data.draw(st.integers(1, 100))
    batches = list(iter_folder(root, batch_bytes=limit))
    for texts, labels in batches:
        assert len(texts) == len(labels) > 0
        assert sum(map(len, texts)) <= limit or len(texts) == 1
    texts, labels = zip(*batches, strict=True)
    assert (list(chain(*texts)), list(chain(*labels))) == read_folder(root)


def test_a_mailbox_is_cut_into_batches(two):
    write(two, ham_mbox="From a\nTo: b\n\nabc\n\n" * 10)
    batches = list(iter_folder(two, batch_bytes=40))
    assert max(len(texts) for texts, _ in batches) <= 5
    assert sum(len(texts) for texts, _ in batches) == 12


def test_the_layout_is_checked_before_the_first_batch(tmp_path):
    with pytest.raises(InputError, match=r"No such folder: .*none"):
        iter_folder(tmp_path / "none")
    with pytest.raises(SettingError, match=r"batch_bytes must be a finite number above 0, not 0"):
        iter_folder(tmp_path, batch_bytes=0)


def test_errors(tmp_path, monkeypatch):
    write(tmp_path, a_txt="x", in_mbox="From a\n\n")
    with pytest.raises(InputError, match=r"path must be a folder .* not the file .*a\.txt'\.$"):
        read_folder(tmp_path / "a.txt")
    with pytest.raises(InputError, match=r"in\.mbox'\. Use read_mbox for an mbox file"):
        read_folder(tmp_path / "in.mbox")
    (tmp_path / "in.mbox").unlink()
    with pytest.raises(InputError, match=r"must hold a folder, or .* It holds: 'a\.txt'"):
        read_folder(tmp_path)
    write(tmp_path, ham__1_txt="x")
    with pytest.warns(PrioryWarning, match=r"has only one class, 'ham'"):
        read_folder(tmp_path)
    write(tmp_path, spam__1_png="x")
    with pytest.raises(InputError, match=r"these have none: 'spam'.*Skipped files: 'spam/1\.png'"):
        read_folder(tmp_path)
    (tmp_path / "spam" / "1.png").rename(tmp_path / "spam.mbox")
    (tmp_path / "spam").rmdir()
    write(tmp_path, spam_mbox="\n")
    with pytest.raises(InputError, match=r"The class 'spam' has no text: .*spam\.mbox' is empty"):
        read_folder(tmp_path)
    write(tmp_path, spam_mbox="From a\n\n" + "x" * 50)
    monkeypatch.setattr(files, "LARGEST", 50)
    with pytest.raises(InputError, match=r"spam\.mbox' has a text of more than 50 bytes"):
        read_folder(tmp_path)
    write(tmp_path, ham__1_txt="x" * 51)
    with pytest.raises(InputError, match=r"1\.txt' has a text of more than 50 bytes"):
        read_folder(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_files_are_named(two):
    (two / "ham" / "1.txt").chmod(0)
    with pytest.raises(InputError, match=r"1\.txt' cannot be read: Permission denied"):
        read_folder(two)
    (two / "ham").chmod(0)
    try:
        with pytest.raises(InputError, match=r"ham' cannot be read: Permission denied"):
            read_folder(two)
    finally:
        (two / "ham").chmod(0o700)


def test_a_file_that_vanishes_is_named(two):
    batches = iter_folder(two)
    (two / "spam" / "1.txt").unlink()
    with pytest.raises(InputError, match=r"1\.txt' cannot be read: No such file"):
        list(batches)
