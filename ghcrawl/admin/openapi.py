"""The routes as an OpenAPI 3.1 document, made from the very values that answer them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final, cast

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from ghcrawl import __version__
from ghcrawl.admin.problems import CONTENT_TYPE, ProblemShape
from ghcrawl.admin.routing import Asked, Nothing, Route, routed
from ghcrawl.admin.running import Changing, changing_schema
from ghcrawl.settings.sections import Settings
from ghcrawl.values.lanes import QUEUES

PATH: Final = "/api/openapi.json"
_REF: Final = "#/components/schemas/{model}"
_PARAMETER = re.compile(r"\{(\w+)\}")
_PATHS: Final[Mapping[str, Mapping[str, Any]]] = {
    "urn": {"type": "string", "pattern": "^urn:[^/]+$", "maxLength": 2000},
    "queue": {"type": "string", "enum": list(QUEUES)},
}
_ALWAYS: Final = (400, 422, 503)
_GUARDED: Final = (401, 403)
_WITH_BODY: Final = (408, 413, 415)
_TITLES: Final = {
    400: "The request is malformed",
    401: "The token is missing or unknown",
    403: "The token grants no access to this operation",
    404: "Not found",
    408: "The body did not arrive in time",
    409: "Conflict with a concurrent change; nothing was changed",
    413: "The body is too large",
    415: "The Content-Type is not supported",
    422: "Validation failed; `errors` lists the fields",
    503: "The queue or the store is unavailable, or the request timed out",
}

Schemas = Mapping[Any, Mapping[str, Any]]
"""(model, mode) → where it is described."""


def document(routes: Sequence[Route], settings: type[Settings]) -> dict[str, Any]:
    """The description of those that are to be described. settings: with the sections of the platforms."""
    described = [route for route in routes if route.described]
    schemas, components = _schemas(described)
    if Changing.__name__ in components:
        components[Changing.__name__] = changing_schema(settings)
    paths: dict[str, dict[str, Any]] = {}
    for route in described:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, schemas)
    described_api = {
        "openapi": "3.1.0",
        "info": {
            "title": "ghcrawl",
            "version": __version__,
            "summary": "The admin API of a running service",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "x_token": {"type": "apiKey", "in": "header", "name": "X-token"},
            },
        },
        "security": [{"bearer": []}, {"x_token": []}, {}],
    }
    return cast("dict[str, Any]", _renamed(described_api, {name: _public(name) for name in components}))


_NAMES: Final[Mapping[str, str]] = {
    "Pushing": "PushBody",
    "Requeueing": "RequeueBody",
    "Choosing": "DeleteBody",
    "DoingShape": "Work",
    "Naming": "SourcesBody",
    "Removing": "RemoveSourcesBody",
    "Changing": "SettingsChange",
}


def _public(name: str) -> str:
    """What a schema is called in clients that are generated from the description."""
    return _NAMES.get(name) or name.removesuffix("Shape")


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    """`value` with the schemas, and everything that refers to them, under their public names."""
    if isinstance(value, list):
        return [_renamed(each, names) for each in value]
    if not isinstance(value, dict):
        return value
    renamed: dict[str, Any] = {}
    for name, each in value.items():
        if name == "$ref" and isinstance(each, str):
            head, _, last = each.rpartition("/")
            renamed[name] = f"{head}/{names.get(last, last)}"
        elif name == "schemas":
            renamed[name] = {names.get(one, one): _titled(_renamed(it, names), names) for one, it in each.items()}
        else:
            renamed[name] = _renamed(each, names)
    return renamed


def _titled(schema: Any, names: Mapping[str, str]) -> Any:
    return {**schema, "title": names[schema["title"]]} if schema.get("title") in names else schema


def _schemas(routes: Sequence[Route]) -> tuple[Schemas, dict[str, Any]]:
    wanted: list[tuple[type[BaseModel], Any]] = [(ProblemShape, "serialization")]
    for route in routes:
        wanted += [(route.body, "validation")] if route.body else []
        wanted += [(route.answer, "serialization")] if route.answer else []
    schemas, defs = models_json_schema(list(dict.fromkeys(wanted)), ref_template=_REF)
    return schemas, defs.get("$defs", {})


def _operation(route: Route, schemas: Schemas) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": route.name,
        "summary": route.about,
        "tags": [route.tag],
        "parameters": [*_path_parameters(route), *_query_parameters(route)],
        "responses": _responses(route, schemas),
        "x-role": route.role,
    }
    if route.body is not None:
        operation["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": schemas[(route.body, "validation")]}},
        }
    if route.role == "anyone":
        operation["security"] = []
    return operation


def _path_parameters(route: Route) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": _PATHS[name]}
        for name in _PARAMETER.findall(route.path)
    ]


def _query_parameters(route: Route) -> list[dict[str, Any]]:
    schema = route.query.model_json_schema(ref_template=_REF)
    return [
        {"name": name, "in": "query", "required": name in schema.get("required", ()), "schema": _typed(found)}
        for name, found in schema.get("properties", {}).items()
    ]


def _typed(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A parameter is left out rather than null."""
    wanted = {name: value for name, value in schema.items() if name not in ("title", "default")}
    if "anyOf" in wanted:
        others = [each for each in wanted.pop("anyOf") if each.get("type") != "null"]
        wanted |= others[0] if len(others) == 1 else {"anyOf": others}
    return wanted


def _responses(route: Route, schemas: Schemas) -> dict[str, Any]:
    schema: Mapping[str, Any] = schemas[(route.answer, "serialization")] if route.answer else {"type": "object"}
    good: dict[str, Any] = {"description": route.about, "content": {"application/json": {"schema": schema}}}
    found = {str(route.status): good}
    if route.status != 200 and route.answer is not None:
        found["200"] = {**good, "description": f"{route.about}: a dry run"}
    bad = {*route.problems, *_ALWAYS}
    bad |= set(_GUARDED) if route.role != "anyone" else set()
    bad |= set(_WITH_BODY) if route.body is not None else set()
    problem = {CONTENT_TYPE: {"schema": schemas[(ProblemShape, "serialization")]}}
    return found | {str(status): {"description": _TITLES[status], "content": problem} for status in sorted(bad)}


def route(described: Sequence[Route]) -> Route:
    """The route that answers with the description. Anybody may read it: it is in the source."""

    @cache
    def description(settings: type[Settings]) -> dict[str, Any]:  # made when first asked: it takes long
        return document(described, settings)

    async def show(asked: Asked[Nothing, None]) -> dict[str, Any]:
        return description(asked.site.live.model)

    return routed(show, "GET", PATH, name="describe", role="anyone", described=False)
