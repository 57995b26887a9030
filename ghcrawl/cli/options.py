"""Options shared by several commands, and groups of options as values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

import typer
from msgspec import Struct
from msgspec.structs import FieldInfo, fields


def flag(*names: str, help: str) -> Any:  # noqa: A002  # typer's name for it
    """A boolean option. Its help shows no value."""
    return typer.Option(*names, metavar="", help=help, show_default=False)


def option(name: str, metavar: str, help: str, **bounds: float) -> Any:  # noqa: A002  # typer's name for it
    """An option with a value. Its default, if it has one, stands in its help. bounds: min and max."""
    return typer.Option(name, metavar=metavar, help=help, show_default=False, **bounds)  # type: ignore[arg-type]


Db = Annotated[Path | None, option("--db", "FILE", "Database file. Default: ghcrawl.db.")]
Platforms = Annotated[
    tuple[str, ...], typer.Option("--platform", metavar="NAME", help="Only this platform; repeatable.")
]
Server = Annotated[
    str | None,
    option("--server", "URL", "Use a running service instead of a file. Reads its token from GHCRAWL_ADMIN_TOKEN."),
]
Config = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", envvar="GHCRAWL_CONFIG", help="Settings file (TOML).", show_default=False),
]
ApiUrl = Annotated[
    str | None,
    option("--api-url", "URL", "Base URL of the API: of a self-hosted server (https://HOST/api/v3) or a simulator."),
]
TokensFile = Annotated[
    Path | None,
    typer.Option("--tokens-file", metavar="FILE", help="Tokens file, one per line; adds to GHCRAWL_TOKENS."),
]
Json = Annotated[bool, flag("--json", help="Print JSON.")]
Yes = Annotated[bool, flag("--yes", "-y", help="Skip confirmation.")]
Loops = Annotated[int | None, option("--loops", "N", "Number of concurrent workers. Default: 20.", min=1)]
Size = Annotated[
    int, typer.Option("--size", min=100, max=1_000_000, metavar="N", help="Approximate number of documents.")
]
QueueArgument = Annotated[
    str, typer.Argument(metavar="QUEUE", help="Queue: event, immediate, soon, normal or later.", show_default=False)
]


def log_level(default: str) -> Any:
    """The option `--log-level`. default: what is logged without it, in words."""
    return option("--log-level", "LEVEL", f"Log level: debug, info, warning or error. Default: {default}.")


Verbose = Annotated[bool, flag("--verbose", "-v", help="Log at debug level.")]
Limit = Annotated[int, typer.Option("--limit", min=0, metavar="N", help="Maximum number of rows; 0: all.")]


def grouped(command: Callable[..., int]) -> Callable[..., int]:
    """`command` for typer: a parameter that is a Struct of options becomes these options, in its place.

    `Annotated[Struct, "name", …]`: these fields alone, in this order. A field that is a tuple may be repeated.
    """
    groups: dict[str, tuple[type[Struct], list[FieldInfo]]] = {}
    parameters: list[Parameter] = []
    for name, parameter in signature(command, eval_str=True).parameters.items():
        group, *chosen = get_args(parameter.annotation) or (parameter.annotation,)
        if isinstance(group, type) and issubclass(group, Struct):
            known = {field.name: field for field in fields(group)}
            groups[name] = group, [known[each] for each in chosen or known]
            parameters += map(_parameter, groups[name][1])
        else:
            parameters.append(parameter)

    @wraps(command)
    def called(**given: Any) -> int:
        for name, (group, options) in groups.items():
            values = {option.name: given.pop(option.name) for option in options}
            given[name] = group(**{each: tuple(v) if isinstance(v, list) else v for each, v in values.items()})
        return command(**given)

    called.__signature__ = Signature(parameters)  # type: ignore[attr-defined]  # which typer reads
    return called


def _parameter(field: FieldInfo) -> Parameter:
    """`field` as a parameter for typer, to which a list is what may be repeated."""
    annotation, default = field.type, field.default
    kind, option = get_args(annotation)
    if get_origin(kind) is tuple:
        annotation, default = Annotated[list[str], option], []
    return Parameter(field.name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


class Place(Struct, frozen=True, kw_only=True):
    """The common options. None: use the settings. server: URL of a service to use instead of a file."""

    db: Db = None
    server: Server = None
    config: Config = None
    api_url: ApiUrl = None
    tokens_file: TokensFile = None

    def overrides(self) -> Mapping[str, Any]:
        """Setting name → value, for the options that were given."""
        from ghcrawl.wiring import option_settings  # noqa: PLC0415  # `--help` need not wait for it

        found: dict[str, Any] = {} if self.db is None else {"sqlite.path": self.db}
        tokens_file = str(self.tokens_file) if self.tokens_file else None
        return {**found, **option_settings({"--api-url": self.api_url, "--tokens-file": tokens_file})}

    def typed(self) -> tuple[str, ...]:
        """The arguments that point another command at the same place."""
        words: list[str] = []
        for option, value in (("--server", self.server), ("--db", self.db), ("--config", self.config)):
            words += [option, str(value)] if value is not None else []
        return tuple(words)


Kept = Annotated[Place, "server", "db", "config"]
"""A file, or a service."""
Crawled = Annotated[Place, "db", "api_url", "tokens_file", "config"]
"""A file, and the API that it is crawled from."""
Watched = Annotated[Place, "db", "api_url", "config", "server"]
"""A file or a service, and the API that names are of."""
