"""Reads settings: defaults < one TOML file < environment (`GHCRAWL_SECTION__NAME`) < live < command line."""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, get_origin

from pydantic import BaseModel, ValidationError, create_model
from pydantic.fields import FieldInfo

from ghcrawl.settings.sections import Settings
from ghcrawl.values.errors import ConfigError, SpecError
from ghcrawl.values.policy import parse
from ghcrawl.values.section import Section

PREFIX: Final = "GHCRAWL_"
NOT_SETTINGS: Final = frozenset({"TOKENS", "CONFIG", "DEBUG", "ADMIN_TOKEN", "WEBHOOK_SECRETS"})
"""Variables with our prefix that are read elsewhere; everything else with the prefix must be a setting."""

Origins = Mapping[str, str]
"""`section.name` → where its value comes from: a file, a variable, `live`, or the command line."""


def composed(sections: Mapping[str, type[Section]], live: Sequence[str], variables: Iterable[str]) -> type[Settings]:
    """Settings with a section for each platform.

    live: names in those sections that may change while a crawl runs. variables: hold credentials, and are no settings.
    """
    fields: dict[str, Any] = {name: (section, section()) for name, section in sections.items()}
    model = create_model("Settings", __base__=Settings, **fields)
    model.live_of_platforms = tuple(live)
    model.variables_of_platforms = frozenset(variables)
    return model


def load(
    path: Path | None,
    environ: Mapping[str, str],
    overrides: Mapping[str, Any] | None = None,
    live: Mapping[str, Any] | None = None,
    *,
    model: type[Settings],
) -> tuple[Settings, Origins]:
    """The settings that hold, and where each that is no default comes from.

    overrides: `section.name` → value, from the command line; they win.
    live: `section.name` → value, as the store keeps them for all processes that share it.
    model: with the sections of the platforms.
    Raises ConfigError: one line for each thing that is wrong, with the name that was probably meant.
    """
    merged: dict[str, Any] = {}
    origins: dict[str, str] = {}
    if path is not None:
        _merge(merged, _read(path), str(path), origins)
    _merge(merged, _from_environment(environ, model), "environment", origins)
    _merge(merged, _nested(live or {}), "live", origins)
    _merge(merged, _nested(overrides or {}), "command line", origins)
    try:
        settings = model.model_validate(merged)
        parse(settings.crawl.policy)
    except ValidationError as error:
        problems = [_problem(problem, model) for problem in error.errors()]
        lines = [f"{name}{_origin(name, origins)}: {detail}" for name, detail in problems]
        raise ConfigError("\n".join(lines), problems=problems) from None
    except SpecError as error:
        raise wrong("crawl.policy", str(error)) from None
    return settings, origins


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"config file {path} not found") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read the config file {path}: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not valid TOML: {error}") from None


def _from_environment(environ: Mapping[str, str], model: type[Settings]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for variable, text in environ.items():
        name = variable.removeprefix(PREFIX)
        elsewhere = name in NOT_SETTINGS or variable in model.variables_of_platforms
        if name == variable or elsewhere or name.startswith("TEST_"):
            continue
        flat[name.lower().replace("__", ".")] = text
    return _nested({name: typed(name, text, model) for name, text in flat.items()})


def typed(name: str, text: str, model: type[Settings]) -> Any:
    """What a person typed for a setting: lists with commas or as arrays; pydantic reads the rest from text.

    Raises ConfigError for text that starts as an array with quotes, and is none.
    """
    if not _is_list(fields(model).get(name)):
        return text
    if text.lstrip().startswith("[") and ('"' in text or "'" in text):  # `[ab]*` is a pattern
        try:
            return tuple(tomllib.loads(f"list = {text.strip()}")["list"])
        except tomllib.TOMLDecodeError:
            raise wrong(name, f"{text!r} is no list; write names with commas, or an array") from None
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _is_list(field: FieldInfo | None) -> bool:
    return field is not None and get_origin(field.annotation) is tuple


def _nested(flat: Mapping[str, Any]) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for name, value in flat.items():
        *above, last = name.split(".")
        place = nested
        for part in above:
            place = place.setdefault(part, {})
            if not isinstance(place, dict):
                raise wrong(name, f"{part} is both a value and a section")
        place[last] = value
    return nested


def _merge(into: dict[str, Any], found: Mapping[str, Any], origin: str, origins: dict[str, str], at: str = "") -> None:
    for name, value in found.items():
        if isinstance(value, Mapping) and isinstance(into.setdefault(name, {}), dict):
            _merge(into[name], value, origin, origins, f"{at}{name}.")
        else:
            into[name] = value
            origins[f"{at}{name}"] = origin


_SHAPES: Final = {
    "crawl.scenario": "the name of a scenario",
    "mongo.database": "a name of letters, digits, - and _",
    "amqp.prefix": "a name of letters, digits, - and _",
    "service.webhook_url": "an http or https URL",
}
"""What a pattern asks for, in words."""


def wrong(name: str, detail: str) -> ConfigError:
    """The error of one setting."""
    return ConfigError(f"{name}: {detail}", problems=[(name, detail)])


def _list_of(name: str) -> str:
    """`crawl.allow` of `crawl.allow.0`."""
    return name.rstrip("0123456789").rstrip(".")


def _origin(name: str, origins: Origins) -> str:
    of = _list_of(name)
    origin = origins.get(of) or next((origin for key, origin in origins.items() if key.startswith(of)), "")
    return f" ({origin})" if origin else ""


def _problem(problem: Any, model: type[Settings]) -> tuple[str, str]:
    """The name of a setting, and what is wrong with it."""
    name = ".".join(str(part) for part in problem["loc"])
    of = _list_of(name)
    field = fields(model).get(of)
    shape = _SHAPES.get(of) or (field.description if field is not None else None)
    if problem["type"] == "string_pattern_mismatch" and shape:
        return name, f"{problem['input']!r} is not {shape}"
    if problem["type"] != "extra_forbidden":
        return name, problem["msg"].removeprefix("Value error, ")
    close = difflib.get_close_matches(name, names(model), n=1)
    meant = f"; did you mean {close[0]}?" if close else f"; known settings: {', '.join(names(model))}"
    return name, f"unknown setting{meant}"


def names(model: type[Settings]) -> list[str]:
    """Every setting as `section.name`."""
    return [*fields(model)]


def fields(model: type[BaseModel], at: str = "") -> dict[str, FieldInfo]:
    """The field of every setting, by `section.name`."""
    found: dict[str, FieldInfo] = {}
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            found |= fields(kind, f"{at}{name}.")
        else:
            found[f"{at}{name}"] = field
    return found


def environment() -> Mapping[str, str]:
    """This process's environment."""
    return os.environ
