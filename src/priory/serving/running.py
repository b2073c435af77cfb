"""Run a server: one process, or several that read the same model files."""

from __future__ import annotations

import os
import socket
import warnings
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from priory.base.errors import PrioryWarning, SettingError
from priory.serving.configuration import LOOPBACK, Configuration

if TYPE_CHECKING:
    from priory.serving.gate import Gate

__all__ = ["check_address", "free_port", "run", "worker_app"]

VARIABLE = "PRIORY_SERVING"
"""How workers, which are processes of their own, are told of the configuration."""

KEEP_ALIVE = 30
CONNECTIONS = 1_000


def check_address(host: str, configuration: Configuration) -> None:
    """Refuse to listen where others can reach it, unless whoever asks must have a token.

    >>> check_address("0.0.0.0", Configuration({"days": "days.priory"}))
    Traceback (most recent call last):
    priory.base.errors.SettingError: host='0.0.0.0' can be reached from other machines: give
    token_file, so that whoever asks needs a token.
    """
    if host not in LOOPBACK and configuration.token_file is None:
        raise SettingError(
            f"host={host!r} can be reached from other machines: give token_file, so that whoever "
            "asks needs a token."
        )


def free_port(host: str, port: int) -> int:
    """Check that a server can listen there, before it says so; of port 0, choose one that is free.

    >>> with socket.create_server(("127.0.0.1", 0)) as other:
    ...     free_port("127.0.0.1", other.getsockname()[1])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    priory.base.errors.SettingError: port=... cannot be had on 127.0.0.1: Address already in use.
    Choose another; 0 is any that is free.
    """
    try:
        (family, *_), *_ = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:
        raise SettingError(
            f"host={host!r} must be an address or a name of this machine, such as 127.0.0.1."
        ) from None
    try:
        with socket.create_server((host, port), family=family) as probe:
            found: int = probe.getsockname()[1]
            return found
    except OSError as error:
        why = os.strerror(error.errno or 0)
        raise SettingError(
            f"port={port} cannot be had on {host}: {why}. Choose another; 0 is any that is free."
        ) from None


def run(configuration: Configuration, host: str, port: int, workers: int = 1) -> None:
    """Serve until interrupted."""
    check_address(host, configuration)
    if find_spec("fastapi") is None or find_spec("uvicorn") is None:
        raise SettingError("priory serve needs FastAPI and uvicorn: pip install 'priory[web]'.")
    import uvicorn

    how: dict[str, Any] = {
        "host": host,
        "port": port,
        "log_config": None,
        "access_log": False,
        "server_header": False,
        "timeout_keep_alive": KEEP_ALIVE,
        "limit_concurrency": CONNECTIONS,
        "timeout_graceful_shutdown": 5,
        "ws": "none",
    }
    if workers == 1:
        uvicorn.run(_app(configuration), **how)
        return
    os.environ[VARIABLE] = configuration.to_json()
    uvicorn.run("priory.serving.running:worker_app", factory=True, workers=workers, **how)


def worker_app() -> Gate:
    """Make the application of one worker."""
    return _app(Configuration.from_json(os.environ[VARIABLE]))


def _app(configuration: Configuration) -> Gate:
    """Make an application that leaves warnings out of the log: they hold values of rows."""
    from priory.serving.gate import make_app  # which other commands must not wait for

    warnings.simplefilter("ignore", PrioryWarning)
    return make_app(configuration)
