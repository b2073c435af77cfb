"""Files that are tried on the page: read, trained on, compared and predicted, in memory alone."""

import csv
import io
import time

import pytest

from priory import load, train
from priory.serving.tokens import new_token

from .servers import ROOT, client

pytestmark = pytest.mark.filterwarnings("ignore::priory.base.errors.PrioryWarning")

DAYS = ROOT / "examples" / "play_tennis.csv"
CSV = {"content-type": "text/csv"}


@pytest.fixture
def server(models):
    return client({"days": models / "days.priory", "votes": models / "votes.priory"})


def tried(server, content, target, model="days"):
    begun = server.post(f"/page/{model}/try?target={target}", content=content, headers=CSV)
    assert begun.status_code == 200, begun.text
    name = begun.json()["trial"]
    for _ in range(600):
        found = server.get(f"/page/{model}/try/{name}").json()
        if found["stage"] in ("done", "failed"):
            return name, found
        time.sleep(0.05)
    raise AssertionError("the trial did not end")


def test_a_file_is_read_trained_on_and_compared(server, models, tmp_path):
    name, found = tried(server, DAYS.read_bytes(), "play")
    assert found["stage"] == "done" and found["error"] == ""
    assert "What was read" in found["html"] and "accuracy" in found["html"]
    content = server.get(f"/page/days/try/{name}/model").content
    (tmp_path / "new.priory").write_bytes(content)
    assert load(tmp_path / "new.priory").statistics == train(DAYS, "play").statistics
    answer = server.post(
        f"/page/days/predict-file?trial={name}", content=DAYS.read_bytes(), headers=CSV
    )
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    expected = train(DAYS, "play").predict_proba(
        list(csv.DictReader(DAYS.read_text().splitlines()))
    )
    assert [float(row["P(Yes)"]) for row in rows] == expected[:, 1].tolist()
    served = server.post("/page/days/predict-file", content=DAYS.read_bytes(), headers=CSV)
    assert len(served.text.splitlines()) == 15


def test_other_classes_are_not_compared(server):
    _, found = tried(server, DAYS.read_bytes(), "play", "votes")
    assert found["stage"] == "done" and "other classes" in found["html"]


@pytest.mark.parametrize(
    ("content", "target", "told"),
    [
        (b"", "", ""),
        (b"a,b\n1,2\n", "c", "not found"),
        (b"\x00\xff\xfe", "", ""),
        (b"a,b\n1,2\n", "b", ""),
    ],
)
def test_a_file_that_cannot_be_is_said_without_a_path(server, content, target, told):
    _, found = tried(server, content, target)
    assert "/tmp" not in found["error"] + found["html"] and "priory-try" not in found["error"]
    assert told in found["error"]


def test_only_csv_is_taken_and_only_by_an_admin(server, models):
    assert (
        server.post(
            "/page/days/try", content=b"a", headers={"content-type": "text/plain"}
        ).status_code
        == 415
    )
    assert server.get("/page/days/try/none").status_code == 404
    tokens = models / "tokens.json"
    asking, ruling = (new_token(tokens, scopes) for scopes in (["predict"], ["predict", "admin"]))
    guarded = client({"days": models / "days.priory"}, token_file=str(tokens))
    for token, status in ((asking, 403), (ruling, 200)):
        headers = {**CSV, "authorization": f"Bearer {token}"}
        found = guarded.post("/page/days/try?target=", content=DAYS.read_bytes(), headers=headers)
        assert found.status_code == status


def test_views_are_made_of_the_report(server):
    for view in ("overview", "ask", "quality"):
        found = server.get(f"/page/votes/{view}").json()
        assert "<section" in found["html"] and "<script" not in found["html"]
    assert [curve["class"] for curve in found["curves"]] == ["democrat", "republican"]
    answer = server.post("/page/votes/explain", json={"row": {"crime": "y"}}).json()
    p = server.post("/v1/models/votes/predict", json={"rows": [{"crime": "y"}]}).json()
    assert answer["probabilities"] == p["predictions"][0]["probabilities"]
    assert "What would flip it" in answer["html"]
    page = server.get("/")
    assert page.status_code == 200 and "style=" not in page.text
    assert server.get("/assets/serving.js").headers["content-type"].startswith("text/javascript")
    assert server.get("/assets/gate.py").status_code == 404
    assert server.post("/page/votes/explain", json={"row": {"crime": []}}).status_code == 400
