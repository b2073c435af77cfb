"""Bodies that no client should send: each is refused, and told which field is at fault.

    python -m tests.serving.malformed 10000

With the number of bodies; the end of the process, a status of 500 or no field is a failure.
"""

import asyncio
import json
import random
import sys
import tempfile
from pathlib import Path

import pyarrow as pa

from priory import Classifier
from priory.serving import Configuration, Limits, make_app
from priory.serving.bodies import ARROW, JSON, LINES
from priory.serving.tokens import new_token

ROW = {"colour": "red", "grams": 150.5, "ripe": True, "note": "sweet and round"}
ODD = (
    *(None, [], {}, [[]], [1], {"a": 1}, "", "x", 0, -1, 1.5, True, 10**400),
    *(1e308, -1e308, "\ud800", "\x00", "heavy", [None], "rows", {"rows": []}),
)
NO_VALUE = ([], {}, [[]], [1], {"a": 1}, [None], {"rows": []})


def save_model(folder):
    """Save a model of labels, numbers, truths and texts, and a file of tokens."""
    n = 40
    table = {
        "colour": [("red", "green", "yellow")[i % 3] for i in range(n)],
        "grams": [100.0 + 7 * i for i in range(n)],
        "ripe": [i % 4 < 2 for i in range(n)],
        "note": [f"sweet {('and round', 'but small', 'or sour')[i % 3]} {i}" for i in range(n)],
    }
    path = Path(folder) / "fruit.priory"
    Classifier().update(table, ["apple" if i % 5 < 3 else "pear" for i in range(n)]).save(path)
    return path, new_token(Path(folder) / "tokens.json", ["predict", "learn", "admin"])


def application(folder, **more):
    path, token = save_model(folder)
    tokens = str(Path(folder) / "tokens.json")
    limits = Limits(body=100_000, rows=100, explained=10, **more)
    models = {"fruit": str(path)}
    found = Configuration(models, tokens, True, drift=True, log="none", limits=limits)
    return make_app(found), token


async def ask(app, path, body, kind, token):
    """Send a body straight to the application; the status and the answer."""
    headers = [(b"host", b"127.0.0.1"), (b"authorization", b"Bearer " + token.encode())]
    headers.append((b"content-type", kind.encode()))
    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": headers,
        "http_version": "1.1",
        "scheme": "http",
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
        "root_path": "",
    }
    sent = []

    async def receive():
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message):
        sent.append(message)

    await app(scope, receive, send)
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent[1:])


def arrow(rows):
    table = pa.Table.from_pylist(rows)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as out:
        out.write_table(table)
    return sink.getvalue().to_pybytes()


def bodies(n, seed=0):
    """Yield (path, kind, body, whether it must be refused)."""
    rng = random.Random(seed)
    makers = (*[_wrong_part] * 6, _cut, _noise, _deep, _lines, _arrow, _infer, _kinds)
    for _ in range(n):
        yield rng.choice(makers)(rng)


def _valid(rng, path):
    rows = [dict(ROW) for _ in range(rng.randint(1, 3))]
    found = {"rows": rows}
    if path.endswith(("learn", "forget")):
        found["labels"] = ["apple"] * len(rows)
    return found


def _path(rng):
    return rng.choice(("/v1/predict", "/v1/explain", "/v1/learn", "/v1/forget"))


def _wrong_part(rng):
    """Put something odd into a body at one place."""
    path = _path(rng)
    body, way = _valid(rng, path), rng.randrange(6)
    if way == 0:
        return path, JSON, _dumped(rng.choice([o for o in ODD if not isinstance(o, dict)])), True
    if way == 1:
        body["rows"] = rng.choice([odd for odd in ODD if odd != []])
    elif way == 2:
        body["rows"][rng.randrange(len(body["rows"]))] = rng.choice(
            [odd for odd in ODD if not isinstance(odd, dict)]
        )
    elif way == 3:
        body["rows"][0][rng.choice([*ROW, "more"])] = rng.choice(NO_VALUE)
    elif way == 4:
        body["rows"][0]["grams"] = rng.choice(("heavy", 1e308, -1e308, 10**400, "\ud800", "1e999"))
    elif path.endswith(("learn", "forget")):
        body[rng.choice(("labels", "stream", "number"))] = rng.choice(
            [odd for odd in ODD if odd not in ("x", None)]
        )
        if isinstance(body.get("labels"), list) and {"stream", "number"}.isdisjoint(body):
            body["labels"] = ["apple"] * 7
    else:
        body[rng.choice(("rowz", "labels", "", "Rows"))] = 1
    return path, JSON, _dumped(body), True


def _dumped(value):
    return json.dumps(value).encode()


def _cut(rng):
    path = _path(rng)
    whole = _dumped(_valid(rng, path))
    return path, JSON, whole[: rng.randrange(len(whole))], True


def _noise(rng):
    return _path(rng), rng.choice((JSON, LINES)), b"\xff" + rng.randbytes(rng.randint(1, 200)), True


def _deep(rng):
    n = rng.choice((10, 1_000, 40_000))
    return _path(rng), JSON, b'{"rows": ' + b"[" * n + b"]" * n + b"}", True


def _lines(rng):
    lines = [_dumped(ROW)] * rng.randint(0, 3)
    lines.append(rng.choice((b"{", b"[1]", b'"x"', b'{"colour": []}', b"nan", b'{"grams": "x"}')))
    return "/v1/predict", LINES, b"\n".join(lines), True


def _arrow(rng):
    """Change bytes of an Arrow stream: it may still be one, but must never end the process."""
    content = bytearray(arrow([ROW] * rng.randint(1, 5)))
    for _ in range(rng.choice((1, 2, 8))):
        content[rng.randrange(len(content))] = rng.randrange(256)
    if rng.random() < 0.3:
        content = content[: rng.randrange(len(content))]
    return "/v1/predict", ARROW, bytes(content), False


def _infer(rng):
    given = {"name": "colour", "datatype": "BYTES", "shape": [1], "data": ["red"]}
    key = rng.choice(list(given))
    odd = [o for o in ODD if o != "x"] if key == "name" else ODD
    given[key] = rng.choice(
        [o for o in odd if not isinstance(o, str) and o != given[key] and o != [1]]
    )
    must = key != "data" or given["data"] not in ([None],)
    return "/v2/models/fruit/infer", JSON, _dumped({"inputs": [given]}), must


def _kinds(rng):
    kind = rng.choice(("", "text/plain", "image/png", "application/xml", "multipart/form-data"))
    return _path(rng), kind, _dumped(_valid(rng, "/v1/predict")), True


async def send_all(app, token, n, seed=0):
    """Send so many; give what was not as it must be, and how often each status came."""
    wrong, statuses = [], {}
    for path, kind, body, must in bodies(n, seed):
        status, content = await asyncio.wait_for(ask(app, path, body, kind, token), 60)
        statuses[status] = statuses.get(status, 0) + 1
        if status == 200:
            if must:
                wrong.append((path, kind, body[:200], status, content[:200]))
            continue
        error = json.loads(content)["error"]
        if not 400 <= status < 500 or not error["field"] or not error["message"]:
            wrong.append((path, kind, body[:200], status, content[:300]))
    return wrong, statuses


def main():
    import warnings

    warnings.simplefilter("ignore")
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory() as folder:
        app, token = application(folder)
        before = (Path(folder) / "fruit.priory").read_bytes()
        wrong, statuses = asyncio.run(send_all(app, token, n))
        same = (Path(folder) / "fruit.priory").read_bytes() == before
    for case in wrong[:10]:
        print(*case, sep="\n  ")
    told = dict(sorted(statuses.items()))
    print(f"{n:,} bodies: statuses {told}, {len(wrong)} wrong, model unchanged: {same}")
    return 1 if wrong or not same else 0


if __name__ == "__main__":
    sys.exit(main())
