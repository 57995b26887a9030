"""Where a MongoDB is and what it has to promise, and what an index is: all that can be said without its driver."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class MongoSettings:
    """Where the database is, and what it has to promise.

    url: may hold credentials; it is in no message, log line or repr.
    write_concern, journal: a save that returned has outlived a failover and a power cut.
    read_concern, read_preference: a look-up never tells what a failover may take back, nor what was true earlier.
    timeout_s: for one operation, with what the driver tries again; longer than an election takes.
    connect_timeout_s: to find a server at startup.
    """

    url: str = field(default="mongodb://127.0.0.1:27017", repr=False)
    database: str = "ghcrawl"
    write_concern: int | Literal["majority"] = "majority"
    journal: bool = True
    read_concern: Literal["local", "majority", "linearizable"] = "majority"
    read_preference: Literal["primary", "primaryPreferred"] = "primary"
    timeout_s: float = 15.0
    connect_timeout_s: float = 5.0
    connections: int = 100

    @property
    def place(self) -> str:
        """Hosts and database, without credentials."""
        hosts = self.url.partition("://")[2].rpartition("@")[2].partition("/")[0].partition("?")[0]
        return f"{hosts}/{self.database}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """One index over `fields`, ascending. sparse: only over documents that have one of them."""

    name: str
    fields: tuple[str, ...]
    unique: bool = False
    sparse: bool = False
