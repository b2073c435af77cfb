"""The routes: what can be asked under which address."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from priory.serving.bodies import ARROW, JSON, LINES, dumped
from priory.serving.kserve import infer, metadata
from priory.serving.openapi import ERRORS, answers_with, asks_for, document
from priory.serving.service import Service, only_json

try:
    from fastapi import FastAPI, Request, Response
except ImportError:  # pragma: no cover - the test environment has it
    from priory.base.errors import SettingError

    raise SettingError(
        "priory serve needs FastAPI and uvicorn: pip install 'priory[web]'."
    ) from None

from priory.serving.pages import add_pages

__all__ = ["make_routes"]

Handler: TypeAlias = Callable[[Request], Awaitable[Response]]

TEXT = "text/plain; version=0.0.4; charset=utf-8"
PREFIXES = ("/v1", "/v1/models/{name}")


def make_routes(service: Service) -> FastAPI:
    """Make the application that answers; who may ask was checked by the gate before it."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False)
    for prefix in PREFIXES:
        _add_questions(app, service, prefix)
    _add_states(app, service)
    _add_kserve(app, service)
    add_pages(app, service)
    return app


def _reply(plain: Any, status: int = 200) -> Response:
    return Response(dumped(plain), status, media_type=JSON)


def _add_questions(app: FastAPI, service: Service, prefix: str) -> None:
    first = prefix == PREFIXES[0]

    def named(request: Request) -> str | None:
        return None if first else request.path_params["name"]

    def add(path: str, method: str, asks: Any, answers: Any) -> Callable[[Handler], Handler]:
        return app.api_route(
            f"{prefix}/{path}",
            methods=[method],
            operation_id=path if first else f"{path}_by_name",
            responses=answers,
            openapi_extra={"parameters": [] if first else [NAMED], **(asks or {})},
        )

    binary = (LINES, ARROW)

    @add(
        "predict",
        "POST",
        asks_for("Question", *binary),
        answers_with("Predictions", *binary),
    )
    async def predict(request: Request) -> Response:
        """Predict the class of every row, with the probability of each class."""
        headers = request.headers
        given = headers.get("content-type", ""), headers.get("accept", "")
        kind, body = await service.predict(named(request), await request.body(), *given)
        return Response(body, media_type=kind)

    @add("explain", "POST", asks_for("ExplainQuestion"), answers_with("Explanations"))
    async def explain(request: Request) -> Response:
        """Work out the sum behind each prediction; with intervals, and what would change it."""
        kind = request.headers.get("content-type", "")
        return _reply(await service.explain(named(request), await request.body(), kind))

    @add("schema", "GET", None, answers_with("Schema"))
    async def schema(request: Request) -> Response:
        """Describe the columns and classes of the model."""
        return _reply(service.describe(named(request)))

    @add("drift", "GET", None, answers_with("Drift"))
    async def drift(request: Request) -> Response:
        """Compare what was asked lately with what was learned, where the server counts it."""
        found = await service.drift(named(request))
        return _reply({**found.to_dict(), "model": service.model(named(request)).name})

    @add("learn", "POST", asks_for("Change"), answers_with("Changed"))
    async def learn(request: Request) -> Response:
        """Learn rows with their classes; they are on the disk when this answers."""
        kind = request.headers.get("content-type", "")
        return _reply(await service.change("learn", named(request), await request.body(), kind))

    @add("forget", "POST", asks_for("Change"), answers_with("Changed"))
    async def forget(request: Request) -> Response:
        """Take rows away that were learned, as if they had never been seen."""
        kind = request.headers.get("content-type", "")
        return _reply(await service.change("forget", named(request), await request.body(), kind))


NAMED = {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}


def _add_states(app: FastAPI, service: Service) -> None:
    @app.get("/healthz", operation_id="healthz", responses={200: ANY})
    async def healthz() -> Response:
        """Say that the server is there."""
        return _reply({"status": "ok"})

    @app.get("/readyz", operation_id="readyz", responses={200: ANY, 503: ANY})
    async def readyz() -> Response:
        """Say whether every model is what its file holds."""
        status = "ok" if service.is_ready else "stale"
        told = {"status": status, "models": service.states()}
        return _reply(told, 200 if service.is_ready else 503)

    @app.get("/v1/models", operation_id="models", responses=answers_with("Any"))
    async def models() -> Response:
        """List the models."""
        told = [{"name": n, "version": m.current().version} for n, m in service.models.items()]
        return _reply({"models": told, "first": service.configuration.first})

    @app.get("/v1/metrics", operation_id="metrics", responses={200: METRICS, **ERRORS})
    async def metrics() -> Response:
        """Tell the counts of this worker, for Prometheus."""
        text = service.metrics.text(service.gauges())
        return Response(text, headers={"content-type": TEXT})

    @app.get("/v1/openapi.json", operation_id="openapi", responses=answers_with("Any"))
    async def openapi() -> Response:
        """Describe this API, by the columns and classes of the first model."""
        described = service.describe(None)
        has_tokens = service.configuration.token_file is not None
        return _reply(document(app.openapi(), described, list(service.models), has_tokens))


ANY = {
    "description": "The answer.",
    "content": {JSON: {"schema": {"$ref": "#/components/schemas/Any"}}},
}
METRICS = {
    "description": "The metrics.",
    "content": {"text/plain": {"schema": {"type": "string"}}},
}


def _add_kserve(app: FastAPI, service: Service) -> None:
    named = {"parameters": [NAMED]}

    @app.get("/v2", operation_id="v2", responses={200: ANY})
    async def server() -> Response:
        """Describe the server, as the Open Inference Protocol does."""
        from priory.base.version import __version__

        return _reply({"name": "priory", "version": __version__, "extensions": []})

    @app.get("/v2/health/live", operation_id="v2_live", responses={200: ANY})
    async def live() -> Response:
        """Say that the server is there."""
        return _reply({"live": True})

    @app.get("/v2/health/ready", operation_id="v2_ready", responses={200: ANY, 503: ANY})
    async def ready() -> Response:
        """Say whether every model is what its file holds."""
        good = service.is_ready
        return _reply({"ready": good}, 200 if good else 503)

    @app.get(
        "/v2/models/{name}",
        operation_id="v2_model",
        responses=answers_with("Any"),
        openapi_extra=named,
    )
    async def described(request: Request) -> Response:
        """Describe the inputs and outputs of a model."""
        name = request.path_params["name"]
        return _reply(metadata(service.model(name), service.describe(name)["columns"]))

    @app.get(
        "/v2/models/{name}/ready",
        operation_id="v2_model_ready",
        responses=answers_with("Any"),
        openapi_extra=named,
    )
    async def model_ready(request: Request) -> Response:
        """Say whether a model is what its file holds."""
        model = service.model(request.path_params["name"])
        good = model.problem is None
        return _reply({"name": model.name, "ready": good}, 200 if good else 503)

    @app.post(
        "/v2/models/{name}/infer",
        operation_id="v2_infer",
        responses=answers_with("Any"),
        openapi_extra={**named, **asks_for("Inference")},
    )
    async def inferred(request: Request) -> Response:
        """Predict rows that are given as one input for each column."""
        model = service.model(request.path_params["name"])
        only_json(request.headers.get("content-type", JSON))
        body = await request.body()
        found = await service.in_thread(lambda: infer(model, body, service.limits.rows))
        service.metrics.rows(model.name, "predict", found["outputs"][0]["shape"][0])
        return _reply(found)
