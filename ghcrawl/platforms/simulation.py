"""A simulated platform: what `ghcrawl simulate` and `ghcrawl demo` ask of it, and what answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

from msgspec import Struct


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    """Options of one simulator. Each platform declares in `Simulator.options` which of them it has.

    port: 0 takes a free one. size: about how many entities. tokens: how many users have a token.
    limit: calls per user and window; None: no limits at all. window_s: None: the platform's own.
    faults: fraction of calls that fail. changes_per_minute: to its data, while it runs.
    webhook_url: receives signed webhooks about the changes; empty: nothing does.
    """

    port: int = 0
    size: int = 2000
    seed: int = 0
    tokens: int = 1
    limit: int | None = 5000
    window_s: float | None = None
    faults: float = 0.0
    changes_per_minute: float = 0.0
    webhook_url: str = ""
    webhook_secret: str = field(default="simulated", repr=False)


class Simulated(Struct, frozen=True, kw_only=True):
    """A simulator that answers.

    spec: of a crawl of it. settings: which that crawl needs, name → value. environ: its credentials.
    tokens: what it accepts → whose each is. about: sentences on what it simulates.
    report: a sentence on what happened while it ran, to be read once it has stopped; empty: none.
    """

    url: str
    spec: str
    settings: Mapping[str, str] = {}
    environ: Mapping[str, str] = {}
    tokens: Mapping[str, str] = {}
    about: Sequence[str] = ()
    report: Callable[[], str] = lambda: ""


class Simulator(Struct, frozen=True, kw_only=True):
    """A small server on loopback that answers as a platform does.

    run: it answers until the block is left. Raises OSError where the port is taken.
    title: the platform's name in a sentence. options: of `ghcrawl simulate`, besides --port, --size and --seed.
    remark: on the number of calls that a first crawl takes, after a colon; empty: none.
    steps: commands worth trying on the crawled documents, and their purposes; `--db` is added to each.
    beyond: a command that crawls the real platform, and its purpose; empty: none.
    """

    run: Callable[[Simulation], AbstractAsyncContextManager[Simulated]]
    title: str
    options: frozenset[str] = frozenset()
    remark: str = ""
    steps: Sequence[tuple[Sequence[str], str]] = ((("documents", "list", "--limit", "10"), "list some documents"),)
    beyond: Sequence[tuple[Sequence[str], str]] = ()
