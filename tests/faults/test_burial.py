"""A repository that is deleted with everything in it, while the processes that mark it as deleted are killed."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Final

import pytest

from ghcrawl.backend import open_backend
from ghcrawl.ports.deadletters import DeadletterFilter
from ghcrawl.ports.store import DocumentFilter
from ghcrawl.simulator.github import changes
from ghcrawl.simulator.github.generation.size import TINY
from ghcrawl.values.frozen import replace
from ghcrawl.wiring import load
from tests.support.backends import backend
from tests.support.cli import program
from tests.support.crawling import Stage, stage
from tests.support.waiting import until

__all__ = ["backend"]

pytestmark = [pytest.mark.faults, pytest.mark.timeout(300)]

SIZE: Final = replace(TINY, issues=250, commits=250)
KILLS: Final = 5
ONLY: Final = "repo,issue,commit,label"


def environment(it: Stage, settings: Mapping[str, Any]) -> dict[str, str]:
    """As an operator would set it."""
    wanted = {**settings, "github.api_url": it.server.url, "github.calls_per_min": 0, "crawl.loops": 4}
    named = {f"GHCRAWL_{name.upper().replace('.', '__')}": str(value) for name, value in wanted.items()}
    return {**os.environ, **named, "GHCRAWL_TOKENS": ";".join(it.tokens)}


async def crawling(folder: Path, environ: Mapping[str, str], *words: str) -> asyncio.subprocess.Process:
    command = (str(program(folder) / "ghcrawl"), "crawl", *words)
    quiet = asyncio.subprocess.DEVNULL
    return await asyncio.create_subprocess_exec(*command, env=environ, cwd=folder, stdout=quiet, stderr=quiet)


async def test_a_deleted_repository_is_buried_to_the_last_document(backend: Mapping[str, Any], tmp_path: Path) -> None:
    """Case 28: five processes are killed in the middle of it. Nothing of it is left, nothing else is touched."""
    settings, _ = load(None, {}, backend)
    async with AsyncExitStack() as stack:
        it = await stack.enter_async_context(stage(tmp_path, SIZE))
        store = (looking := await stack.enter_async_context(open_backend(settings))).store
        environ, repo = environment(it, backend), it.repo
        first = await crawling(tmp_path, environ, "acme", "--only", ONLY)
        assert await first.wait() == 0
        stored = [document async for document in store.list(DocumentFilter(deleted=False))]
        below = {each.urn for each in stored if f"{each.urn}:".startswith(f"urn:repo:{repo.id}:")}
        assert len(below) > 500
        changes.delete_repo(it.world, repo)

        async def buried() -> set[str]:
            return {document.urn async for document in store.list(DocumentFilter(deleted=True))}

        begun = await buried()
        for _ in range(KILLS):
            process = await crawling(tmp_path, environ, f"acme/{repo.name}")

            async def has_gone_on(begun: set[str] = begun) -> bool:
                return await buried() > begun

            await until(has_gone_on, within_s=60, every_s=0.005)
            process.kill()
            assert await process.wait() < 0, "it was in the middle of it"
            begun = await buried()
        last = await crawling(tmp_path, environ, f"acme/{repo.name}")
        await last.wait()
        gone = await buried()
        letters = await looking.deadletters.list(DeadletterFilter(), limit=10)
    assert begun < below, "something was left for the last one"
    assert gone == below
    assert list(letters) == []
