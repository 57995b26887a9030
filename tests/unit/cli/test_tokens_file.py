"""Credentials of a running service are swapped for others, and never for none."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from structlog.testing import capture_logs

from ghcrawl.cli.tokens_file import Rotation
from ghcrawl.fetch.github.principals import Token
from ghcrawl.ports.source import Credential
from ghcrawl.wiring import load, read_credentials


class Follower:
    """Follows a file of tokens, and remembers what was used since."""

    def __init__(self, file: Path, text: str = "token-aaaa\n") -> None:
        self.file = file
        self.used: list[list[str]] = []
        file.write_text(text)
        settings, _ = load(None, {}, {"github.tokens_file": str(file)})
        self.rotation = Rotation(str(file), lambda: read_credentials(settings, {})["github"], self._use)

    async def _use(self, credentials: Sequence[Credential]) -> None:
        self.used.append([one.secret for one in credentials if isinstance(one, Token)])

    async def follow(self, text: str | None = None, times: int = 1) -> list[str]:
        """Which events were logged."""
        if text is not None:
            self.file.write_text(text)
        with capture_logs() as logs:
            for _ in range(times):
                await self.rotation.follow()
        return [line["event"] for line in logs]


async def test_a_file_that_is_written_anew_is_used_once(tmp_path: Path):
    it = Follower(tmp_path / "tokens")

    assert await it.follow() == []
    assert await it.follow("token-aaaa\ntoken-bbbb\n", times=3) == ["tokens_read"]
    assert it.used == [["token-aaaa", "token-bbbb"]]


async def test_a_file_that_is_emptied_before_it_is_written_changes_nothing_until_it_is(tmp_path: Path):
    it = Follower(tmp_path / "tokens")

    assert await it.follow("", times=3) == ["tokens_refused"]
    assert await it.follow("# token-bbbb\n", times=3) == []
    assert it.used == []
    assert await it.follow("token-bbbb\n") == ["tokens_read"]
    assert it.used == [["token-bbbb"]]


async def test_a_file_that_is_away_or_half_written_is_said_once_and_read_when_it_is_there(tmp_path: Path):
    it = Follower(tmp_path / "tokens")
    it.file.unlink()

    assert await it.follow(times=2) == ["tokens_refused"]
    assert await it.follow("token-bbbb#pri", times=2) == ["tokens_refused"]
    assert await it.follow("token-bbbb#private\n") == ["tokens_read"]
    assert it.used == [["token-bbbb"]]


async def test_without_a_file_there_is_nothing_to_follow():
    with capture_logs() as logs:
        await Rotation("", lambda: (), lambda _: 1 / 0).follow()  # type: ignore[arg-type, return-value]  # not called
    assert logs == []
