from __future__ import annotations

import asyncio
import io
import sys
from collections.abc import Callable

import pytest

from ghcrawl.cli.bulk_deadletters import rounds
from ghcrawl.ports.deadletters import DeadletterFilter, Forgotten
from ghcrawl.values.errors import StoreError
from tests.support.builders import a_type, at

ANSWERS = (Forgotten(deleted=1500, left=500, before=at(9)), Forgotten(deleted=400, left=100, before=at(8)))
LAST = Forgotten(deleted=100)


class CrawlBackend:
    """Gives these answers, then does what comes last."""

    def __init__(self, *answers: Forgotten, then: Callable[[], Forgotten] = lambda: LAST) -> None:
        self.asked: list[DeadletterFilter] = []
        self.deciding = asyncio.Event()
        self.decided = asyncio.Event()
        self._answers = iter(answers)
        self._then = then

    async def once(self, which: DeadletterFilter) -> Forgotten:
        self.asked.append(which)
        answer = next(self._answers, None)
        if answer is not None:
            return answer
        self.deciding.set()
        await self.decided.wait()
        return self._then()


def away() -> Forgotten:
    raise StoreError("the store is away")


async def deleted(backend: CrawlBackend, *, line_every_s: float = 0.0) -> int:
    answers = await rounds(
        backend.once,
        DeadletterFilter(types=(a_type("issue"),)),
        of=lambda one: one.deleted,
        done="deleted",
        line_every_s=line_every_s,
    )
    return sum(one.deleted for one in answers)


async def test_it_is_asked_by_the_bound_of_the_last_answer_until_nothing_is_left() -> None:
    backend = CrawlBackend(*ANSWERS)
    backend.decided.set()
    assert await deleted(backend) == 2000
    assert [which.before for which in backend.asked] == [None, at(9), at(8)]
    assert {which.types for which in backend.asked} == {(a_type(),)}


async def test_how_far_it_is_is_a_line_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    backend = CrawlBackend(*ANSWERS)
    backend.decided.set()
    await deleted(backend)
    assert capsys.readouterr().err == "1,500 deleted, 500 left.\n1,900 deleted, 100 left.\n"
    again = CrawlBackend(*ANSWERS)
    again.decided.set()
    await deleted(again, line_every_s=1000.0)
    assert capsys.readouterr().err == ""


async def test_on_a_terminal_it_is_one_line_that_is_gone_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal, backend = Terminal(), CrawlBackend(*ANSWERS)
    backend.decided.set()
    monkeypatch.setattr(sys, "stderr", terminal)
    await deleted(backend)
    shown = ["", "1,500 deleted, 500 left \x1b[K", "1,900 deleted, 100 left \x1b[K", "\x1b[K"]
    assert terminal.getvalue().split("\r") == shown


@pytest.mark.parametrize(
    ("last", "said"),
    [
        (ANSWERS[1], "Interrupted: 1,900 deleted, 100 left. Run the same command again to resume.\n"),
        (LAST, "1,600 deleted, none left.\n"),
    ],
)
async def test_whoever_breaks_it_off_hears_what_was_done_with_what_was_under_way(
    capsys: pytest.CaptureFixture[str], last: Forgotten, said: str
) -> None:
    backend = CrawlBackend(ANSWERS[0], then=lambda: last)
    work = asyncio.create_task(deleted(backend, line_every_s=1000.0))
    await backend.deciding.wait()
    work.cancel()
    asyncio.get_running_loop().call_soon(backend.decided.set)
    with pytest.raises(asyncio.CancelledError):
        await work
    assert capsys.readouterr().err == said


@pytest.mark.parametrize(
    ("answers", "said"),
    [((), ""), (ANSWERS[:1], "Interrupted: 1,500 deleted, 500 left. Run the same command again to resume.\n")],
)
async def test_what_fails_in_the_middle_says_what_was_done(
    capsys: pytest.CaptureFixture[str], answers: tuple[Forgotten, ...], said: str
) -> None:
    backend = CrawlBackend(*answers, then=away)
    backend.decided.set()
    with pytest.raises(StoreError):
        await deleted(backend, line_every_s=1000.0)
    assert capsys.readouterr().err == said
