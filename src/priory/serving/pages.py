"""The page: one file of HTML, its scripts and sheets, and what its views ask for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cache
from importlib import resources
from typing import Any, TypeAlias

from fastapi import FastAPI, Request, Response

from priory.reporting.markup import asset
from priory.serving.bodies import JSON, checked_rows, dumped, parsed
from priory.serving.models import Loaded, ServedModel
from priory.serving.refusals import Refusal
from priory.serving.service import Service, only_json, required

__all__ = ["add_pages"]

Handler: TypeAlias = Callable[[Request], Awaitable[Response]]

OURS = {"serving.css": "text/css", "serving.js": "text/javascript"}
REPORTS = {
    "page.css": "text/css",
    "page.js": "text/javascript",
    "scoring.js": "text/javascript",
}
CSV = "text/csv"
VIEWS = ("overview", "ask", "quality")


def add_pages(app: FastAPI, service: Service) -> None:
    """Add the page to the routes; its data need what the API needs."""

    def add(path: str, method: str = "GET") -> Callable[[Handler], Handler]:
        return app.api_route(path, methods=[method], include_in_schema=False)

    @add("/")
    async def page(request: Request) -> Response:
        return Response(_own("page.html"), media_type="text/html; charset=utf-8")

    @add("/assets/{name}")
    async def assets(request: Request) -> Response:
        name = request.path_params["name"]
        if name in OURS:
            return Response(_own(name), media_type=OURS[name])
        if name in REPORTS:
            return Response(asset(name), media_type=REPORTS[name])
        raise Refusal(404, "There is nothing at this address.", "path")

    @add("/page/{name}/drift")
    async def drift(request: Request) -> Response:
        from priory.serving.views import drift_view

        return _reply(drift_view(await service.drift(request.path_params["name"])))

    @add("/page/{name}/{view}")
    async def view(request: Request) -> Response:
        model, wanted = _model(service, request), request.path_params["view"]
        if wanted not in VIEWS:
            raise Refusal(404, "There is no such view.", "path")
        return _reply(await service.in_thread(lambda: _view(model, wanted)))

    @add("/page/{name}/explain", "POST")
    async def explain(request: Request) -> Response:
        from priory.serving.views import explained_view

        model = _model(service, request)
        only_json(request.headers.get("content-type", ""))
        asked = parsed(await request.body(), {"row": "an object"})
        (row,) = checked_rows([required(asked, "row")], 1, "row")
        loaded = model.current()
        found = await service.in_thread(lambda: explained_view(loaded, row))
        service.metrics.rows(model.name, "explain", 1)
        return _reply({**found, "version": loaded.version})

    if service.configuration.tries:
        _add_trials(app, service)


def _add_trials(app: FastAPI, service: Service) -> None:
    from priory.serving.trials import Trials, predicted_file, saved_bytes

    trials = Trials()

    def add(path: str, method: str = "GET") -> Callable[[Handler], Handler]:
        return app.api_route(path, methods=[method], include_in_schema=False)

    async def table_of(request: Request) -> bytes:
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != CSV:
            raise Refusal(415, f"Content-Type must be {CSV} here.", "Content-Type")
        return await request.body()

    @add("/page/{name}/try", "POST")
    async def begin(request: Request) -> Response:
        current, content = _model(service, request).current(), await table_of(request)
        target = request.query_params.get("target", "")
        return _reply({"trial": trials.begin(content, target, current)})

    @add("/page/{name}/try/{trial}")
    async def told(request: Request) -> Response:
        return _reply(trials.find(request.path_params["trial"]).told())

    @add("/page/{name}/try/{trial}/model")
    async def model(request: Request) -> Response:
        found = trials.model(request.path_params["trial"])
        content = await service.in_thread(lambda: saved_bytes(found))
        return Response(content, media_type="application/octet-stream")

    @add("/page/{name}/predict-file", "POST")
    async def predict(request: Request) -> Response:
        content, trial = await table_of(request), request.query_params.get("trial", "")
        served = _model(service, request).current()
        asked = Loaded(trials.model(trial), trial) if trial else served
        most = service.limits.rows
        found = await service.in_thread(lambda: predicted_file(asked, content, most))
        return Response(found, media_type=CSV)


def _model(service: Service, request: Request) -> ServedModel:
    return service.model(request.path_params["name"])


def _view(model: ServedModel, wanted: str) -> dict[str, Any]:
    from priory.serving import views

    loaded = model.current()
    if len(loaded.classifier.classes) < 2:
        raise Refusal(409, "The model knows one class alone: there is nothing to tell apart.")
    if wanted not in loaded.kept:
        loaded.kept[wanted] = getattr(views, f"{wanted}_view")(loaded)
    return {**loaded.kept[wanted], "version": loaded.version}


@cache
def _own(name: str) -> str:
    return (resources.files("priory.serving") / name).read_text("utf-8")


def _reply(plain: Any) -> Response:
    return Response(dumped(plain), media_type=JSON)
