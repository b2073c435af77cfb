"""The commands of `priory mail`, which load as little as each needs."""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NoReturn

from priory.base.errors import InputError, PrioryError, SettingError
from priory.cli.failing import say, tell, told
from priory.mail.places import HAM, SPAM, default_model

if TYPE_CHECKING:
    from priory.mail.filtering import Learned, MailFilter

__all__ = ["FAILED", "run_mail"]

FAILED = 3
"""The exit code of a message that could not be judged: 0, 1 and 2 are answers."""

SPELLED = {"false_positives must": "--false-positives must", "missed must": "--missed must"}


def run_mail(arguments: Sequence[str]) -> int:
    """Run a command of the mail filter; the result is its exit code."""
    try:
        asked = _parser().parse_args(list(arguments))
    except SystemExit as leave:  # after --help
        return int(leave.code or 0)
    asked.model = asked.model or default_model()
    if getattr(asked, "socket", None) == "":
        raise SettingError("--socket must name where the server listens, not ''.")
    if asked.run is not serve:
        gc.disable()  # a call ends soon
    try:
        code: int = asked.run(asked)
        return code
    except PrioryError as error:
        text = str(error)
        for argument, option in SPELLED.items():
            text = text.replace(argument, option)
        raise type(error)(text) from None
    finally:
        gc.enable()


# Learning


def learn(asked: argparse.Namespace) -> int:
    """Learn messages as spam and as ham."""
    if not (asked.spam or asked.ham):
        raise SettingError("learn needs messages: --spam MAILBOX, --ham MAILBOX, or both.")
    as_ham = {os.path.realpath(path) for path in asked.ham or ()}
    for path in asked.spam or ():
        if os.path.realpath(path) in as_ham:
            raise SettingError(
                f"--spam and --ham must be different mailboxes, and both have {path!r}."
            )
    spam, ham = _words(asked.spam), _words(asked.ham)
    return _teach(asked, spam + ham, [True] * len(spam) + [False] * len(ham))


def relearn(asked: argparse.Namespace) -> int:
    """Move messages to the class where they belong."""
    words = _words(asked.mail or ["-"])
    return _teach(asked, words, [asked.label == SPAM] * len(words))


def _teach(asked: argparse.Namespace, words: list[bytes], is_spam: list[bool]) -> int:
    if not words:
        raise InputError("There are no messages to learn: what was given is empty.")

    from priory.base.replacing import locked
    from priory.mail.filtering import MailFilter

    os.makedirs(os.path.dirname(os.path.realpath(asked.model)), mode=0o700, exist_ok=True)
    with told(), locked(asked.model, say):
        rates = {"false_positives": asked.false_positives, "missed": asked.missed}
        given = {name: rate for name, rate in rates.items() if rate is not None}
        if os.path.exists(asked.model):
            found = MailFilter.load(asked.model)
            found.change_rates(**given)
        else:
            found = MailFilter(**given)
        learned = found.learn_words(words, is_spam)
        found.write(asked.model)
    _report(asked, found, learned)
    return 0


def _report(asked: argparse.Namespace, found: MailFilter, learned: Learned) -> None:
    figures = {
        "model": asked.model,
        "learned": learned.new,
        "known": learned.known,
        "moved": learned.moved,
        **found.figures(),
    }
    if asked.json:
        tell(json.dumps(figures))
        return
    messages = "message" if learned.new == 1 else "messages"
    say(f"{learned.new:,} {messages} learned, {learned.known:,} known, {learned.moved:,} moved")
    say(f"saved to {asked.model}: {figures[HAM]:,} ham, {figures[SPAM]:,} spam")
    if found.is_ready:
        say(
            f"of messages held out: {figures['caught']:.1%} of spam caught, "
            f"{figures['false_positives']:,} of {figures[HAM]:,} ham called spam, "
            f"{figures['unsure']:.1%} unsure"
        )


# Judging


def classify(asked: argparse.Namespace) -> int:
    """Judge one message, by the exit code; or many, in a table."""
    if asked.header and (asked.json or len(asked.mail) > 1):
        raise SettingError("--header passes one message through: it goes without --json and alone.")
    answer = _answer(asked)
    single = _single(asked.mail)
    if single is not None:
        verdict = answer(single)
        if asked.header:
            from priory.mail.passing import with_field

            sys.stdout.buffer.write(with_field(single, *verdict))
            sys.stdout.buffer.flush()
            return 0  # who delivers it would take any other code for a failure
        if asked.json:
            tell(json.dumps({"label": verdict[0], "probability": verdict[1]}))
        else:
            tell(f"{verdict[0]} {verdict[1]:.4f}")
        return {SPAM: 0, HAM: 1}.get(verdict[0], 2)
    if asked.header:
        raise SettingError(
            f"--header passes one message through, and {asked.mail[0]!r} is several."
        )
    for name, message in _all(asked.mail):
        label, p = answer(message)
        line = f"{label:<7} {p:.4f}  {name}"
        tell(
            json.dumps({"message": name, "label": label, "probability": p}) if asked.json else line
        )
    return 0


def serve(asked: argparse.Namespace) -> int:
    """Answer at a Unix socket."""
    from priory.mail.server import serve

    serve(asked.model, asked.socket, say)
    return 0


def _answer(asked: argparse.Namespace) -> Any:
    if asked.socket:
        from functools import partial

        from priory.mail.client import ask

        return partial(ask, asked.socket)
    from priory.mail.judging import Judge

    return Judge(asked.model).verdict


def _single(paths: Sequence[str]) -> bytes | None:
    """Read the message, if what was given is a single one; a file may begin as an mbox does."""
    if not paths or list(paths) == ["-"]:
        message = sys.stdin.buffer.read()
        if not message.strip():
            raise InputError("There is no message to judge: stdin is empty.")
        return message
    (path, *others) = paths
    if others or os.path.isdir(path):
        return None
    from priory.mail.mailboxes import check_there, is_single, read_mail

    check_there(path)

    if os.path.isfile(path) and not is_single(path) and len(list(islice(read_mail(path), 2))) > 1:
        return None  # what is no file, as <(command), is read once
    with open(path, "rb") as file:
        return file.read()


def _all(paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    from priory.mail.mailboxes import read_mail, read_piped

    for path in paths:
        if path == "-":
            for number, message in enumerate(read_piped(sys.stdin.buffer.read()), 1):
                yield f"-:{number}", message
        else:
            yield from read_mail(path)


def _words(paths: Iterable[str] | None) -> list[bytes]:
    from priory.mail.wording import encoded_words

    return encoded_words(message for _, message in _all(paths or ()))


# Options


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise SettingError(f"{message[:1].upper()}{message[1:]}. See {self.prog} --help.")


def _help(_: argparse.Namespace) -> int:
    _parser().print_help()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="priory mail",
        description="Filter mail. A mailbox is an mbox file, a Maildir, a folder of messages, a "
        "single message, or - for stdin.",
        epilog="Example: priory mail learn --spam junk.mbox --ham inbox.mbox --model my.priory",
    )
    parser.set_defaults(run=_help, model=None)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", parser_class=_Parser)

    def command(run: Any, text: str) -> argparse.ArgumentParser:
        made = commands.add_parser(run.__name__, help=text, description=text)
        made.set_defaults(run=run)
        made.add_argument(
            "--model", metavar="FILE", help=f"the filter; by default {default_model()}"
        )
        return made

    made = command(learn, "Learn messages; those learned before as the other class move.")
    made.add_argument("--spam", nargs="+", action="extend", metavar="MAILBOX", help="spam")
    made.add_argument("--ham", nargs="+", action="extend", metavar="MAILBOX", help="wanted mail")
    _learning(made)
    made = command(
        classify,
        "Judge a message from stdin or a file: exit code 0 for spam, 1 for ham, 2 for unsure, 3 if "
        "it could not be judged. Stdin is one message. Of many messages, in an mbox file, a folder "
        "or several files, print a line each, and exit with 0.",
    )
    made.add_argument("mail", nargs="*", metavar="MAILBOX", help="what to judge; none: stdin")
    made.add_argument(
        "--header", action="store_true", help="pass it through with X-Priory added; exit code 0"
    )
    made.add_argument("--socket", metavar="PATH", help="ask the server there")
    made.add_argument("--json", action="store_true", help="print JSON")
    made = command(relearn, "Take messages out of the wrong class and learn them as the right one.")
    made.add_argument("--as", dest="label", choices=[HAM, SPAM], required=True, help="what it is")
    made.add_argument("mail", nargs="*", metavar="MAILBOX", help="messages; none: stdin")
    _learning(made)
    made = command(serve, "Answer at a Unix socket, so that a message costs milliseconds.")
    made.add_argument("--socket", metavar="PATH", required=True, help="where to listen")
    return parser


def _learning(made: argparse.ArgumentParser) -> None:
    made.add_argument(
        "--false-positives",
        type=float,
        metavar="SHARE",
        help="the share of ham that may be called spam, kept with the filter; .001 at first",
    )
    made.add_argument(
        "--missed",
        type=float,
        metavar="SHARE",
        help="the share of spam that may be called ham, kept with the filter; .01 at first",
    )
    made.add_argument("--json", action="store_true", help="print JSON")
