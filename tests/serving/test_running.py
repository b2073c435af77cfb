"""`priory serve` as a process: where it listens, kill −9 while it learns, workers and reloads."""

import socket
import threading
import time

import pytest

from priory import load
from priory.cli import main
from priory.serving.tokens import new_token

from .servers import ROOT, Server
from .teaching import teach_and_kill

DAY = {"outlook": "Sunny", "temperature": "Cool", "humidity": "High", "wind": "Strong"}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["days.priory", "--host", "0.0.0.0"], "--token-file"),
        (["days.priory", "--learn"], "token"),
        ([], "Name a model file"),
        (["nowhere.priory"], "nowhere.priory could not be read"),
        (["tests/serving/test_running.py"], "--target"),
        (["--new-token", "predict"], "--token-file"),
        (["--new-token", "all", "--token-file", "tokens.json"], "predict, learn, admin"),
        (["days.priory", "--log", "all"], "--log must be"),
        (["days.priory", "--max-seconds", "0"], "--max-seconds must be"),
        (["days.priory", "--target", "play"], "--target is for data"),
        (["days.priory", "--token-file", "tokens.none"], "make it with --new-token"),
        (["days.priory", "--host", "nowhere.invalid", "--token-file", "tokens.none"], "--host"),
    ],
)
def test_what_cannot_be_served_is_said(arguments, told, models, capsys, monkeypatch):
    given = [str(models / a) if a.startswith(("days", "tokens")) else a for a in arguments]
    monkeypatch.chdir(ROOT)
    assert main(["serve", *given]) in (1, 2)
    assert told in capsys.readouterr().err


def test_a_port_that_is_taken_is_said_before_anything_is_served(models, capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["serve", str(models / "days.priory"), "--port", str(port)]) == 2
    told = capsys.readouterr().err
    assert f"--port {port} cannot be had on 127.0.0.1" in told and "serves" not in told


def test_a_token_is_printed_once(models, capsys):
    path = models / "tokens.json"
    assert main(["serve", "--new-token", "predict,learn", "--token-file", str(path)]) == 0
    token = capsys.readouterr().out.strip()
    assert len(token) > 40 and token not in path.read_text()


def test_data_are_trained_on_first():
    with Server("examples/play_tennis.csv", "--target", "play") as server:
        status, found = server.ask("POST", "/v1/predict", {"rows": [DAY]})
        assert status == 200 and found["model"] == "play_tennis"
        assert server.ask("GET", "/v1/schema")[1]["rows"] == 14


def test_nothing_acknowledged_is_lost_by_kill_9(models):
    path, tokens = models / "days.priory", models / "tokens.json"
    token = new_token(tokens, ["predict", "learn"])
    for acknowledged, kept in teach_and_kill(path, tokens, token, [5, 17]):
        assert kept == 14 + acknowledged
    assert acknowledged >= 25 and load(path).statistics.n_rows == 14 + acknowledged


def test_two_workers_and_reloads_never_show_a_torn_model(models):
    """Every answer is that of one version of the file, whole; and workers come to agree."""
    path = models / "days.priory"
    first = load(path)
    others = [load(path).update({k: [v] * n for k, v in DAY.items()}, ["Yes"] * n) for n in (5, 50)]
    known = {m.predict_proba(DAY).max() for m in (first, *others)}
    assert len(known) == 3
    seen, wrong, stop = set(), [], threading.Event()
    with Server(path, "--workers", "2", "--drift", "--log", "none") as server:

        def ask():
            connection = server.connect()
            while not stop.is_set():
                status, found = server.ask("POST", "/v1/predict", {"rows": [DAY]}, None, connection)
                p = found["predictions"][0]["probability"]
                seen.add((found["version"], p))
                if status != 200 or p not in known:
                    wrong.append(found)
            connection.close()

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for _ in range(6):
            for model in (*others, first):
                model._seals.clear()  # written over on purpose
                model.save(path)
                stop.wait(0.05)
        stop.wait(0.3)
        stop.set()
        for thread in threads:
            thread.join()
        assert not wrong
        assert {p for _, p in seen} == known
        assert len(seen) >= 3
        for _ in range(100):
            answers = [server.ask("POST", "/v1/predict", {"rows": [DAY]})[1] for _ in range(8)]
            if len({answer["version"] for answer in answers}) == 1:
                break
            time.sleep(0.05)
        assert answers[0]["predictions"][0]["probability"] == first.predict_proba(DAY).max()
        _each_worker_tells_of_its_own(server)


def _each_worker_tells_of_its_own(server):
    """Ask by one connection for each worker: it stays with the worker, which counts it."""
    found = {}
    for _ in range(200):
        connection = server.connect()
        told = server.ask("GET", "/v1/drift", connection=connection)[1]
        if told["worker"] in found:
            connection.close()
            continue
        found[told["worker"]] = connection, told["asked"]
        if len(found) == 2:
            break
    for n, (worker, (connection, before)) in enumerate(found.items(), 21):
        for _ in range(n):
            server.ask("POST", "/v1/predict", {"rows": [DAY]}, None, connection)
        told = server.ask("GET", "/v1/drift", connection=connection)[1]
        assert (told["worker"], told["asked"]) == (worker, before + n)
        connection.close()
