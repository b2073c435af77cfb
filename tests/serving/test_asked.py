"""Drift of what was asked lately: what `compare_with` says of the rows, from counts alone."""

import pickle
import struct
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from priory import Classifier, load
from priory.serving import asked as module
from priory.serving.bodies import ARROW, LINES
from priory.serving.tokens import new_token

from .servers import ROOT, client
from .test_service import stream

pytestmark = pytest.mark.filterwarnings("ignore::priory.base.errors.PrioryWarning")

NAMES = ("crime", "immigration", "physician-fee-freeze")


def votes(n, seed=0, p=0.5):
    rng = np.random.default_rng(seed)
    drawn = rng.random((n, len(NAMES)))
    return [
        {
            name: None if x > 0.95 else "y" if x < p else "n"
            for name, x in zip(NAMES, row, strict=True)
        }
        for row in drawn.tolist()
    ]


@pytest.fixture
def counting(models):
    return client({"votes": models / "votes.priory", "days": models / "days.priory"}, drift=True)


def test_it_is_what_the_classifier_says_of_the_same_rows(counting, models):
    rows = votes(80, p=0.9)
    for row in rows[:30]:
        assert counting.post("/v1/predict", json={"rows": [row]}).status_code == 200
    counting.post("/v1/predict", json={"rows": rows[30:40]})
    counting.post(
        "/v1/models/votes/predict", content=stream(rows[40:60]), headers={"content-type": ARROW}
    )
    lines = "\n".join(str(row).replace("'", '"').replace("None", "null") for row in rows[60:70])
    counting.post("/v1/predict", content=lines, headers={"content-type": LINES})
    inputs = [
        {"name": n, "datatype": "BYTES", "shape": [10], "data": [r[n] for r in rows[70:]]}
        for n in NAMES
    ]
    counting.post("/v2/models/votes/infer", json={"inputs": inputs})
    found = counting.get("/v1/drift").json()
    expected = load(models / "votes.priory").compare_with(rows)
    assert (found["rows"], found["asked"], found["learned"]) == (80, 80, 435)
    assert found["columns"] == expected.to_dict()["columns"]
    assert any(one["p_corrected"] < 1e-6 for one in found["columns"])
    prior = {one["class"]: one["prior"] for one in found["prior"]["classes"]}
    assert list(prior.values()) == pytest.approx(expected.prior.prior.tolist(), abs=0.02)
    assert found["calibrated"] and found["model"] == "votes" and found["left_out"] == []
    assert counting.get("/v1/models/votes/drift").json() == found
    assert counting.get("/v1/models/days/drift").json()["asked"] == 0


def test_it_is_off_unless_asked_for(models):
    server = client({"votes": models / "votes.priory"})
    for path in ("/v1/drift", "/v1/models/votes/drift", "/page/votes/drift"):
        refused = server.get(path)
        assert refused.status_code == 409
        assert "--drift" in refused.json()["error"]["message"]
    assert server.app.service.models["votes"].asked is None
    assert server.get("/v1/schema").json()["drifts"] is False
    assert server.get("/v1/models/none/drift").status_code == 404


def test_who_may_ask_may_not_see_what_others_ask(models):
    path = models / "tokens.json"
    asking, ruling = (new_token(path, [scope]) for scope in ("predict", "admin"))
    server = client({"drift": models / "votes.priory"}, token_file=str(path), drift=True)

    def status(where, token):
        return server.get(where, headers={"authorization": f"Bearer {token}"}).status_code

    for where in ("/v1/drift", "/v1/models/drift/drift", "/page/drift/drift"):
        assert (status(where, asking), status(where, ruling)) == (403, 200)
        assert server.get(where).status_code == 401
    assert status("/v1/models/drift/schema", asking) == 200  # a model may have that name


def test_no_value_can_be_read_from_what_is_kept(tmp_path):
    """Labels and words never learned, numbers, and rows: none is in the memory or the answer."""
    rng = np.random.default_rng(1)
    n = 200
    table = {
        "label": rng.choice(["red", "blue"], n),
        "number": rng.normal(size=n),
        "text": [" ".join(rng.choice(["one", "two", "three", "four"], 9)) for _ in range(n)],
    }
    Classifier().update(table, rng.integers(0, 2, n)).save(tmp_path / "m.priory")
    server = client({"m": tmp_path / "m.priory"}, drift=True)
    number = 0.123456789
    secret = {"label": "sentinel-a", "number": number, "text": "two sentinel-b three"}
    assert server.post("/v1/predict", json={"rows": [secret]}).status_code == 200
    asked = server.app.service.models["m"].asked
    kept = pickle.dumps(
        [(w.rows._sums, w.rows.n_rows, w.probabilities.__dict__) for w in asked._windows]
    )
    assert b"sentinel" not in kept
    assert struct.pack("<d", number) not in kept and struct.pack(">d", number) not in kept
    for window in asked._windows:
        for sums in window.rows._sums:
            assert (sums == np.floor(sums)).all()  # counts
    found = server.get("/v1/drift")
    assert found.json()["columns"] == [] and found.json()["prior"] is None  # of one row: nothing
    server.post("/v1/predict", json={"rows": [secret] * 30})
    told = server.get("/v1/drift").text + server.get("/page/m/drift").text
    assert "sentinel" not in told and str(number) not in told
    assert {one["unseen"] for one in server.get("/v1/drift").json()["columns"]} == {0, 1, 0.5}


def test_two_answers_differ_by_no_single_row(counting):
    for row in votes(19):
        counting.post("/v1/predict", json={"rows": [row]})
    assert counting.get("/v1/drift").json()["columns"] == []
    counting.post("/v1/predict", json={"rows": votes(1)})
    first = counting.get("/v1/drift").json()
    assert first["rows"] == 20
    counting.post("/v1/predict", json={"rows": votes(19, 1)})
    second = counting.get("/v1/drift").json()
    assert (second["columns"], second["prior"]) == (first["columns"], first["prior"])
    assert (second["rows"], second["asked"]) == (20, 39)
    counting.post("/v1/predict", json={"rows": votes(1)})
    assert counting.get("/v1/drift").json()["rows"] == 40


def test_only_the_last_windows_are_kept(counting, monkeypatch):
    monkeypatch.setattr(module, "WINDOW", 50)
    asked = counting.app.service.models["votes"].asked
    for seed in range(12):
        counting.post("/v1/predict", json={"rows": votes(25, seed, 0.9 if seed < 6 else 0.5)})
    found = counting.get("/v1/drift").json()
    assert len(asked._windows) == module.WINDOWS and found["asked"] == 150
    monkeypatch.setattr(module, "MANY", 100)
    counting.post("/v1/predict", json={"rows": votes(2_000, 99)})  # a large batch is one window
    assert counting.get("/v1/drift").json()["asked"] == 2_100


def test_it_goes_on_while_the_model_learns_a_little_and_begins_anew_with_another(models):
    path = models / "tokens.json"
    token = new_token(path, ["predict", "learn", "admin"])
    server = client(
        {"votes": models / "votes.priory"}, token_file=str(path), learn=True, drift=True
    )
    server.headers["authorization"] = f"Bearer {token}"

    def learned(verb, rows):
        change = {"rows": rows, "labels": ["democrat"] * len(rows)}
        assert server.post(f"/v1/{verb}", json=change).status_code == 200
        server.post("/v1/predict", json={"rows": votes(20)})
        return server.get("/v1/drift").json()

    server.post("/v1/predict", json={"rows": votes(40)})
    assert server.get("/v1/drift").json()["rows"] == 40
    found = learned("learn", votes(2))
    assert (found["rows"], found["learned"]) == (60, 435)
    assert learned("forget", votes(2))["rows"] == 80  # what was learned since is gone again
    found = learned("learn", votes(60))
    assert (found["rows"], found["learned"]) == (20, 495)
    found = learned("forget", votes(1))  # counted in it is a row that is forgotten now
    assert (found["rows"], found["learned"]) == (20, 494)
    (models / "votes.priory").write_bytes((models / "days.priory").read_bytes())
    server.app.service.models["votes"].look()
    assert server.get("/v1/drift").json()["learned"] == 14


def test_a_file_that_is_predicted_is_asked_and_a_form_is_not(counting):
    table = (ROOT / "src" / "priory" / "examples" / "house_votes.csv").read_bytes()
    kind = {"content-type": "text/csv"}
    counting.post("/page/votes/predict-file", content=table, headers=kind)
    counting.post("/page/votes/explain", json={"row": votes(1)[0]})
    counting.post("/v1/explain", json={"rows": votes(3)})
    found = counting.get("/v1/drift").json()
    assert found["asked"] == 435
    assert max(one["distance"] for one in found["columns"]) == 0.0  # the rows that were learned


@pytest.mark.parametrize("labels", [["a"] * 40, ["a"] * 39 + ["b"], list(range(40))])
def test_few_and_many_classes_are_compared(tmp_path, labels):
    table = {"x": [float(i) for i in range(40)], "c": ["u", "v"] * 20}
    Classifier().update(table, labels).save(tmp_path / "m.priory")
    server = client({"m": tmp_path / "m.priory"}, drift=True)
    rows = [{"x": i / 2, "c": "uvw"[i % 3]} for i in range(30)]
    assert server.post("/v1/predict", json={"rows": rows}).status_code == 200
    found = server.get("/v1/drift").json()
    assert found["rows"] == 30 and len(found["columns"]) == 2
    assert sum(one["prior"] for one in found["prior"]["classes"]) == pytest.approx(1)
    assert server.get("/page/m/drift").status_code == 200


def test_threads_count_every_row_once(models):
    classifier = load(models / "votes.priory")
    asked = module.Asked()
    asked.follow(classifier)
    rows = {size: classifier.frame(votes(size)) for size in (1, 1_200)}
    p = {size: classifier.model.posterior(frame) for size, frame in rows.items()}

    def work(size, times):
        for _ in range(times):
            asked.add(classifier, rows[size], p[size])
            asked.compared()

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(work, 1, 100) for _ in range(3)] + [pool.submit(work, 1_200, 2)]:
            done.result()
    found = asked.compared()
    assert found.asked == 300 + 2_400 and found.drift is not None
    assert sum(window.probabilities.table()[1].sum() for window in asked._windows) == 2_700


def test_readiness_lists_every_model(counting, models):
    assert counting.get("/readyz").json() == {
        "status": "ok",
        "models": {"votes": "ok", "days": "ok"},
    }
    (models / "days.priory").unlink()
    counting.app.service.models["days"].look()
    found = counting.get("/readyz")
    assert found.status_code == 503
    assert found.json()["models"] == {"votes": "ok", "days": "its file is gone"}
