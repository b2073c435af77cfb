"""Servers for the tests: in this process, and as a process of its own on the loopback."""

import asyncio
import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx

from priory.serving import Configuration, make_app

ROOT = Path(__file__).parents[2]


def client(models, **more):
    """Make a client of a server in this process; models are paths by name."""
    app = make_app(Configuration({n: str(p) for n, p in models.items()}, log="none", **more))
    return Client(app)


class Client:
    """Ask an application without a network, each request in a loop of its own."""

    def __init__(self, app):
        self.app, self.headers = app, {}

    def request(self, method, path, headers=None, **more):
        async def ask():
            transport = httpx.ASGITransport(self.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as asked:
                given = {**self.headers, **(headers or {})}
                return await asked.request(method, path, headers=given, **more)

        return asyncio.run(ask())

    def get(self, path, **more):
        return self.request("GET", path, **more)

    def post(self, path, **more):
        return self.request("POST", path, **more)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """`priory serve` as a process of its own."""

    def __init__(self, *arguments, port=None):
        self.port = port or free_port()
        command = [sys.executable, "-m", "priory", "serve", *map(str, arguments)]
        self.process = subprocess.Popen(
            [*command, "--port", str(self.port)],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self._wait()

    def _wait(self):
        for _ in range(600):
            if self.process.poll() is not None:
                raise AssertionError(self.process.stderr.read().decode())
            with contextlib.suppress(OSError, http.client.HTTPException):
                if self.ask("GET", "/healthz")[0] == 200:
                    return
            time.sleep(0.05)
        raise AssertionError("the server did not start")

    def connect(self, timeout=30):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def ask(self, method, path, body=None, token=None, connection=None):
        """Ask something; the answer is the status and the JSON."""
        used = connection or self.connect()
        headers = {"content-type": "application/json"}
        if token is not None:
            headers["authorization"] = f"Bearer {token}"
        used.request(method, path, None if body is None else json.dumps(body), headers)
        answer = used.getresponse()
        content = answer.read()
        if connection is None:
            used.close()
        return answer.status, json.loads(content)

    def kill(self):
        """End it as a power cut would: kill −9, with all of its workers."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stderr.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()
