"""`/api/v1/status`, `/loops`, `/principals`, `/settings`, `/pause` and `/resume`: the service itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

from pydantic import Field, RootModel

from ghcrawl import __version__
from ghcrawl.admin import queues
from ghcrawl.admin.problems import Problem, unavailable
from ghcrawl.admin.routing import Asked, Nothing, Routes
from ghcrawl.admin.running_shapes import (
    ChangeShape,
    ChangesShape,
    DifferenceShape,
    PrincipalShape,
    PrincipalsShape,
    SettingsShape,
    StatusShape,
    WorkersShape,
)
from ghcrawl.admin.shapes import CountsShape, DocumentCountsShape
from ghcrawl.admin.site import Site
from ghcrawl.engine import batch_mismatches
from ghcrawl.settings.live import Contended, Entry, value_of
from ghcrawl.settings.loading import wrong
from ghcrawl.settings.sections import Settings
from ghcrawl.values.errors import StoreError
from ghcrawl.values.times import iso


class Changing(RootModel[Annotated[dict[str, Any], Field(max_length=100)]]):
    """`section.name` → the value that holds from now on in all replicas; null: it is no longer set live.

    null serves for what this version does not understand, too.
    """


def changing_schema(settings: type[Settings]) -> dict[str, Any]:
    """Describes `Changing`: each setting that may change, as the settings themselves do."""
    whole = settings.model_json_schema()
    return {
        "type": "object",
        "title": "Changing",
        "description": Changing.__doc__,
        "properties": {name: _nullable(_at(whole, name)) for name in settings.live_names()},
        "additionalProperties": False,
    }


def _at(whole: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """How the schema of all settings describes `section.name`; of a table, how it describes every value."""
    found: Mapping[str, Any] = whole
    for part in name.split("."):
        found = found["properties"][part] if "properties" in found else found["additionalProperties"]
        if "$ref" in found:
            found = whole["$defs"][found["$ref"].rpartition("/")[2]]
    return {name: value for name, value in found.items() if name not in ("title", "default")}


def _nullable(schema: Mapping[str, Any]) -> dict[str, Any]:
    """That, or nothing. The same as text, as a command line has it, is read as well."""
    return {"anyOf": [dict(schema), {"type": "null"}]}


SERVICE: Final = Routes("service")


@SERVICE.add(
    "GET", "/api/v1/status", "showStatus", "Get the status: workers, queues, documents, deadletters, principals"
)
async def _status(asked: Asked[Nothing, None]) -> StatusShape:
    site = asked.site
    workers = site.workers()
    return StatusShape(
        version=__version__,
        at=iso(site.clock.now()),
        worker=workers.worker,
        api_url=next(iter(site.mounts.base_urls.values()), ""),
        platforms=[mount.name for mount in site.mounts],
        base_urls=dict(site.mounts.base_urls),
        queues=await queues.shapes(site),
        documents=DocumentCountsShape.of(await site.stored(), site.mounts.entities),
        deadletters=CountsShape.of(await site.buried()),
        loops=WorkersShape.of(workers),
        principals=_principals(site),
        figures=site.figures(),
    )


@SERVICE.add("GET", "/api/v1/loops", "showLoops", "Get the workers of this replica and their requests in flight")
async def _loops(asked: Asked[Nothing, None]) -> WorkersShape:
    return WorkersShape.of(asked.site.workers())


@SERVICE.add(
    "GET",
    "/api/v1/principals",
    "listPrincipals",
    "Get the principals of this replica: quota and rate limits, no secrets",
)
async def _show_principals(asked: Asked[Nothing, None]) -> PrincipalsShape:
    site = asked.site
    differing = [
        DifferenceShape(platform=platform, type=type, fields=list(fields))
        for platform, type, fields in await batch_mismatches.read_all(site.store, site.mounts)
    ]
    return PrincipalsShape(principals=_principals(site), differences=differing)


def _principals(site: Site) -> list[PrincipalShape]:
    return [PrincipalShape.of(principal) for principal in site.principals()]


SETTINGS: Final = Routes("settings")


@SETTINGS.add("GET", "/api/v1/settings", "showSettings", "Get all settings, with the origin of each non-default value")
async def _settings(asked: Asked[Nothing, None]) -> SettingsShape:
    holding = await asked.site.live.read()
    return SettingsShape(
        settings=holding.settings.model_dump(mode="json"),
        origins=dict(holding.origins),
        live=dict(holding.live),
        may_change=list(asked.site.live.model.live_names()),
        not_understood=dict(holding.strange),
    )


@SETTINGS.add(
    "PATCH", "/api/v1/settings", "changeSettings", "Change settings in all replicas, atomically", problems=(409,)
)
async def _patch(asked: Asked[Nothing, Changing]) -> ChangesShape:
    defaults = asked.site.live.model()
    for name, value in asked.body.root.items():
        _demand_kind(name, value, value_of(defaults, name))
    return await _changed(asked, asked.body.root)


def _demand_kind(name: str, value: Any, default: Any) -> None:
    """Raises ConfigError for a number in place of a boolean, or a boolean in place of a number."""
    if isinstance(value, bool | int | float) and isinstance(value, bool) != isinstance(default, bool):
        raise wrong(name, f"write {'true or false' if isinstance(default, bool) else 'a number'}, not {value}")


@SETTINGS.add(
    "GET", "/api/v1/settings/audit", "auditSettings", "List setting changes, newest first: who, when, before and after"
)
async def _audit(asked: Asked[Nothing, None]) -> ChangesShape:
    return _changes(await asked.site.live.audit())


@SETTINGS.add(
    "POST", "/api/v1/pause", "pause", "Pause crawling in all replicas; requests in flight are finished", problems=(409,)
)
async def _pause(asked: Asked[Nothing, None]) -> ChangesShape:
    return await _changed(asked, {"crawl.paused": True})


@SETTINGS.add("POST", "/api/v1/resume", "resume", "Resume crawling in all replicas", problems=(409,))
async def _resume(asked: Asked[Nothing, None]) -> ChangesShape:
    return await _changed(asked, {"crawl.paused": False})


async def _changed(asked: Asked[Any, Any], wanted: Mapping[str, Any]) -> ChangesShape:
    """They hold in the store, and in this replica already when it answers; in the others in a moment."""
    try:
        entries = await asked.site.live.change(wanted, asked.caller.name)
    except Contended as error:
        raise Problem(409, str(error)) from error
    except StoreError as error:
        raise unavailable(f"{error}; the change may have been stored: read /api/v1/settings before retrying") from error
    await asked.site.applied()
    return _changes(entries)


def _changes(entries: Sequence[Entry]) -> ChangesShape:
    return ChangesShape(changes=[ChangeShape.of(entry) for entry in entries])


ROUTES: Final = (*SERVICE, *SETTINGS)
