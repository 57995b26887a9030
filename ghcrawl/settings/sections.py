"""Settings: defaults < one TOML file < environment (`GHCRAWL_SECTION__NAME`). Credentials are never among them."""

from __future__ import annotations

import difflib
import ipaddress
import os
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal, Self, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    NonNegativeInt,
    PlainSerializer,
    PositiveFloat,
    PositiveInt,
    SecretStr,
    ValidationError,
    create_model,
    field_validator,
    model_validator,
)
from pydantic.fields import FieldInfo

from ghcrawl.values.errors import ConfigError, SpecError
from ghcrawl.values.lanes import QUEUES, QueueName
from ghcrawl.values.policy import parse
from ghcrawl.values.scope import Scope
from ghcrawl.values.section import Section
from ghcrawl.values.source import StrategyName
from ghcrawl.values.tuning import DEFAULT_WEIGHTS, Tuning

PREFIX: Final = "GHCRAWL_"
NOT_SETTINGS: Final = frozenset({"TOKENS", "CONFIG", "DEBUG", "ADMIN_TOKEN", "WEBHOOK_SECRETS"})
"""Variables with our prefix that are read elsewhere; everything else with the prefix must be a setting."""


def without_password(url: SecretStr) -> str:
    """`url` for a person: its host and path, and that there was more."""
    scheme, found, rest = url.get_secret_value().partition("://")
    if not found:
        return "***" if scheme else ""
    credentials, _, place = rest.rpartition("@")
    place, query, _ = place.partition("?")
    return f"{scheme}://{'***@' if credentials else ''}{place}{'?***' if query else ''}"


SecretUrl = Annotated[SecretStr, PlainSerializer(without_password, return_type=str, when_used="json")]
"""A URL that may hold a password: in no repr, no error and no output."""


Seconds = Annotated[float, Field(gt=0, le=604_800, allow_inf_nan=False)]
"""A length of time: a week at the most, which no clock overflows on."""


def _network(text: str) -> str:
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        raise ValueError(f"{text!r} is not an IP address or a network such as 10.0.0.0/8") from None
    return text


Network = Annotated[str, AfterValidator(_network)]
"""One address, or many in CIDR notation."""
Weight = Annotated[int, Field(ge=0, le=1_000_000)]


class CrawlSettings(Section):
    """How requests are worked through."""

    loops: Annotated[int, Field(gt=0, le=1000)] = 20
    paused: bool = False
    policy: str = "default"
    scenario: Annotated[str, Field(pattern=r"^[A-Za-z0-9_]{0,100}$")] = ""
    max_attempts: Annotated[int, Field(gt=0, le=100)] = 5
    retry_base_s: Seconds = 2.0
    retry_cap_s: Seconds = 600.0
    timeout_s: Seconds = 600.0
    shutdown_grace_s: Seconds = 20.0
    allow: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    address: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:-]{0,100}$")] = ""
    weights: dict[QueueName, Weight] = Field(default_factory=lambda: dict(DEFAULT_WEIGHTS))

    @field_validator("weights")
    @classmethod
    def _complete(cls, weights: dict[QueueName, int]) -> dict[QueueName, int]:
        """Who sets one weight means that one; without any, nothing would ever be popped."""
        whole = {name: weights.get(name, DEFAULT_WEIGHTS[name]) for name in QUEUES}
        if not any(whole.values()):
            raise ValueError("at least one weight must be above 0; to stop the crawl, set crawl.paused = true")
        return whole

    def tuning(self) -> Tuning:
        """The part that may change while loops run."""
        return Tuning(
            loops=self.loops,
            paused=self.paused,
            weights=self.weights,
            scope=Scope(allow=self.allow, exclude=self.exclude),
            scenario="" if self.scenario == "default" else self.scenario,
            max_attempts=self.max_attempts,
            retry_base_s=self.retry_base_s,
            retry_cap_s=self.retry_cap_s,
            timeout_s=self.timeout_s,
        )


class QueueSection(Section):
    """What keeps the queues."""

    provider: Literal["sqlite", "memory", "amqp"] = "sqlite"


class StoreSection(Section):
    """What keeps the documents, and the deadletters beside them."""

    provider: Literal["sqlite", "memory", "mongo"] = "sqlite"


class SqliteSection(Section):
    """The embedded file."""

    path: Path = Path("ghcrawl.db")
    synchronous: Literal["full", "normal"] = "full"
    max_mb: NonNegativeInt = 0


class MongoSection(Section):
    """The database, where it keeps anything. Its URL may hold a password, which is never shown.

    Documents and deadletters go by these; tags and starts are always written to a majority and read from the primary.
    """

    url: SecretUrl = SecretStr("mongodb://127.0.0.1:27017")
    url_file: str = ""
    database: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,63}$")] = "ghcrawl"
    write_concern: Literal["majority"] | PositiveInt = "majority"
    journal: bool = True
    read_concern: Literal["local", "majority", "linearizable"] = "majority"
    timeout_s: PositiveFloat = 15.0
    connect_timeout_s: PositiveFloat = 5.0
    connections: PositiveInt = 100

    @field_validator("url")
    @classmethod
    def _is_mongodb(cls, url: SecretStr) -> SecretStr:
        if not url.get_secret_value().startswith(("mongodb://", "mongodb+srv://")):
            raise ValueError("must look like mongodb://user:password@host:27017")
        return url

    @model_validator(mode="after")
    def _reads_what_it_wrote(self) -> Self:
        if self.write_concern != "majority" and self.read_concern != "local":
            raise ValueError(
                f'read_concern "{self.read_concern}" does not see what write_concern {self.write_concern} wrote; '
                'set it to "local"'
            )
        return self


class AmqpSection(Section):
    """RabbitMQ, where it keeps the queues. Its URLs may hold passwords, which are never shown."""

    url: SecretUrl = SecretStr("amqp://127.0.0.1:5672/%2F")
    url_file: str = ""
    management_url: SecretUrl = SecretStr("")
    management_url_file: str = ""
    prefix: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,40}$")] = "ghc"
    heartbeat_s: Annotated[int, Field(ge=1, le=600)] = 10
    connect_timeout_s: PositiveFloat = 10.0
    confirm_timeout_s: PositiveFloat = 30.0
    delivery_limit: Annotated[int, Field(ge=5)] = 20
    max_starts: Annotated[int, Field(ge=2)] = 3

    @field_validator("url")
    @classmethod
    def _is_amqp(cls, url: SecretStr) -> SecretStr:
        if not url.get_secret_value().startswith(("amqp://", "amqps://")):
            raise ValueError("must look like amqp://user:password@host:5672/vhost")
        return url


Port = Annotated[int, Field(ge=0, le=65535)]
"""A TCP port; 0 lets the system choose one."""


class LogSection(Section):
    """What is written to standard error."""

    level: Literal["debug", "info", "warning", "error", "critical"] = "info"
    format: Literal["auto", "console", "json"] = "auto"


class ServiceSection(Section):
    """What `ghcrawl serve` listens to, and how patiently. Its tokens and secrets are files or environment variables."""

    host: str = "127.0.0.1"
    port: Port = 3000
    metrics_host: str = ""
    metrics_port: Port = 9464
    admin_tokens_file: str = ""
    webhook_secrets_file: str = ""
    request_timeout_s: PositiveFloat = 30.0
    webhook_timeout_s: PositiveFloat = 8.0
    max_body_mb: Annotated[int, Field(ge=1, le=100)] = 2
    max_connections: Annotated[int, Field(ge=10, le=100_000)] = 1000
    max_connections_per_address: Annotated[int, Field(ge=5, le=100_000)] = 250
    trusted_proxies: tuple[Network, ...] = ()
    redeliver: tuple[Annotated[str, Field(max_length=200)], ...] = ()
    redeliver_every_s: Annotated[Seconds, Field(ge=1)] = 300.0
    webhook_url: Annotated[str, Field(pattern=r"^(https?://\S+)?$")] = ""

    @property
    def probed_at(self) -> str:
        """The address of the port for metrics and probes."""
        return self.metrics_host or self.host


class ScheduleSection(Section):
    """When what is watched is looked at again."""

    budget_share: Annotated[float, Field(ge=0, le=1)] = 0.5
    calls_per_hour: Annotated[float, Field(ge=0, le=10_000_000)] = 0.0
    strategy: StrategyName = "power"
    exponent: Annotated[float, Field(ge=0, le=2)] = 0.5
    max_age_d: Annotated[float, Field(gt=0, le=365)] = 30.0
    discover: tuple[str, ...] = ()
    discover_limit: Annotated[int, Field(ge=0, le=1_000_000)] = 10_000


class Settings(Section):
    """Everything that can be set. `config/default.toml` shows it with its defaults.

    Platforms bring sections of their own: `composed` adds them. live_of_platforms: names in those that may change live.
    variables_of_platforms: environment variables that hold their credentials.
    """

    live_of_platforms: ClassVar[tuple[str, ...]] = ()
    variables_of_platforms: ClassVar[frozenset[str]] = frozenset()

    crawl: CrawlSettings = CrawlSettings()
    queue: QueueSection = QueueSection()
    store: StoreSection = StoreSection()
    sqlite: SqliteSection = SqliteSection()
    amqp: AmqpSection = AmqpSection()
    mongo: MongoSection = MongoSection()
    log: LogSection = LogSection()
    schedule: ScheduleSection = ScheduleSection()
    service: ServiceSection = ServiceSection()

    @classmethod
    def live_names(cls) -> tuple[str, ...]:
        """What may be set while a crawl runs, as `section.name`."""
        return (*LIVE, *cls.live_of_platforms)

    def section(self, platform: str) -> Section:
        """The part that belongs to `platform`."""
        section: Section = getattr(self, platform)
        return section

    @property
    def embedded(self) -> bool:
        """Whether anything is kept in the file of `sqlite`."""
        return "sqlite" in (self.queue.provider, self.store.provider)

    @property
    def kept_in(self) -> str:
        """Where the documents are, for a person."""
        names = {"mongo": f"the MongoDB database {self.mongo.database}", "memory": "memory"}
        return names.get(self.store.provider, str(self.sqlite.path))

    @property
    def waits_in(self) -> str:
        """Where the requests are, for a person."""
        return {"amqp": "RabbitMQ", "memory": "memory"}.get(self.queue.provider, str(self.sqlite.path))


Origins = Mapping[str, str]
"""`section.name` → where its value comes from: a file, a variable, `live`, or the command line."""

LIVE: Final = (
    "crawl.loops",
    "crawl.paused",
    "crawl.max_attempts",
    "crawl.retry_base_s",
    "crawl.retry_cap_s",
    "crawl.timeout_s",
    "crawl.allow",
    "crawl.exclude",
    "crawl.scenario",
    *(f"crawl.weights.{name}" for name in QUEUES),
    *(f"schedule.{name}" for name in ScheduleSection.model_fields),
    "log.level",
)
"""What may be set while a crawl runs: the part of the settings that `Tuning` holds, limits, and what is logged."""


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


def logged_as(section: LogSection, *, terminal: bool) -> Literal["console", "json"]:
    """The log format with `auto` decided."""
    if section.format != "auto":
        return section.format
    return "console" if terminal else "json"


def environment() -> Mapping[str, str]:
    """This process's environment."""
    return os.environ
