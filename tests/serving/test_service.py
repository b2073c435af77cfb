"""What the API answers is what the classifier says, on every road in."""

import json
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from priory import Classifier, Settings, load
from priory.base.errors import SettingError
from priory.serving import Configuration, Limits
from priory.serving.bodies import ARROW, JSON, LINES
from priory.serving.tokens import new_token

from .servers import client

pytestmark = pytest.mark.filterwarnings("ignore::priory.base.errors.PrioryWarning")

DAY = {"outlook": "Sunny", "temperature": "Cool", "humidity": "High", "wind": "Strong"}
SOME = [DAY, {"outlook": "Rain"}, {}, {"outlook": None, "wind": " Weak "}, {"outlook": "Hail"}]


def stream(rows):
    table = pa.Table.from_pylist(rows)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as out:
        out.write_table(table)
    return sink.getvalue().to_pybytes()


@pytest.fixture
def days(models):
    return client({"days": models / "days.priory", "votes": models / "votes.priory"})


@pytest.fixture
def taught(models):
    token = new_token(models / "tokens.json", ["predict", "learn"])
    found = client(
        {"days": models / "days.priory"}, token_file=str(models / "tokens.json"), learn=True
    )
    found.headers["authorization"] = f"Bearer {token}"
    return found


def test_json_rows_are_answered_as_the_classifier_does(days, models):
    classifier = load(models / "days.priory")
    for rows in (SOME, SOME[:1], []):
        found = days.post("/v1/predict", json={"rows": rows}).json()
        expected = [
            classifier.predict_proba({k: v and v.strip() for k, v in r.items()}) for r in rows
        ]
        p = [list(answer["probabilities"].values()) for answer in found["predictions"]]
        assert p == [e[0].tolist() for e in expected]
        assert [a["prediction"] for a in found["predictions"]] == [
            classifier.classes[e[0].argmax()] for e in expected
        ]
    assert found["model"] == "days"


def test_lines_and_arrow_say_the_same(days):
    plain = days.post("/v1/predict", json={"rows": SOME}).json()["predictions"]
    lines = "\n".join(json.dumps(row) for row in SOME)
    found = days.post("/v1/predict", content=lines, headers={"content-type": LINES})
    assert [json.loads(line) for line in found.text.splitlines()] == plain
    given = [{name: row.get(name) for name in DAY} for row in SOME]
    found = days.post("/v1/predict", content=stream(given), headers={"content-type": ARROW})
    assert found.headers["content-type"] == ARROW
    table = pa.ipc.open_stream(found.content).read_all()
    assert table["prediction"].to_pylist() == [answer["prediction"] for answer in plain]
    assert table["P(Yes)"].to_pylist() == [answer["probabilities"]["Yes"] for answer in plain]
    mixed = {"content-type": ARROW, "accept": JSON}
    found = days.post("/v1/predict", content=stream(given), headers=mixed)
    assert found.json()["predictions"] == plain


def test_a_column_that_is_not_there_is_a_gap_in_arrow_too(days):
    rows = [{"outlook": "Rain", "more": 1}, {"outlook": " Sunny", "more": 2}, {"outlook": ""}]
    plain = days.post("/v1/predict", json={"rows": rows}).json()["predictions"]
    mixed = {"content-type": ARROW, "accept": JSON}
    found = days.post("/v1/predict", content=stream(rows), headers=mixed)
    assert found.json()["predictions"] == plain
    odd = stream([{"outlok": "Rain", "wind": "Weak"}])
    found = days.post("/v1/predict", content=odd, headers={"content-type": ARROW})
    assert (found.status_code, found.json()["error"]["field"]) == (400, "outlok")


def test_a_compressed_stream_is_refused(days):
    """A megabyte could unpack to more than the machine has."""
    table = pa.table(
        {"outlook": pa.array(["Sunny"] * 100).dictionary_encode(), "wind": ["Weak"] * 100}
    )
    for packed in ("zstd", "lz4", None):
        sink = pa.BufferOutputStream()
        options = pa.ipc.IpcWriteOptions(compression=packed)
        with pa.ipc.new_stream(sink, table.schema, options=options) as out:
            out.write_table(table)
        body = sink.getvalue().to_pybytes()
        found = days.post("/v1/predict", content=body, headers={"content-type": ARROW})
        assert found.status_code == (200 if packed is None else 400)
        if packed is not None:
            assert "must not be compressed" in found.json()["error"]["message"]


def test_the_second_door_says_the_same(days):
    plain = days.post("/v1/predict", json={"rows": SOME[:2]}).json()["predictions"]
    inputs = [
        {"name": name, "datatype": "BYTES", "shape": [2], "data": [r.get(name) for r in SOME[:2]]}
        for name in DAY
    ]
    found = days.post("/v2/models/days/infer", json={"id": "7", "inputs": inputs}).json()
    assert found["id"] == "7" and found["model_name"] == "days"
    prediction, p = found["outputs"]
    assert prediction["data"] == [answer["prediction"] for answer in plain]
    assert p["shape"] == [2, 2]
    assert p["data"] == [x for answer in plain for x in answer["probabilities"].values()]
    described = days.get("/v2/models/days").json()
    assert [column["name"] for column in described["inputs"]] == list(DAY)
    assert days.get("/v2/health/ready").json() == {"ready": True}
    wrong = [{**inputs[0], "shape": [3]}]
    refused = days.post("/v2/models/days/infer", json={"inputs": wrong})
    assert (refused.status_code, refused.json()["error"]["field"]) == (400, "inputs[0].shape")


def test_models_are_asked_by_name(days, models):
    row = {"rows": [{"crime": "y"}]}
    p = days.post("/v1/models/votes/predict", json=row).json()["predictions"][0]["probability"]
    assert p == load(models / "votes.priory").predict_proba({"crime": "y"}).max()
    assert days.post("/v1/models/none/predict", json=row).status_code == 404
    assert [m["name"] for m in days.get("/v1/models").json()["models"]] == ["days", "votes"]


def test_an_explanation_has_the_sum_intervals_and_what_would_flip_it(days, models):
    asked = {"rows": [DAY], "intervals": True, "what_if": True}
    (found,) = days.post("/v1/explain", json=asked).json()["explanations"]
    expected = load(models / "days.priory").explain([DAY])[0].to_dict()
    assert {key: found[key] for key in expected} == expected
    total = sum(f["log_likelihood"]["No"] for f in found["factors"]) + found["log_prior"]["No"]
    assert np.isclose(total, found["log_joint"]["No"])
    assert (
        found["intervals"]["low"]["No"]
        < found["posterior"]["No"]
        < found["intervals"]["high"]["No"]
    )
    assert found["what_if"]["becomes"] == "Yes" and found["what_if"]["changes"]


def test_the_schema_is_that_of_the_model(days):
    found = days.get("/v1/schema").json()
    assert found["classes"] == ["No", "Yes"] and found["rows"] == 14 and found["target"] == "play"
    assert found["columns"][0]["values"] == ["Overcast", "Rain", "Sunny"]


@pytest.fixture
def parcels(tmp_path):
    """Serve a model of dates, of ordered categories by their places, and of others as labels."""
    rng = np.random.default_rng(0)
    y, sizes = rng.integers(0, 2, 60), ["S", "M", "XL"]
    drawn = [rng.choice(sizes, 60, p=[0.3, 0.4, 0.3]) for _ in range(2)]
    X = pd.DataFrame(
        {
            "when": pd.Timestamp("2024-05-06") + pd.to_timedelta(rng.integers(0, 90, 60), unit="D"),
            "size": pd.Categorical(drawn[0], sizes, ordered=True),
            "shown": pd.Categorical(drawn[1], sizes, ordered=True),
        }
    )
    settings = Settings.textbook(families={"size": "gaussian"})
    Classifier(settings).update(X, y).save(tmp_path / "parcels.priory")
    return client({"parcels": tmp_path / "parcels.priory"})


def test_examples_of_dates_and_ordered_categories_are_what_can_be_asked(parcels):
    described = parcels.get("/v1/openapi.json").json()["components"]["schemas"]
    row, columns = described["Row"]["examples"][0], described["Row"]["properties"]
    assert re.fullmatch(r"2024-0[5-8]-\d\d", row["when"]) and row["size"] in ("S", "M", "XL")
    assert {name: told["examples"][0] for name, told in columns.items()} == row
    assert columns["size"]["description"] == "Learned: S, M, XL"
    assert parcels.post("/v1/predict", json={"rows": [row]}).status_code == 200
    inputs = parcels.get("/v2/models/parcels").json()["inputs"]
    assert {one["name"]: one["datatype"] for one in inputs} == dict.fromkeys(row, "BYTES")


def test_the_views_write_dates_and_ordered_categories_as_people_do(parcels):
    assert parcels.get("/page/parcels/overview").status_code == 200
    columns = parcels.get("/page/parcels/ask").json()["data"]["columns"]
    assert [c.get("names", c.get("values")) for c in columns][1:] == [["S", "M", "XL"]] * 2
    row = {"when": "2024-06-07", "size": "M", "shown": "XL"}
    found = parcels.post("/page/parcels/explain", json={"row": row}).json()["html"]
    assert "when = 2024-06-07" in found and "size = M" in found
    assert not re.search(r"1\.7\d*e\+09", found)
    assert "Not tried: when (a date)." in found


def test_what_the_page_says_the_file_holds_is_so(models):
    found = client({name: models / f"{name}.priory" for name in ("days", "votes")})
    assert "no row of the data" in found.get("/page/days/overview").json()["html"]
    assert "a sample of its rows" in found.get("/page/votes/overview").json()["html"]


# Learning


def test_what_is_learned_is_in_the_file_and_can_be_forgotten(taught, models):
    before = load(models / "days.priory").statistics
    rows = {"rows": [DAY, DAY], "labels": ["Yes", "No"]}
    found = taught.post("/v1/learn", json=rows)
    assert found.json()["learn"] == 2 and found.json()["rows"] == 16
    kept = load(models / "days.priory")
    assert kept.statistics.n_rows == 16
    assert kept.provenance.sources[-1].rows == 2
    p = taught.post("/v1/predict", json={"rows": [DAY]}).json()
    assert p["predictions"][0]["probability"] == kept.predict_proba(DAY).max()
    assert p["version"] == found.json()["version"]
    assert taught.post("/v1/forget", json=rows).json()["rows"] == 14
    assert load(models / "days.priory").statistics == before


def test_a_numbered_change_is_counted_once(taught):
    change = {"rows": [DAY], "labels": ["Yes"], "stream": "till 3", "number": 1}
    assert taught.post("/v1/learn", json=change).json()["learn"] == 1
    again = taught.post("/v1/learn", json=change).json()
    assert (again["learn"], again["rows"]) == (0, 15)
    assert taught.post("/v1/learn", json={**change, "number": 2}).json()["rows"] == 16


@pytest.mark.parametrize(
    ("change", "status", "field"),
    [
        ({"rows": [DAY], "labels": ["Maybe"]}, 400, "labels"),
        ({"rows": [DAY], "labels": []}, 400, "labels"),
        ({"rows": [DAY], "labels": [None]}, 400, "labels[0]"),
        ({"rows": [DAY]}, 400, "labels"),
        ({"rows": [], "labels": []}, 400, "rows"),
        ({"rows": [DAY], "labels": ["Yes"], "stream": "s"}, 400, "number"),
        ({"rows": [DAY], "labels": ["Yes"], "stream": "s", "number": -1}, 400, "number"),
        ({"rows": [DAY], "labels": ["Yes"], "stream": "", "number": 1}, 400, "stream"),
        ({"rows": [{"outlok": "Rain"}], "labels": ["Yes"]}, 400, "outlok"),
    ],
)
def test_a_change_that_cannot_be_names_the_field(taught, models, change, status, field):
    content = (models / "days.priory").read_bytes()
    found = taught.post("/v1/learn", json=change)
    assert (found.status_code, found.json()["error"]["field"]) == (status, field)
    assert (models / "days.priory").read_bytes() == content


def test_rows_that_were_never_learned_are_not_forgotten(taught):
    found = taught.post("/v1/forget", json={"rows": [{**DAY, "wind": "Gale"}], "labels": ["Yes"]})
    assert found.status_code == 409


def test_a_new_class_must_be_asked_for(taught):
    change = {"rows": [DAY], "labels": ["Maybe"], "new_classes": True}
    assert taught.post("/v1/learn", json=change).status_code == 200
    assert taught.get("/v1/schema").json()["classes"] == ["Maybe", "No", "Yes"]


def test_learning_is_off_unless_asked_for(days):
    assert days.post("/v1/learn", json={"rows": [DAY], "labels": ["Yes"]}).status_code == 403


# Safety


def test_tokens_open_what_they_are_for(models):
    path = models / "tokens.json"
    asking, ruling = (new_token(path, [scope]) for scope in ("predict", "admin"))
    server = client({"days": models / "days.priory"}, token_file=str(path), learn=True)
    row = {"rows": [DAY]}

    def status(method, where, token, **more):
        headers = {} if token is None else {"authorization": f"Bearer {token}"}
        return server.request(method, where, headers=headers, **more).status_code

    assert status("POST", "/v1/predict", None, json=row) == 401
    assert status("POST", "/v1/predict", asking[:-1], json=row) == 401
    assert status("POST", "/v1/predict", asking, json=row) == 200
    assert status("POST", "/v1/predict", ruling, json=row) == 403
    assert status("POST", "/v1/learn", asking, json={**row, "labels": ["Yes"]}) == 403
    assert status("GET", "/v1/metrics", asking) == 403
    assert status("GET", "/v1/metrics", ruling) == 200
    for end in ("%0A", "%0D%0A", "%00", "%7F"):  # to a route's pattern a newline ends a path
        assert status("GET", f"/v1/metrics{end}", asking) == 404
        change = {**row, "labels": ["Yes"]}
        assert status("POST", f"/v1/learn{end}", asking, json=change) == 404
        assert status("POST", f"/v1/models/days/learn{end}", asking, json=change) == 404
    assert status("GET", "/healthz", None) == 200
    assert asking not in path.read_text() and path.stat().st_mode & 0o077 == 0
    path.write_text('{"tokens": []}')
    assert status("POST", "/v1/predict", asking, json=row) == 401


def test_an_unknown_token_is_not_said_to_be_missing(models):
    new_token(models / "tokens.json", ["predict"])
    found = client({"days": models / "days.priory"}, token_file=str(models / "tokens.json"))
    for headers, told in (({}, "A token is needed"), (BAD, "This token is not known")):
        refused = found.get("/v1/schema", headers=headers)
        assert refused.status_code == 401
        assert refused.json()["error"]["message"].startswith(told)


BAD = {"authorization": "Bearer nothing"}


@pytest.mark.parametrize("name", ["", "a/b", "..", " ", "a\n"])
def test_a_model_has_a_name_that_can_be_asked_for(name):
    with pytest.raises(SettingError, match="cannot stand in an address"):
        Configuration({name: "days.priory"})


def test_other_pages_and_other_names_are_refused(days):
    row = {"json": {"rows": [DAY]}}
    own = days.post("/v1/predict", headers={"origin": "http://127.0.0.1"}, **row)
    assert own.status_code == 200 and "access-control-allow-origin" not in own.headers
    other = days.post("/v1/predict", headers={"origin": "http://evil.example"}, **row)
    assert (other.status_code, other.json()["error"]["field"]) == (403, "Origin")
    rebound = days.post("/v1/predict", headers={"host": "evil.example"}, **row)
    assert (rebound.status_code, rebound.json()["error"]["field"]) == (403, "Host")
    plain = days.post("/v1/predict", content=b"{}", headers={"content-type": "text/plain"})
    assert plain.status_code == 415


def test_limits_are_kept(models):
    limits = Limits(body=2_000, rows=3, explained=1)
    server = client({"days": models / "days.priory"}, limits=limits)
    assert server.post("/v1/predict", json={"rows": [{}] * 3}).status_code == 200
    many = server.post("/v1/predict", json={"rows": [{}] * 4})
    assert (many.status_code, many.json()["error"]["field"]) == (413, "rows")
    large = server.post("/v1/predict", json={"rows": [{"outlook": "x" * 3_000}]})
    assert (large.status_code, large.json()["error"]["field"]) == (413, "body")

    async def pieces():
        for _ in range(2):
            yield b" " * 1_500

    pieces = server.post("/v1/predict", content=pieces())
    assert pieces.status_code == 413
    assert server.post("/v1/explain", json={"rows": [{}] * 2}).status_code == 413
    assert (
        server.post(
            "/v1/predict", content=stream([DAY] * 4), headers={"content-type": ARROW}
        ).status_code
        == 413
    )


def test_answers_that_take_too_long_and_too_many_are_refused(models):
    slow = client({"votes": models / "votes.priory"}, limits=Limits(seconds=0.001))
    asked = {"rows": [{"crime": "y"}], "what_if": True}
    found = slow.post("/v1/explain", json=asked)
    assert found.status_code == 503 and found.headers["retry-after"] == "1"
    full = client({"votes": models / "votes.priory"})
    full.app.service._running = full.app.service.limits.at_once
    assert full.post("/v1/explain", json=asked).status_code == 429


def test_errors_tell_no_path_and_answers_are_guarded(days, models):
    (models / "days.priory").write_bytes(b"PAR1 no model")
    days.app.service.models["days"].look()
    found = days.post("/v1/predict", json={"rows": [DAY]})
    assert found.status_code == 200  # by the model before
    ready = days.get("/readyz")
    assert ready.status_code == 503 and str(models) not in ready.text
    door = days.get("/v2/models/days/ready")
    assert (door.status_code, door.json()["ready"]) == (503, False)
    gone = days.get("/v1/schema/")
    assert gone.status_code == 404 and gone.json()["error"]["field"] == "path"
    assert "unsafe-inline" not in found.headers["content-security-policy"]
    assert found.headers["x-content-type-options"] == "nosniff"
    given = days.get("/healthz", headers={"x-request-id": "mine-1"})
    assert given.headers["x-request-id"] == "mine-1"
    odd = days.get("/healthz", headers={"x-request-id": "a b\x7f"})
    assert odd.headers["x-request-id"] != "a b\x7f"


def test_the_log_has_no_values(models, capfd, monkeypatch):
    server = client({"days": models / "days.priory"})
    object.__setattr__(server.app.configuration, "log", "requests")
    server.post("/v1/predict", json={"rows": [{"outlook": "Sunny", "temperature": [1]}]})
    server.post("/v1/predict", json={"rows": [DAY]})

    def broken(*_):
        raise KeyError("Sunny")

    monkeypatch.setattr(server.app.service, "describe", broken)
    assert server.get("/v1/schema").status_code == 500
    lines = [json.loads(line) for line in capfd.readouterr().err.splitlines()]
    assert [line["status"] for line in lines] == [400, 200, 500]
    assert "Sunny" not in json.dumps(lines) and lines[2]["failure"] == "KeyError"


def test_metrics_count(days):
    days.post("/v1/predict", json={"rows": SOME})
    text = days.get("/v1/metrics").text
    assert 'priory_rows_total{model="days",verb="predict"' in text
    assert 'route="/v1/predict",status="200"' in text


# Reloading


def test_a_changed_file_is_loaded_whole_or_not_at_all(days, models):
    path, model = models / "days.priory", days.app.service.models["days"]
    before = days.post("/v1/predict", json={"rows": [DAY]}).json()
    good = path.read_bytes()
    path.write_bytes(good[:-200] + b"\0" * 200)
    model.look()
    assert days.post("/v1/predict", json={"rows": [DAY]}).json() == before
    assert model.failed_reloads == 1 and days.get("/readyz").status_code == 503
    load(models / "votes.priory").save(path.with_name("new"))
    path.with_name("new").replace(path)
    model.look()
    assert days.get("/readyz").status_code == 200
    assert days.get("/v1/schema").json()["classes"] == ["democrat", "republican"]
