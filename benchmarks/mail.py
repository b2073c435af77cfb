"""The mail filter beside bogofilter, plain and attacked: `python -m benchmarks.mail [PART ...]`.

| part | question |
|---|---|
| padding | how much spam is caught, and how much ham called spam, when senders append hammy words |
| speed | how long 3,000 messages take to learn, and one message to judge |

The mails are the SpamAssassin corpus, `--data FOLDER/spamassassin.csv.gz`. The page is
`benchmarks/mail.md`; each part is replaced when it is run. Where bogofilter is not installed
(`apt-get install bogofilter`) its columns say so.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from base64 import encodebytes
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from benchmarks.quality import DATA
from benchmarks.report import markdown, write_part
from priory.mail.filtering import MailFilter
from priory.mail.judging import Judge
from priory.mail.places import COLUMN
from priory.mail.wording import encoded_words
from priory.text.mime import read_fields, read_parts

PAGE = Path(__file__).parent / "mail.md"
FOLDS, PADDING, MESSAGES, REPEATS = 5, 200, 3_000, 5
ATTACKS = ("plain", "frequent", "hammiest")
FROM = b"From a@example.org Mon Jan  1 00:00:00 2001\n"
BOGOFILTER = shutil.which("bogofilter")


def mails(folder: Path) -> tuple[list[bytes], np.ndarray]:
    """Read the messages, in an order of their own, and whether each is spam."""
    csv.field_size_limit(2**30)
    with gzip.open(folder / "spamassassin.csv.gz", "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    order = np.random.default_rng(0).permutation(len(rows))
    messages = [_bytes(rows[i]["text"]) for i in order]
    return messages, np.array([rows[i]["target"] == "spam" for i in order])


def _bytes(text: str) -> bytes:
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogateescape")


# Padding


def padding(folder: Path) -> str:
    """Judge each fifth of the mails by what was learned of the others, plain and padded."""
    messages, spam = mails(folder)
    fold = np.arange(len(messages)) % FOLDS
    words = encoded_words(messages)
    p = {(who, how): np.full(len(spam), np.nan) for who in WHO for how in ATTACKS}
    for f in range(FOLDS):
        learn, judged = np.flatnonzero(fold != f), np.flatnonzero(fold == f)
        mail = MailFilter()
        mail.learn_words([words[i] for i in learn], spam[learn].tolist())
        some = [messages[i] for i in judged]
        for how in ATTACKS:
            padded = [
                _padded(message, _appended(mail, how)) if is_spam else message
                for message, is_spam in zip(some, spam[judged], strict=True)
            ]
            p["priory", how][judged] = _priory(mail, padded)
            if BOGOFILTER:
                train = [(messages[i], bool(spam[i])) for i in learn]
                p["bogofilter", how][judged] = _bogofilter(train, padded, f"{f}")
        print(f"fold {f + 1} of {FOLDS}", flush=True)
    shutil.rmtree(_database(""), ignore_errors=True)
    n_ham = int((~spam).sum())
    lines = []
    for who in WHO:
        if who == "bogofilter" and not BOGOFILTER:
            lines.append((who, "not installed", *[""] * 6))
            continue
        for how in ATTACKS:
            found = p[who, how]
            caught = [f"{(found[spam] > at).mean():.1%}" for at in (0.5, 0.9)]
            wrong = [f"{(found[~spam] > at).sum()}" for at in (0.5, 0.9)]
            right = np.clip(np.where(spam, found, 1 - found), 1e-9, 1)
            loss = f"{-np.log(right).mean():.4f}"
            lines.append((who, how, *caught, *wrong, loss))
    head = ("filter", f"{PADDING} words appended to spam", "caught at .5", "at .9")
    head += (f"of {n_ham:,} ham called spam at .5", "at .9", "log-loss")
    return (
        f"The SpamAssassin corpus, {len(spam):,} messages, {FOLDS} folds. *frequent* appends the "
        f"{PADDING} words that most ham of the other folds has to the first text of each spam "
        "message, *hammiest* those that speak most for ham; a real sender knows neither. Ham is "
        "not changed. Of bogofilter the probability is its spamicity.\n\n"
        + "\n".join(markdown(head, lines, range(2, len(head))))
    )


WHO = ("priory", "bogofilter")


def _appended(mail: MailFilter, how: str) -> bytes:
    """List the words of an attack, or none."""
    if how == "plain":
        return b""
    (term,) = mail.classifier.model.terms
    table = mail.classifier.statistics.tables[COLUMN]
    words = np.array(table.vocabulary.words(), dtype=object)
    usable = np.array([word.isascii() and word.isalpha() and len(word) > 2 for word in words])
    having = np.zeros((len(words), 2))
    having[table.pairs.word, table.pairs.label] = table.weight
    order = -having[:, 0] if how == "frequent" else term.parameters.evidence
    return " ".join(words[np.argsort(np.where(usable, order, np.inf))[:PADDING]]).encode()


def _padded(message: bytes, words: bytes) -> bytes:
    """Append words to the first text of a message, in its transfer encoding."""
    if not words:
        return message
    message = message.replace(b"\r\n", b"\n")
    for part in read_parts(*read_fields(message)):
        if part.kind.startswith("text/") and part.data.strip() and not part.is_attached:
            more = part.data + b"\n" + words + b"\n"
            if part.encoding == "base64":
                more = encodebytes(part.content() + b"\n" + words + b"\n")
            at = message.rfind(part.data)
            return message[:at] + more + message[at + len(part.data) :]
    return message + b"\n" + words + b"\n"


def _priory(mail: MailFilter, messages: Sequence[bytes]) -> np.ndarray:
    """Give the probabilities, as a person gets them: from a file and its index."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/mail.priory"
        mail.write(path)
        judge = Judge(path)
        return np.array([judge.verdict(message).probability for message in messages])


def _database(name: str) -> str:
    return os.path.join(tempfile.gettempdir(), f"priory-benchmark-bogofilter-{os.getpid()}", name)


def _bogofilter(
    learn: Sequence[tuple[bytes, bool]], messages: Sequence[bytes], name: str
) -> np.ndarray:
    """Give the spamicities; a fold is learned once."""
    folder = _database(name)
    if not os.path.isdir(folder):
        os.makedirs(folder)
        for option, is_spam in (("-s", True), ("-n", False)):
            box = _mbox([message for message, label in learn if label == is_spam])
            subprocess.run([BOGOFILTER, "-d", folder, "-M", option], input=box, check=True)
    with tempfile.TemporaryDirectory() as place:
        files = [os.path.join(place, str(i)) for i in range(len(messages))]
        for file, message in zip(files, messages, strict=True):
            Path(file).write_bytes(message)
        done = subprocess.run(
            [BOGOFILTER, "-d", folder, "-b", "-T"],
            input="\n".join(files).encode() + b"\n",
            capture_output=True,
            check=False,  # its exit code is a verdict
        )
    return np.array([float(line.split()[-1]) for line in done.stdout.splitlines()])


def _mbox(messages: Sequence[bytes]) -> bytes:
    quoted = (re.sub(rb"(?m)^(>*From )", rb">\1", message) for message in messages)
    return b"".join(FROM + message.rstrip(b"\n") + b"\n\n" for message in quoted)


# Speed


def speed(folder: Path) -> str:
    """Time learning and judging in turn, as a shell does them."""
    messages, spam = mails(folder)
    messages, spam = messages[:MESSAGES], spam[:MESSAGES]
    with tempfile.TemporaryDirectory() as place:
        boxes = {}
        for name, is_spam in (("spam", True), ("ham", False)):
            boxes[name] = os.path.join(place, f"{name}.mbox")
            some = [m for m, label in zip(messages, spam, strict=True) if label == is_spam]
            Path(boxes[name]).write_bytes(_mbox(some))
        one = os.path.join(place, "one.eml")
        Path(one).write_bytes(messages[int(np.argmin(spam))])
        with _Serving(place, boxes) as socket:
            calls = _calls(place, boxes, one, socket)
            times: dict[str, list[float]] = {name: [] for name in calls}
            worked: dict[str, list[float]] = {name: [] for name in calls}
            for _ in range(REPEATS):
                for name, call in calls.items():
                    start, before = time.perf_counter(), _worked()
                    call()
                    times[name].append(time.perf_counter() - start)
                    worked[name].append(_worked() - before)
    lines = [
        (
            name,
            f"{statistics.median(some):.3g}",
            f"{min(some):.3g}",
            "" if "server" in name else f"{statistics.median(worked[name]):.3g}",
        )
        for name, some in times.items()
    ]
    if not BOGOFILTER:
        lines.append(("bogofilter", "not installed", "", ""))
    size = sum(map(len, messages)) / 1e6
    head = ("call", "median, s", "least, s", "processor, s")
    return (
        f"{MESSAGES:,} messages of the corpus, {size:.1f} MB in two mbox files; {REPEATS} rounds "
        f"in turn, on {os.cpu_count()} cores that others use as well, so that the processor's time "
        "says more than the clock. Learning by priory includes cross-fitting, bands and a "
        "file that is on the disk; its bytecode is compiled before, as that of installed packages "
        "is.\n\n" + "\n".join(markdown(head, lines, (1, 2, 3)))
    )


def _worked() -> float:
    """Give the seconds that processes which were waited for have used of a processor."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _calls(
    place: str, boxes: dict[str, str], one: str, socket: str
) -> dict[str, Callable[[], object]]:
    priory = [sys.executable, "-m", "priory", "mail"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "check": False}
    quiet["env"] = _installed(place)
    model, database = os.path.join(place, "m.priory"), os.path.join(place, "bogofilter")

    def learn() -> None:
        Path(model).unlink(missing_ok=True)
        given = ["--spam", boxes["spam"], "--ham", boxes["ham"], "--model", model]
        subprocess.run([*priory, "learn", *given], **quiet)

    def learn_bogofilter() -> None:
        shutil.rmtree(database, ignore_errors=True)
        os.mkdir(database)
        for name, option in (("spam", "-s"), ("ham", "-n")):
            with open(boxes[name], "rb") as box:
                subprocess.run([BOGOFILTER, "-d", database, "-M", option], stdin=box, **quiet)

    def asked(command: Sequence[str]) -> Callable[[], object]:
        def call() -> None:
            with open(one, "rb") as message:
                subprocess.run(command, stdin=message, **quiet)

        return call

    from priory.mail.client import ask

    message = Path(one).read_bytes()
    calls: dict[str, Callable[[], object]] = {"priory: learn 3,000 messages": learn}
    if BOGOFILTER:
        calls["bogofilter: learn 3,000 messages"] = learn_bogofilter
    calls["priory: one call of the shell"] = asked([*priory, "classify", "--model", model])
    calls["priory: one call, --socket"] = asked([*priory, "classify", "--socket", socket])
    calls["priory: one message, asked of the server"] = lambda: ask(socket, message)
    if BOGOFILTER:
        calls["bogofilter: one call of the shell"] = asked([BOGOFILTER, "-d", database])
    return calls


def _installed(place: str) -> dict[str, str]:
    """Let Python keep its bytecode in a folder, as an installed package has it beside its files."""
    kept = {name: v for name, v in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": os.path.join(place, "bytecode")}


class _Serving:
    """Run a server while the others are timed."""

    def __init__(self, place: str, boxes: dict[str, str]) -> None:
        self.socket = os.path.join(place, "s")
        model = os.path.join(place, "served.priory")
        priory = [sys.executable, "-m", "priory", "mail"]
        given = ["--spam", boxes["spam"], "--ham", boxes["ham"], "--model", model]
        env = _installed(place)
        subprocess.run([*priory, "learn", *given], check=True, stderr=subprocess.DEVNULL, env=env)
        command = [*priory, "serve", "--model", model, "--socket", self.socket]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, env=env)

    def __enter__(self) -> str:
        assert self.process.stderr is not None
        self.process.stderr.readline()
        return self.socket

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait()
        assert self.process.stderr is not None
        self.process.stderr.close()


PARTS = {"padding": padding, "speed": speed}


def main() -> None:
    """Run the parts that are asked for, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=list(PARTS))
    parser.add_argument("--data", type=Path, default=DATA)
    given = parser.parse_args()
    for part in given.parts or PARTS:
        start = time.perf_counter()
        text = PARTS[part](given.data)
        text += f"\n\n`python -m benchmarks.mail {part}`, {time.perf_counter() - start:.0f} s\n"
        print(f"## {part}\n\n{text}")
        write_part(PAGE, "Mail", part, text)


if __name__ == "__main__":
    main()
