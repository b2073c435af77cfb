"""An mbox file gives its messages back, one at a time."""

import mailbox

import pytest
from hypothesis import given
from hypothesis import strategies as st

from priory.base.errors import InputError
from priory.sources import files, iter_mbox, mbox, read_mbox

LINES = st.sampled_from(
    ["", "From me", ">From me", ">>From me", "> From", "from", "x", "x\ry", "é", "From", "a" * 99]
)


def write(path, messages):
    box = mailbox.mbox(path)
    for message in messages:
        box.add(message)
    box.flush()
    box.close()


@given(st.lists(st.lists(LINES, max_size=6), min_size=1, max_size=4))
def test_reads_what_the_standard_library_writes(tmp_path_factory, bodies):
    path = tmp_path_factory.mktemp("mail") / "in.mbox"
    messages = ["Subject: x\n\n" + "".join(line + "\n" for line in body) for body in bodies]
    write(path, [message.encode() for message in messages])
    # It quotes "From " alone, so a line that began with ">From " comes back shorter by a ">".
    expected = [m.replace("\n>From ", "\nFrom ").replace("\n>>From ", "\n>From ") for m in messages]
    assert read_mbox(path) == expected


def test_oracle_reads_the_same(tmp_path):
    path = tmp_path / "in.mbox"
    write(path, [f"Subject: {i}\n\nHello {i}\n\n\nbye\n".encode() for i in range(5)])
    box = mailbox.mbox(path)
    assert read_mbox(path) == [box.get_bytes(key).decode() for key in box.keys()]  # noqa: SIM118
    box.close()


@pytest.mark.parametrize(
    ("data", "messages"),
    [
        (b"", []),
        (b"\n\n", []),
        (b"From a\n", [""]),
        (
            b"From a\r\nTo: b\r\n\r\nHi\r\n\r\nFrom c\r\nTo: d\r\n",
            ["To: b\r\n\r\nHi\r\n", "To: d\r\n"],
        ),
        (b"\nFrom a\nTo: b\n\nx\nFrom the start\n", ["To: b\n\nx\nFrom the start\n"]),
        (b"From a\nTo: b\n\nno newline at the end", ["To: b\n\nno newline at the end"]),
        (b"From a\n\n\xff\xe9\n\nFrom b\n\n\xc3\xa9\n", ["\nÿé\n", "\né\n"]),
    ],
)
def test_odd_files(tmp_path, data, messages):
    path = tmp_path / "in.mbox"
    path.write_bytes(data)
    assert read_mbox(str(path)) == messages


def test_a_line_longer_than_a_piece_is_one_line(tmp_path):
    path = tmp_path / "in.mbox"
    long = "a" * (2**20) + "From b"
    path.write_text(f"From a\n\n{long}\n\nFrom c\n\nx\n")
    assert read_mbox(path) == [f"\n{long}\n", "\nx\n"]


@pytest.mark.parametrize("size", range(1, 20))
def test_the_pieces_that_are_read_do_not_matter(tmp_path, monkeypatch, size):
    path = tmp_path / "in.mbox"
    path.write_bytes(b"\nFrom a\nTo: b\n\n\nFrom\n\n>From x\r\n\r\nFrom c\n\nx\nFrom d\n\nFrom e")
    whole = read_mbox(path)
    assert whole == ["To: b\n\n\nFrom\n\nFrom x\r\n", "\nx\nFrom d\n", ""]
    monkeypatch.setattr(mbox, "_PIECE", size)
    assert read_mbox(path) == whole


def test_one_message_at_a_time(tmp_path):
    path = tmp_path / "in.mbox"
    path.write_text("From a\n\nfirst\n\nFrom b\n\n" + "x" * 300)
    messages = iter_mbox(path)
    assert next(messages) == "\nfirst\n"


def test_errors(tmp_path, monkeypatch):
    with pytest.raises(InputError, match=r"No such file: .*none\.mbox"):
        iter_mbox(tmp_path / "none.mbox")
    with pytest.raises(InputError, match=r"cannot be read: Is a directory"):
        read_mbox(tmp_path)
    path = tmp_path / "in.mbox"
    path.write_text("Fro")
    with pytest.raises(InputError, match=r"in\.mbox' is not an mbox file: .* not with b'Fro'"):
        read_mbox(path)
    path.write_text("Subject: x\n\nFrom x\n\nFrom y")
    with pytest.raises(InputError, match=r"in\.mbox' is not an mbox file: .* with b'Subject: x"):
        read_mbox(path)
    monkeypatch.setattr(files, "LARGEST", 100)
    path.write_text("From a\n\n" + "x\n" * 99)
    with pytest.raises(InputError, match=r"in\.mbox' has a text of more than 100 bytes"):
        read_mbox(path)
