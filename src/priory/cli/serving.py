"""The command that serves models: on a page, and behind an API."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from priory import sources
from priory.base.errors import ModelFileError, SettingError, check_number
from priory.base.replacing import locked
from priory.classifier.classifier import load
from priory.cli.failing import say, tell, told
from priory.cli.options import Opening, Out, opens_source
from priory.cli.outputs import check_output
from priory.cli.wording import in_options
from priory.serving.configuration import LOOPBACK, Configuration, Limits
from priory.serving.running import check_address, free_port, run
from priory.serving.tokens import Tokens, new_token

__all__ = ["serve"]


@opens_source
def serve(
    models: Annotated[
        list[str],
        typer.Argument(
            help="Model files, or NAME=FILE; or data to train on first, with --target.",
            show_default=False,
        ),
    ] = [],
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="Train first: the column of the classes.")
    ] = None,
    output: Out = None,
    host: Annotated[str, typer.Option(help="Where to listen.")] = LOOPBACK[0],
    port: Annotated[int, typer.Option(help="The port.", min=0, max=65535)] = 8000,
    workers: Annotated[int, typer.Option(help="How many processes answer.", min=1)] = 1,
    token_file: Annotated[
        Path | None,
        typer.Option(help="Who asks needs a token whose digest is here.", show_default=False),
    ] = None,
    new_token_: Annotated[
        str | None,
        typer.Option(
            "--new-token",
            help="Make a token for predict, learn, admin (with commas), print it, and stop.",
            show_default=False,
        ),
    ] = None,
    learn: Annotated[
        bool, typer.Option("--learn", help="Let tokens with the scope learn change the model.")
    ] = False,
    drift: Annotated[
        bool,
        typer.Option("--drift", help="Count what is asked, and tell how it drifts; keep no row."),
    ] = False,
    max_body: Annotated[
        int, typer.Option(help="The largest body of a request, in megabytes.", min=1)
    ] = 64,
    max_rows: Annotated[int, typer.Option(help="The most rows of a request.", min=1)] = 200_000,
    max_seconds: Annotated[float, typer.Option(help="The longest that an answer may take.")] = 30.0,
    log: Annotated[
        str, typer.Option(help="What is logged to stderr as JSON: requests, errors or none.")
    ] = "requests",
    *,
    opening: Opening,
) -> None:
    """Serve models to people and programs: a page, and an API with JSON and Arrow.

    It listens on this machine alone; others are served with --host and --token-file. A model file
    that changes is loaded again. What is learned is on the disk before it is acknowledged.
    """
    if new_token_ is not None:
        if token_file is None:
            raise SettingError("--new-token adds to a file: name it with --token-file.")
        scopes = [scope.strip() for scope in new_token_.split(",")]
        tell(new_token(token_file, scopes))
        say(f"this token is shown once; {token_file} holds its digest")
        return
    check_number("max_seconds", max_seconds, above=0)
    if not models:
        raise SettingError("Name a model file, or data with --target.")
    with ExitStack() as stack:
        if target is None:
            named = _named(models)
        else:
            path = output
            if path is None:
                folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="priory-serve-"))
                path = Path(folder) / f"{_stem(models[0])}.priory"
            named = {path.stem: str(path)}
        configuration = Configuration(
            named,
            None if token_file is None else str(token_file),
            learn,
            workers == 1,
            drift,
            hosts=tuple(dict.fromkeys((*LOOPBACK, host.lower()))),
            log=log,
            limits=Limits(max_body * 2**20, max_rows, seconds=max_seconds),
        )
        check_address(host, configuration)
        port = free_port(host, port)
        if token_file is not None:
            if not token_file.exists():
                raise SettingError(f"{token_file} is not there; make it with --new-token.")
            Tokens(token_file)
        if target is not None:
            if learn and output is None:
                raise SettingError("--learn changes a file: name it with --output.")
            _train(models, target, Path(named[configuration.first]), opening)
        name = f"[{host}]" if ":" in host else host
        say(f"http://{name}:{port}/ serves {', '.join(named)}; end it with Ctrl-C")
        run(configuration, host, port, workers)


def _train(data: Sequence[str], target: str, path: Path, opening: Opening) -> None:
    check_output(path, data)
    if any(Path(name).suffix == ".priory" for name in data):
        raise SettingError("A model file is served as it is; --target is for data to train on.")
    with told(in_options):
        source = data[0] if len(data) == 1 else list(data)
        classifier = sources.train(source, target, **opening)
        with locked(path, say):
            classifier.save(path, keep_sample=True)


def _named(models: Sequence[str]) -> dict[str, str]:
    """Take the name of each model, or of its file; a file that is no model is said here."""
    found: dict[str, str] = {}
    for text in models:
        name, equals, path = text.partition("=")
        if not equals:
            name, path = Path(text).stem, text
        if name in found:
            raise SettingError(f"{name!r} names two models; name them as NAME=FILE.")
        try:
            load(path)
        except ModelFileError as error:
            raise ModelFileError(f"{error} Data are trained on first with --target.") from None
        found[name] = path
    return found


def _stem(data: str) -> str:
    return Path(data).name.partition(".")[0] or "model"
