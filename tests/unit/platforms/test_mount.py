"""Specs of several platforms on one command line, and whose a URL is."""

from __future__ import annotations

from typing import Any

import pytest

from ghcrawl.platforms.github import GITHUB
from ghcrawl.values.errors import SpecError
from ghcrawl.values.frozen import replace
from ghcrawl.values.requests import Payload, Request
from tests.support.builders import NOW
from tests.support.library import BRANCHES, LIBRARY
from tests.support.platforms import mounted

MOUNTS = mounted(GITHUB, LIBRARY, BRANCHES)


@pytest.mark.parametrize(
    ("spec", "platform", "url"),
    [
        ("acme/web", "github", "https://api.github.com/repos/acme/web"),
        ("library:7", "library", "http://127.0.0.1:1/shelves/7"),
        ("7@a.example", "branches", "http://a.example/shelves/7"),
        ("github:7", "github", "https://api.github.com/orgs/7"),
    ],
)
def test_words_mean_what_exactly_one_platform_understands(spec: str, platform: str, url: str) -> None:
    request = MOUNTS.read_spec(spec, "default")
    assert (request.platform, request.url) == (platform, url)


def test_words_that_several_platforms_understand_are_to_be_said_with_a_platform() -> None:
    with pytest.raises(SpecError, match="write github:7 or library:7"):
        MOUNTS.read_spec("7", "default")


def test_words_that_no_platform_understands_are_answered_by_each() -> None:
    with pytest.raises(SpecError) as raised:
        MOUNTS.read_spec("no such thing", "default")
    assert all(f"{name}: " in str(raised.value) for name in ("github", "library", "branches"))


def test_one_platform_alone_answers_in_its_own_words() -> None:
    with pytest.raises(SpecError, match=r"^a shelf has a number$"):
        mounted(LIBRARY).read_spec("x", "default")


def test_a_platform_owns_what_lies_below_its_base_url_and_a_federated_one_every_host() -> None:
    assert MOUNTS["github"].owns("https://api.github.com/orgs/acme")
    assert not MOUNTS["github"].owns("https://api.github.com.example/orgs/acme")
    assert not MOUNTS["github"].owns("webhook:security_advisory")
    assert MOUNTS["branches"].owns("http://anywhere.example/shelves/1")
    assert not MOUNTS["branches"].owns("webhook:x")


def a_repo(url: str = "https://api.github.com/repos/acme/web", **more: Any) -> Request:
    return replace(Request(platform="github", type="repo", url=url, policy="default"), **more)


@pytest.mark.parametrize(
    ("request_", "sentence"),
    [
        (a_repo("https://evil.example/repos/acme/web"), "is not below https://api.github.com"),
        (a_repo(platform="nowhere"), "unknown platform 'nowhere'"),
        (a_repo(type="rpo"), "did you mean repo?"),
        (a_repo(attempt=-1), "attempt is -1"),
        (a_repo(policy="reload:nowhere"), "nowhere"),
        (a_repo("https://api.github.com/repos/acme/web?x=1&Access_Token=sesame-1"), "a credential as Access_Token"),
        (a_repo("https://me:sesame-1@api.github.com/repos/acme/web"), "a credential before the host"),
        (Request(platform="branches", type="shelf", url="ftp://a.example/1", policy="default"), "is no http"),
    ],
)
def test_a_request_that_could_only_become_a_deadletter_is_refused(request_: Request, sentence: str) -> None:
    with pytest.raises(SpecError) as raised:
        MOUNTS.demand(request_)
    assert sentence in str(raised.value)
    assert "sesame" not in str(raised.value)


def test_a_request_that_carries_its_payload_may_have_any_url() -> None:
    payload = Payload.of({}, origin="webhook", observed_at=NOW)
    MOUNTS.demand(a_repo())
    MOUNTS.demand(a_repo("webhook:x", payload=payload))
