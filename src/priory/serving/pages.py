"""The page: one file of HTML, its scripts and sheets, and what its views ask for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cache
from importlib import resources
from typing import Any, TypeAlias

from fastapi import FastAPI, Request, Response

from priory.reporting.markup import asset
from priory.serving.bodies import JSON, checked_rows, dumped, parsed
from priory.serving.models import ServedModel
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
