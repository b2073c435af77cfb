"""How much a server answers, on the loopback: `python -m benchmarks.serving`, or `--part kill`.

Single rows beside the same route over scikit-learn, in the same server, turn by turn; a batch as
Arrow and as JSON; memory over many requests; and kill −9 under learning, after which the counts
must be those that were acknowledged. Traffic is bounded in count and time. The tables go to
benchmarks/serving.md.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from tests.serving.servers import Server, free_port

from benchmarks.report import write_part
from benchmarks.store import load_average

PAGE = Path(__file__).with_name("serving.md")
CLIENTS, ROUNDS = 32, 3
ARROW = "application/vnd.apache.arrow.stream"


def tables() -> dict[str, tuple[list[dict[str, Any]], list[Any]]]:
    """Take a table of labels with gaps, and one of numbers, as rows and classes."""
    import csv

    from sklearn.datasets import load_breast_cancer

    path = Path(__file__).parents[1] / "src" / "priory" / "examples" / "house_votes.csv"
    with path.open() as file:
        votes = [{k: v or None for k, v in row.items()} for row in csv.DictReader(file)]
    parties = [row.pop("party") for row in votes]
    cells = load_breast_cancer()
    names = [str(name) for name in cells.feature_names]
    rows = [dict(zip(names, x, strict=True)) for x in cells.data.tolist()]
    return {"votes": (votes, parties), "cells": (rows, cells.target.tolist())}


# A peer: the same route over scikit-learn, in the same server


def peer_app() -> Any:
    """Make the route over scikit-learn: nothing but the body, the model and the answer."""
    from sklearn.naive_bayes import CategoricalNB, GaussianNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    rows, y = tables()[os.environ["BENCH_TABLE"]]
    names = list(rows[0])
    if os.environ["BENCH_TABLE"] == "votes":
        X: Any = np.array([[row[name] or "?" for name in names] for row in rows], dtype=object)
        model = make_pipeline(OrdinalEncoder(), CategoricalNB()).fit(X, y)
    else:
        X = np.array([[row[name] for name in names] for row in rows])
        model = GaussianNB().fit(X, y)
    classes = [str(k) for k in model.classes_]
    missing = "?" if X.dtype == object else 0.0

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        body = (await receive())["body"]
        asked = json.loads(body)["rows"] if body else [rows[0]]
        given = [[row[name] or missing for name in names] for row in asked]
        answers = []
        for p in model.predict_proba(np.array(given, dtype=X.dtype)).tolist():
            best = max(range(len(p)), key=p.__getitem__)
            answers.append(
                {
                    "prediction": classes[best],
                    "probability": p[best],
                    "probabilities": dict(zip(classes, p, strict=True)),
                }
            )
        content = json.dumps({"predictions": answers}).encode()
        size = str(len(content)).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", size)]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": content})

    return app


@contextlib.contextmanager
def peer(table: str) -> Iterator[tuple[int, int]]:
    """Run the peer by uvicorn, as priory is run; give its port and its process."""
    port = free_port()
    command = [sys.executable, "-m", "uvicorn", "--factory", "benchmarks.serving:peer_app"]
    process = subprocess.Popen(
        [*command, "--port", str(port), "--no-access-log", "--log-level", "critical"],
        env={**os.environ, "BENCH_TABLE": table},
    )
    try:
        for _ in range(300):
            with contextlib.suppress(OSError):
                asyncio.run(load(port, b"{}", 1, 1, "/"))
                break
            time.sleep(0.1)
        yield port, process.pid
    finally:
        process.kill()
        process.wait()


# Load


async def load(
    port: int, body: bytes, clients: int, n: int, path: str = "/v1/predict", seconds: float = 60.0
) -> list[float]:
    """Send a body n times over so many connections, each waiting for its answers; list times."""
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    request = head.encode() + f"Content-Length: {len(body)}\r\n\r\n".encode() + body
    if body == b"{}":
        request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
    times: list[float] = []
    until = time.perf_counter() + seconds

    async def client() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(n // clients):
            began = time.perf_counter()
            if began > until:
                break
            writer.write(request)
            top = await reader.readuntil(b"\r\n\r\n")
            assert top.startswith(b"HTTP/1.1 200"), top
            at = top.lower().index(b"content-length:") + 15
            await reader.readexactly(int(top[at : top.index(b"\r\n", at)]))
            times.append(time.perf_counter() - began)
        writer.close()

    await asyncio.gather(*(client() for _ in range(clients)))
    return times


def run_load(port: int, body: bytes, clients: int, n: int, **more: Any) -> dict[str, float]:
    """Load a server, and say how much it answered and how soon."""
    import uvloop

    began = time.perf_counter()
    times = np.array(uvloop.run(load(port, body, clients, n, **more)))
    seconds = time.perf_counter() - began
    p50, p99 = np.quantile(times, [0.5, 0.99]) * 1e3
    return {"rate": len(times) / seconds, "p50": p50, "p99": p99, "n": len(times)}


def processor_seconds(pid: int) -> float:
    """Read the processor time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid: int) -> float:
    """Read the resident memory of a process, in MB."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 1e6


def save(folder: Path, name: str) -> Path:
    """Train priory's default on a table, and save it."""
    from priory import Classifier

    rows, y = tables()[name]
    path = folder / f"{name}.priory"
    Classifier().update(rows, y).save(path)
    return path


# Parts


def single(folder: Path) -> list[str]:
    """Measure single rows: priory and the peer, turn by turn."""
    lines = [
        f"{CLIENTS} connections, one row a request, the best of {ROUNDS} turns of 4,000 requests "
        "with the other between them; one worker each. Processor time is "
        "the server's, the least of the turns; the client takes the rest of the machine.",
        "",
        "| table | route | requests/s | p50 | p99 | processor time a request | ratio |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for name, (rows, _) in tables().items():
        body = json.dumps({"rows": [rows[0]]}).encode()
        with Server(save(folder, name), "--log", "errors") as ours, peer(name) as theirs:
            found: dict[str, list[dict[str, float]]] = {"priory": [], "scikit-learn": []}
            both = {"priory": (ours.port, ours.process.pid), "scikit-learn": theirs}
            for _ in range(ROUNDS):
                for who, (port, pid) in both.items():
                    before = processor_seconds(pid)
                    one = run_load(port, body, CLIENTS, 4_000)
                    one["work"] = (processor_seconds(pid) - before) / one["n"] * 1e6
                    found[who].append(one)
        best = {who: max(some, key=lambda one: one["rate"]) for who, some in found.items()}
        for who, one in best.items():
            one["work"] = min(each["work"] for each in found[who])
        ratio = best["priory"]["rate"] / best["scikit-learn"]["rate"]
        for who, one in best.items():
            told = f"{ratio:.1f}×" if who == "priory" else ""
            lines.append(
                f"| {name} | {who} | {one['rate']:,.0f} | {one['p50']:.1f} ms | "
                f"{one['p99']:.1f} ms | {one['work']:.0f} µs | {told} |"
            )
    return [*lines, ""]


def batch(folder: Path) -> list[str]:
    """Measure a batch of 100,000 rows as JSON and as Arrow."""
    import http.client

    import pyarrow as pa

    lines = [
        "100,000 rows in one request, the best of three, turn by turn; from sending to the whole "
        "answer, in the kind that was sent.",
        "",
        "| table | JSON rows | Arrow stream | ratio | JSON body | Arrow body |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, (rows, _) in tables().items():
        many = [rows[i % len(rows)] for i in range(100_000)]
        table, sink = pa.Table.from_pylist(many), pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as out:
            out.write_table(table)
        bodies = {
            "application/json": json.dumps({"rows": many}).encode(),
            ARROW: sink.getvalue().to_pybytes(),
        }
        best = dict.fromkeys(bodies, np.inf)
        with Server(save(folder, name), "--max-body", "256", "--max-seconds", "120") as server:
            for _ in range(3):
                for kind, body in bodies.items():
                    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
                    began = time.perf_counter()
                    connection.request("POST", "/v1/predict", body, {"content-type": kind})
                    answer = connection.getresponse()
                    answer.read()
                    assert answer.status == 200
                    best[kind] = min(best[kind], time.perf_counter() - began)
                    connection.close()
        slow, quick = best["application/json"], best[ARROW]
        sizes = [f"{len(body) / 1e6:.0f} MB" for body in bodies.values()]
        lines.append(
            f"| {name} | {slow:.2f} s | {quick:.3f} s | {slow / quick:.0f}× | {' | '.join(sizes)} |"
        )
    return [*lines, ""]


def flat(folder: Path, seconds: float) -> list[str]:
    """Watch the memory of a server over many requests."""
    rows, _ = tables()["votes"]
    body = json.dumps({"rows": [rows[0]]}).encode()
    with Server(save(folder, "votes"), "--log", "none") as server:
        total, told, until = 0, [], time.monotonic() + seconds
        run_load(server.port, body, CLIENTS, 3_200)
        while time.monotonic() < until and total < 1_000_000:
            told.append((total, memory(server.process.pid)))
            total += int(run_load(server.port, body, CLIENTS, 32_000, seconds=30)["n"])
        told.append((total, memory(server.process.pid)))
    some = [*told[:: max(1, len(told) // 8)], told[-1]]
    lines = [
        f"The resident memory of the server over {total:,} single-row requests (at most 1,000,000, "
        f"and {seconds:.0f} s).",
        "",
        "| requests | MB |",
        "|---:|---:|",
    ]
    return [*lines, *(f"| {n:,} | {mb:.1f} |" for n, mb in dict(some).items()), ""]


def kill(folder: Path, times: int) -> list[str]:
    """Kill a server again and again while clients teach it."""
    from tests.serving.teaching import teach_and_kill

    from priory import Settings, load, train
    from priory.serving.tokens import new_token

    path, tokens = folder / "days.priory", folder / "tokens.json"
    train("examples/play_tennis.csv", "play", settings=Settings.textbook()).save(path)
    token = new_token(tokens, ["predict", "learn"])
    rng, right, killed = np.random.default_rng(0), 0, 0
    for acknowledged, kept in teach_and_kill(path, tokens, token, rng.integers(1, 30, times)):
        killed += 1
        right += kept == 14 + acknowledged
    assert load(path).statistics.n_rows == 14 + acknowledged
    return [
        f"Killed {killed} times while three clients taught it, and started again: the rows in the "
        f"file were those acknowledged {right} times; {acknowledged:,} rows in all.",
        "",
    ]


def main() -> None:
    """Measure what is asked for, and write it to its part of the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=["single", "batch", "memory", "kill"])
    parser.add_argument("--times", type=int, default=50, help="of kill")
    parser.add_argument("--seconds", type=float, default=360.0, help="of memory")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parts = {
            "single": lambda: single(folder),
            "batch": lambda: batch(folder),
            "kill": lambda: kill(folder, given.times),
            "memory": lambda: flat(folder, given.seconds),
        }
        for part in [given.part] if given.part else parts:
            machine = (
                f"- {os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python "
                f"{platform.python_version()}; client and server share them; load average before: "
                f"{load_average():.1f}"
            )
            command = f"`python -m benchmarks.serving --part {part}`"
            text = "\n".join([*parts[part](), machine, "", command])
            print(text, flush=True)
            write_part(PAGE, "Serving, measured", part, text + "\n")


if __name__ == "__main__":
    main()
