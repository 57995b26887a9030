"""`--server`: every command says of a service what it says of the file that the service works on."""

from __future__ import annotations

import asyncio
import shlex
import signal
from pathlib import Path
from typing import Self

import pytest

from ghcrawl.cli import main
from ghcrawl.values.requests import Push
from tests.integration.service.conftest import OPERATOR, PATIENCE_S, READER, Serve
from tests.support.builders import a_deadletter, a_document, a_request, at
from tests.support.cli import Ran, fill, shell

pytestmark = pytest.mark.crawl
PAUSED = {"GHCRAWL_CRAWL__PAUSED": "true"}


async def filled(folder: Path) -> None:
    await fill(
        folder / "ghcrawl.db",
        documents=[a_document(number) for number in range(3)],
        pushes=[Push(request=a_request(number), queue="soon") for number in range(10, 14)],
        deadletters=[a_deadletter(number, kind="Malformed" if number else "http_503") for number in range(3)],
    )


class Commands:
    """Runs commands in this process: they are many."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._capsys = capsys
        self.environ = monkeypatch

    def as_(self, token: str) -> Self:
        self.environ.setenv("GHCRAWL_ADMIN_TOKEN", token)
        return self

    async def run(self, *words: str) -> Ran:
        self._capsys.readouterr()
        status = await asyncio.to_thread(main, list(words))
        said = self._capsys.readouterr()
        return Ran(status, said.out, said.err)


@pytest.fixture
def sh(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Commands:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return Commands(capsys, monkeypatch)


async def same(sh: Commands, url: str, *words: str) -> str:
    """What a command says of the service, having made sure that it says the same of the file."""
    here, there = await sh.run(*words), await sh.run(*words, "--server", url)
    assert (there.status, there.out) == (here.status, here.out), there.err
    return there.out


async def test_looking_at_a_service_shows_what_is_in_its_file(tmp_path: Path, serve: Serve, sh: Commands):
    await filled(tmp_path)
    async with serve(**PAUSED) as served:
        sh.as_(READER)
        for words in (
            ("documents", "list", "--json"),
            ("documents", "list", "--type", "issue", "--limit", "2"),
            ("documents", "show", "urn:repo:12:issue:1", "--json"),
            ("documents", "show", a_document(2).url, "--json"),
            ("documents", "count", "--json"),
            ("documents", "export"),
            ("deadletters", "list", "--json"),
            ("deadletters", "list", "--class", "Malformed", "--json"),
            ("deadletters", "show", a_deadletter(1).urn, "--json"),
            ("queue", "--json"),
            ("requests", "peek", "soon", "--json"),
        ):
            assert await same(sh, served.url, *words)
        missing = await sh.run("documents", "show", "urn:repo:12:issue:99", "--server", served.url)
        status = await sh.run("status", "--server", served.url)
        figures = await sh.run("status", "--json", "--server", served.url)
        config = await sh.run("config", "show", "--json", "--server", served.url)
    assert missing.status == 1
    assert "3 entities: issue 3" in status.out
    assert "0 busy; paused" in status.out
    assert figures.json["deadletters"]["total"] == 3
    assert config.json["origins"]["crawl.paused"] == "environment"


def contents(output: Path) -> dict[str, bytes]:
    """Of a file, or of each in a folder."""
    return {path.name: path.read_bytes() for path in output.iterdir()} if output.is_dir() else {"": output.read_bytes()}


async def test_tables_and_exports_of_a_service_are_those_of_its_file(tmp_path: Path, serve: Serve, sh: Commands):
    pytest.importorskip("duckdb", reason="the extra `tables` is not installed")
    await filled(tmp_path)
    async with serve(**PAUSED) as served:
        sh.as_(READER)
        for words in (
            ("documents", "export", "--flat"),
            ("documents", "export", "--type", "issue", "--format", "csv"),
        ):
            assert await same(sh, served.url, *words)
        for form in ("--by-type", "--by-type --flat", "--type issue --format parquet"):
            outputs = [tmp_path / f"{name}{form.replace(' ', '')}" for name in ("here", "there")]
            for output, place in zip(outputs, ((), ("--server", served.url)), strict=True):
                ran = await sh.run("documents", "export", *form.split(), "-o", str(output), *place)
                assert (ran.status, ran.err) == (0, f"3 documents written to {output}.\n")
            here, there = map(contents, outputs)
            assert here == there
        told = [
            (await sh.run("documents", "export", "--format", "singer", *place)).out.splitlines()
            for place in ((), ("--server", served.url))
        ]
        for name in ("one.sqlite", "one.duckdb", "parquet", "csv-one"):
            ran = await sh.run("tables", "--to", name, "--server", served.url)
            assert (ran.status, ran.err) == (0, f"3 documents written to {name}.\n")
            again = await sh.run("tables", "--to", name, "--server", served.url)
            assert (again.status, again.err) == (0, f"0 documents written to {name}.\n")
        directly = await sh.run("tables", "--to", "one.sqlite")
        assert (directly.status, directly.err) == (0, "0 documents written to one.sqlite.\n"), "the same store"
        await fill(
            tmp_path / "ghcrawl.db",
            documents=[a_document(1, title="later", observed_at=at(9), processed_at=at(7200))],
        )
        assert (await sh.run("tables", "--to", "one.sqlite", "--server", served.url)).err.startswith("1 document ")
        asked = await sh.run("tables", "ask", "SELECT number, title FROM issues ORDER BY 1", "--in", "one.sqlite")
    assert told[0][:-1] == told[1][:-1], "all but the state, which names the place"
    assert asked.out.splitlines() == ['"number","title"', '0,"first"', '1,"later"', '2,"first"']


async def test_whoever_a_service_asks_as_is_listed_like_tokens_of_our_own(tmp_path: Path, serve: Serve, sh: Commands):
    await filled(tmp_path)
    tokens = "ghp_one0000000000000000000000000000000000#private,org:acme;ghp_two0000000000000000000000000000000000"
    sh.environ.setenv("GHCRAWL_TOKENS", tokens)
    async with serve(**PAUSED, GHCRAWL_TOKENS=tokens) as served:
        sh.as_(READER)
        here = (await sh.run("tokens", "--json")).json
        there = (await sh.run("tokens", "--json", "--server", served.url)).json
        shown = await sh.run("tokens", "--server", served.url)
        checked = await sh.run("tokens", "check", "--server", served.url)
    assert [{**one, "from": None} for one in here] == there
    assert [row[1] for row in shown.rows] == ["private, org:acme", "any"]
    assert (checked.status, [row[1] for row in checked.rows]) == (0, ["not used yet"] * 2)


async def test_sources_are_watched_through_a_service(tmp_path: Path, serve: Serve, sh: Commands):
    await filled(tmp_path)
    async with serve(**PAUSED) as served:
        sh.as_(OPERATOR)
        at = ("--server", served.url)
        watched = await sh.run("watch", "acme/web", "acme/api", "--every", "0.5", *at)
        assert (watched.status, watched.err) == (0, "2 added, 0 watched already.\n")
        assert len((await same(sh, served.url, "watch", "list")).splitlines()) == 2
        assert await same(sh, served.url, "watch", "show", "acme/web", "--json")
        assert (await sh.run("unwatch", "acme/web", *at)).err == "1 removed.\n"
        assert (await sh.run("watch", "show", "acme/web", *at)).status == 1
        assert (await sh.run("watch", "nothing at all", *at)).status == 2


async def test_what_is_changed_through_a_service_is_changed(tmp_path: Path, serve: Serve, sh: Commands):
    await filled(tmp_path)
    async with serve(**PAUSED) as served:
        sh.as_(OPERATOR)
        at = ("--server", served.url)
        dry = await sh.run("deadletters", "requeue", "--class", "Malformed", "--dry-run", *at)
        assert dry.err == "This would requeue 2 deadletters (Malformed 2).\n"
        requeued = await sh.run("deadletters", "requeue", "--class", "Malformed", "--yes", *at)
        assert (requeued.status, requeued.err) == (0, "2 requests requeued.\n")
        deleted = await sh.run("deadletters", "delete", "--all", "--yes", *at)
        assert deleted.err == "1 deadletter deleted.\n"
        pushed = await sh.run("requests", "push", "acme/web", "--queue", "later", *at)
        assert pushed.err == "1 request queued in later.\n"
        assert (await sh.run("queue", "purge", "soon", "--yes", *at)).status == 0
        depths = (await sh.run("queue", "--json")).json
        assert [depths[name]["total"] for name in ("soon", "normal", "later")] == [0, 2, 1]
        changed = await sh.run("config", "set", "crawl.loops", "7", *at)
        assert changed.err == f"crawl.loops is now 7 in all replicas of {served.url}.\n"
        assert (await served.ask("GET", "/api/v1/loops"))["wanted"] == 7
        await sh.run("config", "set", "crawl.loops", "9")
        audit = (await served.ask("GET", "/api/v1/settings/audit"))["changes"]
        assert [(each["who"][:5], each["before"], each["after"]) for each in audit] == [
            ("comma", 7, 9),
            ("token", None, 7),
        ]


async def test_what_stands_in_the_way_is_one_line(tmp_path: Path, serve: Serve, sh: Commands):
    await filled(tmp_path)
    async with serve(**PAUSED) as served:
        at = ("--server", served.url)
        nobody = await sh.run("queue", *at)
        stranger = await sh.as_("somebody-else").run("queue", *at)
        reader = await sh.as_(READER).run("queue", "purge", "soon", "--yes", *at)
        typo = await sh.as_(OPERATOR).run("config", "set", "crawl.loops", "many", *at)
        other = await sh.run("queue", "--server", served.probes)
        away = await sh.run("queue", "--server", "http://127.0.0.1:1")
        wrong = await sh.run("queue", "--server", "localhost:3000")
        password = await sh.run("queue", "--server", "http://me:pass@localhost:3000")
    said = [ran.err for ran in (nobody, reader, typo, other, away, wrong, password, stranger)]
    assert [ran.status for ran in (nobody, reader, typo, other, away, wrong, password, stranger)] == [2] * 8
    assert [text.count("\n") for text in said] == [1] * 8, said
    assert "put one of its admin tokens into GHCRAWL_ADMIN_TOKEN" in said[0]
    assert "grants read access only" in said[1]
    assert "crawl.loops (live): Input should be a valid integer" in said[2]
    assert "check that it is a ghcrawl service" in said[3]
    assert "cannot reach http://127.0.0.1:1: connection refused; check that `ghcrawl serve` runs there" in said[4]
    assert "is not the URL of a service" in said[5]
    assert "remove it and put a token into GHCRAWL_ADMIN_TOKEN" in said[6]
    assert "rejects the token in GHCRAWL_ADMIN_TOKEN: unknown token" in said[7]
    assert not [text for text in said if READER in text or OPERATOR in text]


def count_in(file: Path, text: str) -> int:
    return file.read_text().count(text) if file.exists() else 0


async def said(file: Path, text: str, times: int = 1) -> None:
    """Return once `file` says `text` so often."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            if count_in(file, text) >= times:
                return
            await asyncio.sleep(0.05)


async def test_a_service_is_watched_until_ctrl_c_even_while_it_is_away(tmp_path: Path, serve: Serve, sh: Commands):
    await filled(tmp_path)
    seen = tmp_path / "watch.txt"
    wrap = ("sh", "-c", f'exec "$@" >{shlex.quote(str(seen))}', "sh")
    async with shell(tmp_path, GHCRAWL_ADMIN_TOKEN=READER) as outside:
        async with serve(**PAUSED) as served:
            watching = await outside.start("status", "--watch", "--server", served.url, wrap=wrap)
            await said(seen, "0 busy; paused", times=2)
        await said(seen, "retrying")
        watching.send(signal.SIGINT)
        assert (await watching.ended()).status == 0
        seen.unlink()
        watching = await outside.start("status", "--watch", wrap=wrap)
        await said(seen, "deadletters  3", times=2)
        watching.send(signal.SIGTERM)
        assert (await watching.ended()).status == 0
    assert (await sh.run("status", "--watch", "--json")).status == 2
