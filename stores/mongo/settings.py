"""Connection and durability settings of MongoDB, and the description of an index. Does not need the driver."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from msgspec import Struct


@dataclass(frozen=True, slots=True, kw_only=True)
class MongoSettings:
    """Connection and durability settings.

    url: may hold credentials, so it appears in no message, log line or repr.
    write_concern, journal: by default a save that returned survives a failover and a power loss.
    read_concern: by default a look-up returns neither stale data nor data a failover may roll back.
    timeout_s: for one operation with the driver's retries; longer than an election takes.
    connect_timeout_s: to find a server at startup.
    connections: size of the connection pool.
    """

    url: str = field(default="mongodb://127.0.0.1:27017", repr=False)
    database: str = "ghcrawl"
    write_concern: int | Literal["majority"] = "majority"
    journal: bool = True
    read_concern: Literal["local", "majority", "linearizable"] = "majority"
    timeout_s: float = 15.0
    connect_timeout_s: float = 5.0
    connections: int = 100

    @property
    def place(self) -> str:
        """Hosts and database, without credentials."""
        hosts = self.url.partition("://")[2].rpartition("@")[2].partition("/")[0].partition("?")[0]
        return f"{hosts}/{self.database}"


class Index(Struct, frozen=True, kw_only=True):
    """An ascending index over `fields`. sparse: only over documents that have one of the fields."""

    name: str
    fields: tuple[str, ...]
    unique: bool = False
    sparse: bool = False
