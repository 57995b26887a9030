"""GitHub and the tests' library on one command line: counts, deadletters and filters keep them apart."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from ghcrawl.simulator.github.generation.size import TINY
from tests.integration.service.conftest import OPERATOR, Serve, Served
from tests.support.builders import a_deadletter, a_request
from tests.support.cli import ROOT, Shell, fill, shell
from tests.support.crawling import TOKEN, stage
from tests.support.library import LibrarySimulator

BOOKS = 7
LIBRARY = {"book": BOOKS, "books": 3, "shelf": 1}


def knowing_the_library(folder: Path) -> None:
    """`ghcrawl` in this folder's shells knows the library, too."""
    script = folder / ".bin" / "ghcrawl"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m tests.support.with_library "$@"\n')
    script.chmod(0o755)


async def test_specs_of_both_on_one_command_line(tmp_path: Path, serve: Serve) -> None:
    knowing_the_library(tmp_path)
    library = LibrarySimulator(size=BOOKS)
    async with stage(tmp_path, TINY) as it, library.running() as url:
        environ = {
            "GHCRAWL_TOKENS": TOKEN,
            "GHCRAWL_GITHUB__API_URL": it.server.url,
            "GHCRAWL_GITHUB__CALLS_PER_MIN": "0",
            "GHCRAWL_GITHUB__RESPONSE_S_PER_MIN": "0",
            "GHCRAWL_LIBRARY__API_URL": url,
            "GHCRAWL_CRAWL__MAX_ATTEMPTS": "1",
        }
        async with shell(tmp_path, **environ) as sh:
            await both_are_crawled(sh, library)
            await fill(tmp_path / "ghcrawl.db", deadletters=[a_deadletter(1, request=a_request(99), kind="http_502")])
            here = await told(sh)
            async with serve(**environ, GHCRAWL_CRAWL__PAUSED="true") as served:
                sh.environ["GHCRAWL_ADMIN_TOKEN"] = OPERATOR
                assert await told(sh, "--server", served.url) == here
                await the_api_keeps_them_apart(served)


async def both_are_crawled(sh: Shell, library: LibrarySimulator) -> None:
    first = await sh.run("crawl", "acme", "library:1", "--json")
    assert first.status == 0, first.err
    saved = first.json["entities"]["saved_by_type"]
    assert (saved["book"], saved["shelf"], saved["org"]) == (BOOKS, 1, 1)
    library.closed = 1
    again = await sh.run("crawl", "library:1", "acme", "--policy", "reload", "--json")
    assert (again.status, again.json["deadletters"]["left"]) == (1, 1), again.err


async def told(sh: Shell, *place: str) -> object:
    """What commands say of both, and of each."""
    count = (await sh.run("documents", "count", "--json", *place)).json["by_type"]
    assert {type: count[type] for type in LIBRARY} == LIBRARY
    assert count["org"] == 1
    of_library = await types(sh, "documents", "list", "--limit", "0", "--platform", "library", *place)
    assert of_library == {"book": BOOKS, "shelf": 1}
    of_github = await types(sh, "documents", "list", "--limit", "0", "--platform", "github", *place)
    assert not of_github.keys() & LIBRARY.keys()
    assert of_github["org"] == 1
    everything = await types(sh, "documents", "list", "--limit", "0", *place)
    assert everything == {**of_github, **of_library}
    assert await types(sh, "documents", "list", "--type", "library/book", *place) == {"book": BOOKS}
    wrong = await sh.run("documents", "list", "--type", "book", "--platform", "github", *place)
    assert (wrong.status, "unknown type book" in wrong.err) == (2, True)
    letters = {
        name: [(each["platform"], each["type"], each["class"]) for each in await letters_of(sh, name, *place)]
        for name in ("github", "library")
    }
    assert letters == {"github": [("github", "issue", "http_502")], "library": [("library", "shelf", "http_503")]}
    return count, everything, letters


async def types(sh: Shell, *words: str) -> Mapping[str, int]:
    ran = await sh.run(*words, "--json")
    assert ran.status == 0, ran.err
    found: dict[str, int] = {}
    for one in ran.json:
        assert one["urn"].startswith("urn:library:") == (one["platform"] == "library")
        found[one["type"]] = found.get(one["type"], 0) + 1
    return found


async def letters_of(sh: Shell, platform: str, *place: str) -> list[dict[str, str]]:
    said = (await sh.run("deadletters", "list", "--platform", platform, "--json", *place)).json
    assert said["total"] == sum(said["by_type"].values()) == 1
    found: list[dict[str, str]] = said["deadletters"]
    return found


async def the_api_keeps_them_apart(served: Served) -> None:
    """What the console asks for."""
    counts = await served.ask("GET", "/api/v1/document-counts")
    by_type = {(each["platform"], each["type"]): each["count"] for each in counts["types"]}
    assert {type: count for (platform, type), count in by_type.items() if platform == "library"} == LIBRARY
    assert by_type["github", "org"] == 1
    found = await served.ask("GET", "/api/v1/documents?platform=library&lists=false&limit=100")
    assert {each["_metadata"]["platform"] for each in found["documents"]} == {"library"}
    assert len(found["documents"]) == BOOKS + 1
    searched = await served.ask("GET", "/api/v1/documents?q=library:1")
    assert [each["_metadata"]["urn"] for each in searched["documents"]] == ["urn:library:shelf:1"]
    for platform, type in (("github", "issue"), ("library", "shelf")):
        letters = await served.ask("GET", f"/api/v1/deadletters?platform={platform}")
        assert [each["request"]["type"] for each in letters["deadletters"]] == [type]
        counted = await served.ask("GET", f"/api/v1/deadletter-counts?platform={platform}")
        assert [(each["platform"], each["type"], each["count"]) for each in counted["types"]] == [(platform, type, 1)]
    status = await served.ask("GET", "/api/v1/status")
    assert {"github", "library"} <= {each["platform"] for each in status["documents"]["types"]}
