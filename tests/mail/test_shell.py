"""The commands of the mail filter, as a shell runs them, and the server at a real socket."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.mail.letters import letter, letters, mbox

from priory import load
from priory.mail import MailFilter
from priory.mail.client import ask

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Unix sockets and forks are of POSIX")

PRIORY = [sys.executable, "-m", "priory", "mail"]


def run(*arguments, stdin=b"", code=None, **environment):
    done = subprocess.run(
        [*PRIORY, *map(str, arguments)],
        input=stdin,
        capture_output=True,
        timeout=120,
        env={**os.environ, **environment},
    )
    if code is not None:
        assert done.returncode == code, done.stderr
    return done


@pytest.fixture(scope="module")
def box(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("box")
    spam, ham = letters(250)
    (folder / "junk.mbox").write_bytes(mbox(spam))
    for i, message in enumerate(ham):
        place = folder / "inbox" / ("cur" if i % 2 else "new") / str(i)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(message)
    done = run(
        *("learn", "--spam", folder / "junk.mbox", "--ham", folder / "inbox", "--json"),
        XDG_DATA_HOME=str(folder),
        code=0,
    )
    told = json.loads(done.stdout)
    assert told["model"] == str(folder / "priory" / "mail.priory")
    assert (told["ham"], told["spam"], told["learned"]) == (250, 250, 500)
    assert told["caught"] > 0.8 and told["false_positives"] == 0
    return folder


@pytest.fixture
def model(box) -> Path:
    return box / "priory" / "mail.priory"


def new(seed, spam):
    return letter(random.Random(seed), spam)


def test_the_exit_code_is_the_answer(box, model, tmp_path):
    done = run("classify", "--model", model, stdin=new(1, True), code=0)
    assert done.stdout.startswith(b"spam 0.9")
    assert run("classify", "--model", model, stdin=new(1, False), code=1).stdout[:4] == b"ham "
    careful = tmp_path / "careful.priory"
    given = ["--spam", box / "junk.mbox", "--ham", box / "inbox", "--false-positives", "1e-15"]
    run("learn", *given, "--model", careful, code=0)
    weak = new(1, True).partition(b"\n\n")[0] + b"\n\n"
    unsure = run("classify", "--model", careful, "--json", stdin=weak, code=2)
    assert json.loads(unsure.stdout)["label"] == "unsure"


def test_a_failure_is_no_answer(model, tmp_path):
    for arguments, said in [
        (["--model", tmp_path / "none"], "Learn first: priory mail learn --spam"),
        (["--model", model, "--header", "--json"], "--header passes one message through"),
        (["--model", model, tmp_path / "none.eml"], "No such file or folder"),
        (["--modle", model], "Unrecognized arguments: --modle"),
        (["--socket", tmp_path / "no.sock"], "No server answers at --socket"),
    ]:
        done = run("classify", *arguments, stdin=b"To: a\n\n", code=3)
        assert said in done.stderr.decode(), done.stderr
    wrong = ["--false-positives", "2", "--model", tmp_path / "m"]
    done = run("learn", "--spam", "-", *wrong, stdin=b"To: a\n\n", code=2)
    assert b"--false-positives must be" in done.stderr
    assert b"learn needs messages: --spam" in run("learn", code=2).stderr
    assert b"Argument COMMAND: invalid choice: 'clasify'" in run("clasify", code=2).stderr


def test_a_message_passes_through(model):
    assert run("classify", "--model", model, "--header", stdin=new(1, False), code=0).stdout
    message = b"X-Priory: ham, probability=0.1\n" + new(2, True).replace(b"\n", b"\r\n")
    message = message.replace(b"0.1\n", b"0.1\r\n")
    done = run("classify", "--model", model, "--header", stdin=message, code=0)
    first, _, rest = done.stdout.partition(b"\r\n")
    assert first.startswith(b"X-Priory: spam, probability=0.9")
    assert rest == message.partition(b"\r\n")[2]


def test_many_messages_give_a_line_each(model, box, tmp_path):
    (tmp_path / "new.mbox").write_bytes(mbox([new(3, True), new(4, False)]))
    lines = run("classify", "--model", model, tmp_path / "new.mbox", code=0).stdout.decode()
    assert [line.split()[0] for line in lines.splitlines()] == ["spam", "ham"]
    done = run("classify", "--model", model, "--json", tmp_path / "new.mbox", code=0)
    assert [json.loads(line)["label"] for line in done.stdout.splitlines()] == ["spam", "ham"]


def test_a_file_with_one_message_is_judged_by_the_exit_code_however_it_begins(model, tmp_path):
    ham, raw = tmp_path / "ham", mbox([new(4, False)])
    ham.write_bytes(raw)
    assert run("classify", "--model", model, ham, code=1).stdout.startswith(b"ham 0.")
    passed = run("classify", "--model", model, "--header", ham, code=0).stdout
    assert passed.replace(passed.splitlines(keepends=True)[1], b"", 1) == raw
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(["sh", "-c", f"cat {ham} > {tmp_path / 'pipe'}"]):
        run("classify", "--model", model, tmp_path / "pipe", code=1)


def test_a_mailbox_is_of_one_class(tmp_path):
    (tmp_path / "m.mbox").write_bytes(mbox([new(3, True)]))
    other = tmp_path / "." / "x" / ".." / "m.mbox"
    (tmp_path / "x").mkdir()
    for spam, ham in [(tmp_path / "m.mbox", other), ("-", "-")]:
        given = ["--spam", spam, "--ham", ham, "--model", tmp_path / "none"]
        done = run("learn", *given, stdin=b"To: a\n\nb", code=2)
        assert b"--spam and --ham must be different mailboxes, and both have" in done.stderr
    assert not (tmp_path / "none").exists()


def same(one, other):
    from tests.mail.test_filtering import same

    return same(MailFilter.load(one), MailFilter.load(other))


def test_relearning_is_exact(box, tmp_path):
    wrong, one, other = new(5, True), tmp_path / "one.priory", tmp_path / "other.priory"
    spam = ["--spam", box / "junk.mbox"]
    (tmp_path / "wrong.eml").write_bytes(wrong)
    run("learn", *spam, "--ham", box / "inbox", tmp_path / "wrong.eml", "--model", one, code=0)
    run("learn", *spam, tmp_path / "wrong.eml", "--ham", box / "inbox", "--model", other, code=0)
    assert not same(one, other)
    done = run("relearn", "--as", "spam", "--model", one, stdin=wrong, code=0)
    assert b"0 messages learned, 0 known, 1 moved" in done.stderr
    assert same(one, other)


def test_two_who_learn_at_once_both_are_kept(tmp_path):
    spam, ham = letters(30)
    model = tmp_path / "new" / "folder" / "m.priory"
    both = [
        subprocess.Popen(
            [*PRIORY, "learn", option, "-", "--model", str(model)],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for option in ("--spam", "--ham")
    ]
    for process, messages in zip(both, (spam, ham), strict=True):
        process.stdin.write(mbox(messages))
        process.stdin.close()
    for process in both:
        assert process.wait(120) == 0, process.stderr.read()
        process.stderr.close()
    assert load(model).statistics.rows.tolist() == [30, 30]


LOADED = """
import sys
from priory.cli import main
main(sys.argv[1:])
print(*sys.modules, file=sys.stderr)
"""


def loaded(*arguments, text=""):
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *map(str, arguments)],
        input=new(1, True) + text.encode(), capture_output=True, timeout=60,
    )  # fmt: skip
    return set(done.stderr.decode().split())


def test_one_call_loads_little(model, tmp_path):
    """An answer takes a tenth of a second: what a message does not need is not loaded."""
    for text in ("", "né 日本"):
        assert not loaded("mail", "classify", "--model", model, text=text) & {
            "pyarrow", "scipy", "pandas", "typer", "click", "rich", "duckdb", "sklearn", "email",
            "numpy", "priory.classifier.classifier", "priory.statistics",
        }  # fmt: skip
    assert not loaded("mail", "classify", "--socket", tmp_path / "no.sock") & {
        "numpy", "priory.text.messages", "priory.mail.judging",
    }  # fmt: skip


def test_a_server_answers_and_follows_its_model(box, tmp_path):
    model, path = tmp_path / "m.priory", str(tmp_path / "s")
    run("learn", "--spam", box / "junk.mbox", "--ham", box / "inbox", "--model", model, code=0)
    command = [*PRIORY, "serve", "--model", str(model), "--socket", path]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as server:
        try:
            assert b"serving" in server.stderr.readline()
            assert os.stat(path).st_mode & 0o077 == 0
            label, p = ask(path, new(1, True))
            assert label == "spam" and p > 0.9
            times = []
            for i in range(40):
                began = time.perf_counter()
                assert ask(path, new(i, False))[0] != "spam"
                times.append(time.perf_counter() - began)
            assert sorted(times)[20] < 0.05  # 5 ms on a machine that does nothing else
            done = run("classify", "--socket", path, stdin=new(1, True), code=0)
            assert done.stdout.startswith(b"spam")
            assert (
                b"another server answers"
                in run("serve", "--model", model, "--socket", path, code=2).stderr
            )
            strange = new(77, True)
            before = ask(path, strange)[1]
            run("relearn", "--as", "ham", "--model", model, stdin=strange, code=0)
            assert ask(path, strange)[1] < before
            check_protocol(path)
        finally:
            server.send_signal(signal.SIGTERM)
        assert server.wait(20) == 0
    assert not os.path.exists(path)


def check_protocol(path):
    import socket

    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(10)
        line.connect(path)
        file = line.makefile("rb")
        line.sendall(b"PING\nCLASSIFY 7\nTo: a\n\nCLASSIFY 0\nPING\n")
        assert file.readline().startswith(b"PONG 4")
        assert len(file.readline().split()) == len(file.readline().split()) == 2
        assert file.readline().startswith(b"PONG 4")
        line.sendall(b"HELLO\n")
        assert file.readline().startswith(b"ERROR a request is CLASSIFY")
        assert file.readline() == b""


def test_a_mailbox_has_the_same_messages_through_a_pipe(tmp_path):
    """A line of a body may begin with "From ", as long as it has no year."""
    box = (
        b"From a@b Mon Jan  1 00:00:00 2024\nSubject: one\n\nDear all,\n\nFrom Monday on the "
        b"office is closed.\n\nFrom c@d Tue Jan  2 00:00:00 2024\nSubject: two\n\nx\n"
    )
    (tmp_path / "in.mbox").write_bytes(box)
    for name, given, stdin in (("a", tmp_path / "in.mbox", b""), ("b", "-", box)):
        done = run("learn", "--spam", given, "--model", tmp_path / name, stdin=stdin, code=0)
        assert b"2 messages learned" in done.stderr
    assert load(tmp_path / "a").statistics == load(tmp_path / "b").statistics


def test_who_may_not_read_the_filter_may_not_read_its_words(model, tmp_path):
    mine = tmp_path / "mine.priory"
    mine.write_bytes(model.read_bytes())
    mine.chmod(0o600)
    run("relearn", "--as", "ham", "--model", mine, stdin=letter(random.Random(5), False), code=0)
    (index,) = tmp_path.glob(".mine*.index")
    assert index.stat().st_mode & 0o777 == 0o600


def test_merged_filters_are_none(model, tmp_path):
    twice = tmp_path / "twice.priory"
    subprocess.run(
        [*PRIORY[:-1], "merge", str(model), str(model), "-o", str(twice)], check=True, timeout=120
    )
    assert b"is no mail filter" in run("classify", "--model", twice, stdin=b"To: a\n\nx").stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("classify", "--header", "nofile"), b"No such file or folder: 'nofile'"),
        (("classify",), b"stdin is empty"),
        (("classify", "--socket", ""), b"--socket must name"),
        (("serve", "--socket", ""), b"--socket must name"),
        (("serve", "--socket", "/tmp/" + "x" * 150), b"a path may have 103 bytes"),
    ],
)
def test_what_cannot_be_asked_is_told(model, arguments, said):
    done = run(*arguments, "--model", model)
    assert said in done.stderr and done.returncode not in (0, 1)
