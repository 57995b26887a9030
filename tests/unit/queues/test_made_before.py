"""What an older version left in a file or a broker goes on being crawled.

`made_before/` holds what version 0.1 wrote before each platform had lanes of its own: a database file as SQL, with
requests that wait, that are delayed and that were in flight when its process ended; and queue messages, one a line.
"""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from ghcrawl.ports.queue import Depth
from ghcrawl.values.errors import ConfigError
from ghcrawl.values.lanes import Lane
from ghcrawl.values.requests import Push
from ghcrawl.values.type_names import LEGACY_PLATFORM
from queues.codec import decode, encode
from tests.contracts.adapters import SqliteRig, open_file
from tests.support.builders import a_request
from tests.support.lanes import LANES

MADE_BEFORE = Path(__file__).parent / "made_before"
MESSAGES = (MADE_BEFORE / "messages.txt").read_bytes().splitlines()
SQL = (MADE_BEFORE / "schema-1.sql").read_text(encoding="utf-8")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = sqlite3.connect(tmp_path / "crawl.db")
    made.executescript(SQL)
    made.close()
    return tmp_path / "crawl.db"


@pytest.mark.parametrize("message", MESSAGES)
def test_a_message_of_an_older_version_is_read_and_written_back_as_it_was(message: bytes) -> None:
    request = decode(message)
    assert request.platform == LEGACY_PLATFORM
    assert json.loads(encode(request)) == json.loads(message)


@pytest.mark.parametrize("message", MESSAGES)
def test_a_message_without_a_platform_is_of_the_one_there_was(message: bytes) -> None:
    value = json.loads(message)
    del value["platform"]
    assert decode(json.dumps(value).encode()) == decode(message)


async def test_a_file_of_an_older_schema_is_crawled_to_its_end(path: Path) -> None:
    rig = SqliteRig(path)
    await rig.open()
    depths = await rig.queue.depths()
    assert {lane.queue: (depth.ready, depth.delayed) for lane, depth in depths.items()} == {
        "event": (1, 0),
        "immediate": (1, 0),
        "soon": (1, 0),
        "normal": (2, 0),
        "later": (0, 1),
    }
    await rig.queue.push([Push(request=a_request(1, platform="other"), queue="soon")])
    assert (await rig.queue.depths())[Lane("other", "soon")] == Depth(ready=1)
    await rig.advance(60)
    urls = set()
    while (delivery := await rig.queue.pop(LANES, patience_s=0)) is not None:
        urls.add(delivery.request.url)
        await delivery.ack()
    assert urls == {decode(message).url for message in MESSAGES}
    assert await rig.queue.is_empty([LEGACY_PLATFORM])
    await rig.file.close()


async def test_what_waits_in_a_file_of_an_older_schema_is_not_queued_twice(path: Path) -> None:
    rig = SqliteRig(path)
    await rig.open()
    pushed = await rig.queue.push([Push(request=decode(message), queue="later") for message in MESSAGES])
    assert (pushed.queued, pushed.bounced) == (0, len(MESSAGES))
    await rig.file.close()


async def test_the_older_version_refuses_a_file_that_was_migrated(path: Path) -> None:
    file = await open_file(path)
    await file.close()
    with pytest.raises(ConfigError, match="newer ghcrawl"):
        await open_file(path, migrations=())
