"""The sections of the settings, with their defaults. Credentials are never among them."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import Annotated, ClassVar, Final, Literal, Self

from pydantic import (
    AfterValidator,
    Field,
    NonNegativeInt,
    PlainSerializer,
    PositiveFloat,
    PositiveInt,
    SecretStr,
    field_validator,
    model_validator,
)

from ghcrawl.values.lanes import QUEUES, QueueName
from ghcrawl.values.scope import Scope
from ghcrawl.values.section import Section
from ghcrawl.values.source import StrategyName
from ghcrawl.values.tuning import DEFAULT_WEIGHTS, Tuning


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

    Platforms bring sections of their own: `loading.composed` adds them.
    live_of_platforms: names in those that may change live.
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


def logged_as(section: LogSection, *, terminal: bool) -> Literal["console", "json"]:
    """The log format with `auto` decided."""
    if section.format != "auto":
        return section.format
    return "console" if terminal else "json"
