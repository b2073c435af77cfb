"""Whatever is sent, nothing fails or hangs: bodies at random, and requests drawn from OpenAPI."""

import asyncio
import json

import httpx
import pytest

from .malformed import application, send_all
from .servers import Client

pytestmark = pytest.mark.filterwarnings("ignore::priory.base.errors.PrioryWarning")


def test_malformed_bodies_are_refused_by_the_field(tmp_path):
    app, token = application(tmp_path)
    before = (tmp_path / "fruit.priory").read_bytes()
    wrong, statuses = asyncio.run(send_all(app, token, 1_000, seed=7))
    assert wrong == [] and statuses[400] > 700
    assert (tmp_path / "fruit.priory").read_bytes() == before


def test_what_the_description_allows_never_fails(tmp_path):
    """Schemathesis draws requests from the OpenAPI document; answers are as that says."""
    pytest.importorskip("schemathesis")
    from .described import run_described

    app, token = application(tmp_path)
    asked = run_described(app, token, examples=2)
    assert len(asked) >= 20 and all(n >= 1 for n in asked.values())


def test_the_description_is_that_of_the_model(tmp_path):
    app, token = application(tmp_path)
    client = Client(app)
    client.headers["authorization"] = f"Bearer {token}"
    found = client.get("/v1/openapi.json").json()
    row = found["components"]["schemas"]["Row"]
    assert set(row["properties"]) == {"colour", "grams", "ripe", "note"}
    assert row["properties"]["grams"]["type"] == ["number", "null"]
    example = found["components"]["schemas"]["Question"]["examples"][0]
    answer = client.post("/v1/predict", json=example)
    assert isinstance(answer, httpx.Response) and answer.status_code == 200
    assert "422" not in json.dumps(found)
