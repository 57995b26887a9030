"""What keeps the queues, the documents and the deadletters: settings become open adapters. Part of the wiring.

Adapters of servers are imported where settings name one: their drivers are a quarter of the start of a command, and a
file needs none.
"""

# ruff: noqa: PLC0415
from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final, assert_never

from msgspec import Struct
from pydantic import SecretStr

from ghcrawl.embedded.file import SqliteFile
from ghcrawl.ports.clock import Clock, SystemClock
from ghcrawl.ports.deadletters import DeadletterFilter, Deadletters, Forgotten, Requeued
from ghcrawl.ports.dedup import CrashCounter, DedupMarkers
from ghcrawl.ports.inbox import IdempotencyKeys, Inbox
from ghcrawl.ports.queue import Broker, Queue
from ghcrawl.ports.quotas import Quotas
from ghcrawl.ports.sources import Sources
from ghcrawl.ports.store import Store, store_id
from ghcrawl.ports.unit_of_work import UnitOfWork
from ghcrawl.settings.sections import AmqpSection, MongoSection, Settings
from ghcrawl.values.errors import ConfigError
from ghcrawl.values.lanes import QueueName
from queues import codec
from queues.amqp.settings import AmqpSettings
from queues.memory import MemoryQueue
from queues.memory_dedup import MemoryCrashCounter, MemoryDedupMarkers
from queues.sqlite import queue as sqlite_queue
from queues.sqlite.queue import SqliteQueue
from stores.deadletters import TimeBudget, forget, move, requeue
from stores.idempotency_keys import MarkerIdempotencyKeys
from stores.inbox import SequentialInbox
from stores.memory import MemoryDeadletters, MemoryStore
from stores.mongo.settings import MongoSettings
from stores.quotas import MemoryQuotas
from stores.sequential_unit_of_work import Part, SequentialUnitOfWork
from stores.sources import MemorySources
from stores.sqlite import deadletters as sqlite_deadletters
from stores.sqlite import dedup as sqlite_dedup
from stores.sqlite import documents as sqlite_store
from stores.sqlite import idempotency_keys as sqlite_receipts
from stores.sqlite.deadletters import SqliteDeadletters
from stores.sqlite.dedup import SqliteCrashCounter, SqliteDedupMarkers
from stores.sqlite.documents import SqliteStore
from stores.sqlite.idempotency_keys import SqliteIdempotencyKeys
from stores.sqlite.inbox import SqliteInbox
from stores.sqlite.quotas import SqliteQuotas
from stores.sqlite.sources import SqliteSources
from stores.sqlite.unit_of_work import SqliteUnitOfWork

SCHEMA: Final = (
    *sqlite_queue.SCHEMA,
    *sqlite_store.SCHEMA,
    *sqlite_deadletters.SCHEMA,
    *sqlite_dedup.SCHEMA,
    *sqlite_receipts.SCHEMA,
)
MIGRATIONS: Final = (
    sqlite_queue.MIGRATION,
    (*sqlite_store.MIGRATION, *sqlite_deadletters.MIGRATION),
    sqlite_store.PROCESSING,
    sqlite_store.FORMS,
    (*sqlite_dedup.MIGRATION, *sqlite_receipts.MIGRATION),
    sqlite_store.DEFLATED,
)
"""What a file of each older schema lacks, oldest first. New ones go at the end."""
PAGES_PER_MB: Final = 256
ROUND_S: Final = 1.2
"""Progress is reported this often while deadletters are worked on."""


class Backend(Struct, frozen=True, kw_only=True):
    """Queue, documents and deadletters, open. broker: the queue's own server, where it has one."""

    queue: Queue
    store: Store
    deadletters: Deadletters
    unit_of_work: UnitOfWork
    idempotency_keys: IdempotencyKeys
    inbox: Inbox
    sources: Sources
    quotas: Quotas
    clock: Clock
    broker: Broker | None = None

    async def requeue(self, which: DeadletterFilter, to: QueueName | None = None) -> Requeued:
        """What `which` means waits again as if it had never been tried, as much of it as can in `ROUND_S`.

        Again with `before`, and it goes on where it stopped. Raises QueueError, StoreError.
        """
        now, time_budget = self.clock.now(), TimeBudget(ROUND_S)
        return await requeue(self.deadletters, self.queue, which, now=now, to=to, time_budget=time_budget)

    async def forget(self, which: DeadletterFilter) -> Forgotten:
        """The deadletters that `which` means are deleted, as many as can be in `ROUND_S`. Raises StoreError."""
        return await forget(self.deadletters, which, now=self.clock.now(), time_budget=TimeBudget(ROUND_S))


class Kept(Struct, frozen=True, kw_only=True):
    """The open stores. markers, crashes: for a broker that cannot list its messages."""

    store: Store
    deadletters: Deadletters
    markers: DedupMarkers
    crashes: CrashCounter
    idempotency_keys: IdempotencyKeys
    sources: Sources
    quotas: Quotas


@asynccontextmanager
async def open_backend(
    settings: Settings,
    *,
    clock: Clock | None = None,
    phase: Callable[[Part, float], None] | None = None,
    platforms: Iterable[str] = (),
) -> AsyncIterator[Backend]:
    """What `settings` name, until the block is left. Raises ConfigError, StoreError, QueueError.

    phase: told how long the parts of a commit take, where it has any.
    platforms: whose lanes are looked at in a broker, which does not list them.
    """
    clock = clock or SystemClock()
    async with AsyncExitStack() as stack:
        file = await _file(settings, stack)
        kept = await _kept(settings, file, stack)
        await store_id(kept.store)
        queue, broker = await _queue(settings, file, kept, clock, stack, platforms)
        yield Backend(
            queue=queue,
            store=kept.store,
            deadletters=kept.deadletters,
            unit_of_work=_unit_of_work(file, queue, kept, phase),
            idempotency_keys=kept.idempotency_keys,
            inbox=_inbox(file, queue, kept, clock),
            sources=kept.sources,
            quotas=kept.quotas,
            clock=clock,
            broker=broker,
        )


async def _file(settings: Settings, stack: AsyncExitStack) -> SqliteFile | None:
    """The embedded file, where anything is kept in it."""
    if "sqlite" not in (settings.queue.provider, settings.store.provider):
        return None
    section = settings.sqlite
    file = await SqliteFile.open(
        section.path,
        schema=SCHEMA,
        migrations=MIGRATIONS,
        synchronous="FULL" if section.synchronous == "full" else "NORMAL",
        max_pages=section.max_mb * PAGES_PER_MB,
    )
    stack.push_async_callback(file.close)
    return file


async def _kept(settings: Settings, file: SqliteFile | None, stack: AsyncExitStack) -> Kept:
    """What `store.provider` says. Markers outlive this process only where other processes can reach them as well."""
    match settings.store.provider:
        case "mongo":
            return await _mongo(mongo_settings(settings.mongo), stack)
        case "sqlite":
            assert file is not None
            return Kept(
                store=SqliteStore(file),
                deadletters=SqliteDeadletters(file, codec),
                markers=SqliteDedupMarkers(file),
                crashes=SqliteCrashCounter(file),
                idempotency_keys=SqliteIdempotencyKeys(file),
                sources=SqliteSources(file),
                quotas=SqliteQuotas(file),
            )
        case "memory":
            return Kept(
                store=MemoryStore(),
                deadletters=MemoryDeadletters(),
                markers=MemoryDedupMarkers(),
                crashes=MemoryCrashCounter(),
                idempotency_keys=MarkerIdempotencyKeys(MemoryDedupMarkers()),
                sources=MemorySources(),
                quotas=MemoryQuotas(),
            )
        case _:
            assert_never(settings.store.provider)


async def _mongo(settings: MongoSettings, stack: AsyncExitStack) -> Kept:
    from stores.mongo.deadletters import MongoDeadletters
    from stores.mongo.dedup import RECEIPTS, MongoCrashCounter, MongoDedupMarkers
    from stores.mongo.documents import MongoStore
    from stores.mongo.driver import Mongo
    from stores.mongo.quotas import MongoQuotas
    from stores.mongo.sources import MongoSources

    mongo = await Mongo.open(settings)
    stack.push_async_callback(mongo.close)
    return Kept(
        store=await MongoStore.open(mongo),
        deadletters=await MongoDeadletters.open(mongo, codec),
        markers=await MongoDedupMarkers.open(mongo),
        crashes=MongoCrashCounter(mongo),
        idempotency_keys=MarkerIdempotencyKeys(await MongoDedupMarkers.open(mongo, RECEIPTS)),
        sources=await MongoSources.open(mongo),
        quotas=await MongoQuotas.open(mongo),
    )


async def _queue(
    settings: Settings,
    file: SqliteFile | None,
    kept: Kept,
    clock: Clock,
    stack: AsyncExitStack,
    platforms: Iterable[str],
) -> tuple[Queue, Broker | None]:
    """What `queue.provider` says. What cannot be read is filed where the other deadletters are."""
    match settings.queue.provider:
        case "memory":
            return MemoryQueue(clock), None
        case "sqlite":
            assert file is not None
            beside = SqliteDeadletters(file, codec)
            if not isinstance(kept.deadletters, SqliteDeadletters):
                await move(beside, kept.deadletters)
            return SqliteQueue(file, clock, bury=beside.burying), None
        case "amqp":
            from queues.amqp.queue import open_amqp_queue

            alone = isinstance(kept.markers, MemoryDedupMarkers)
            wanted = amqp_settings(settings.amqp, loops=settings.crawl.loops, alone=alone)
            opening = open_amqp_queue(
                wanted, markers=kept.markers, crashes=kept.crashes, bury=kept.deadletters.bury, clock=clock
            )
            queue = await stack.enter_async_context(opening)
            await queue.know(platforms)
            return queue, queue
        case _:
            assert_never(settings.queue.provider)


def _unit_of_work(
    file: SqliteFile | None, queue: Queue, kept: Kept, phase: Callable[[Part, float], None] | None
) -> UnitOfWork:
    """Queue and store in one file settle in one transaction."""
    store, deadletters = kept.store, kept.deadletters
    if file and isinstance(queue, SqliteQueue) and isinstance(store, SqliteStore):
        assert isinstance(deadletters, SqliteDeadletters), "they are where the documents are"
        return SqliteUnitOfWork(file, queue, store, deadletters)
    return SequentialUnitOfWork(queue, store, deadletters, phase)


def _inbox(file: SqliteFile | None, queue: Queue, kept: Kept, clock: Clock) -> Inbox:
    """Queue and receipts in one file take a delivery in one transaction."""
    keys = kept.idempotency_keys
    if file and isinstance(queue, SqliteQueue) and isinstance(keys, SqliteIdempotencyKeys):
        return SqliteInbox(file, queue, keys, clock)
    return SequentialInbox(queue, keys, clock)


def amqp_settings(section: AmqpSection, *, loops: int, alone: bool) -> AmqpSettings:
    """The section as the adapter wants it, with the URLs of its files if it has any. Raises ConfigError.

    alone: no other process can reach the dedup markers.
    """
    return AmqpSettings(
        **section.model_dump(exclude={"url", "url_file", "management_url", "management_url_file"}),
        url=_url(section.url, section.url_file, "amqp.url_file"),
        management_url=_url(section.management_url, section.management_url_file, "amqp.management_url_file"),
        loops=loops,
        alone=alone,
    )


def check_servers(settings: Settings) -> None:
    """Raises ConfigError for URLs that cannot be connected to, those of files included. Makes no connection."""
    if settings.queue.provider == "amqp":
        from queues.amqp.management import managed

        managed(amqp_settings(settings.amqp, loops=settings.crawl.loops, alone=False))
    if settings.store.provider == "mongo":
        mongo_settings(settings.mongo)


def mongo_settings(section: MongoSection) -> MongoSettings:
    """The section as the adapter wants it, with the URL of its file if it has one. Raises ConfigError."""
    url = _url(section.url, section.url_file, "mongo.url_file")
    return MongoSettings(**section.model_dump(exclude={"url", "url_file"}), url=url)


def _url(said: SecretStr, file: str, setting: str) -> str:
    """The URL that the settings say, or that the file does which they name. Raises ConfigError."""
    return read_secret(Path(file).expanduser(), f"file {setting}").strip() if file else said.get_secret_value()


def read_secret(path: Path, what: str) -> str:
    """What a file of credentials says. Raises ConfigError."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigError(f"{what} {path} not found") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read the {what} {path}: {type(error).__name__}") from None
