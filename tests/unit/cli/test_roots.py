from __future__ import annotations

import pytest

from ghcrawl.cli import kinds, roots
from ghcrawl.cli.roots import Refused
from ghcrawl.platforms.github import GITHUB
from ghcrawl.ports.observer import Settled
from ghcrawl.ports.queue import Pushed
from ghcrawl.telemetry.tally import Tally
from ghcrawl.values.errors import SpecError
from ghcrawl.values.requests import Ancestor, Context, Request
from ghcrawl.values.type_names import LEGACY_PLATFORM
from tests.support.builders import a_type, by_type
from tests.support.platforms import mounted

API = "https://api.github.com"
MOUNTS = mounted(GITHUB)


def skipped(request: Request, reason: str, detail: str = "", *, pushed: Pushed | None = None) -> Settled:
    return Settled(
        request=request, queue="immediate", outcome="skip", reason=reason, detail=detail, pushed=pushed or Pushed()
    )


def test_a_name_may_be_an_organisations_or_a_users() -> None:
    (root,) = roots.read(MOUNTS, ["acme", "acme"], "default")
    assert roots.names([root]) == {f"org@{API}/orgs/acme", f"user@{API}/users/acme"}


def test_what_needs_its_parent_first_is_itself_behind_it() -> None:
    (root,) = roots.read(MOUNTS, ["https://github.com/acme/web/issues/7"], "default")
    assert roots.names([root]) == {f"repo@{API}/repos/acme/web", f"issue@{API}/repos/acme/web/issues/7"}


@pytest.mark.parametrize("policy", ["default:nowhere", "default:strange/repo", "default:repo@/nothing"])
def test_a_policy_that_leads_nowhere_is_refused_before_anything_is_asked(policy: str) -> None:
    with pytest.raises(SpecError):
        roots.read(MOUNTS, ["acme"], policy)


def test_a_token_in_the_wrong_place_is_refused_and_not_repeated() -> None:
    with pytest.raises(SpecError) as refused:
        roots.read(MOUNTS, ["ghp_abcdefghijklmnopqrstuvwxyz0123456789"], "default")
    assert "looks like a token" in str(refused.value)
    assert "ghp_" not in str(refused.value)


def test_what_led_to_nothing_is_told_with_its_reason() -> None:
    wanted = roots.read(MOUNTS, ["acme", "acme/web", "https://github.com/acme/api/issues/7"], "default")
    tally = Tally(asked=roots.names(wanted))
    org = wanted[0].request
    tally.settled(skipped(org, "missing", "404 Not Found", pushed=Pushed(queued=1)))
    tally.settled(
        skipped(Request(platform=LEGACY_PLATFORM, type="user", url=f"{API}/users/acme"), "missing", "404 Not Found")
    )
    tally.settled(skipped(wanted[1].request, "visited"))
    issue = Request(
        platform=LEGACY_PLATFORM,
        type="issue",
        url=f"{API}/repos/acme/api/issues/7",
        context=Context(history=(Ancestor("repo", "…"),), qualifier="urn:repo:1"),
    )
    tally.settled(skipped(issue, "denied_sso", "403 single sign-on"))
    tally.settled(
        skipped(Request(platform=LEGACY_PLATFORM, type="user", url=f"{API}/users/somebody"), "missing", "404")
    )
    assert roots.refused(wanted, tally) == [
        Refused(spec="acme", url=f"{API}/users/acme", reason="missing", detail="404 Not Found"),
        Refused(
            spec="https://github.com/acme/api/issues/7",
            url=f"{API}/repos/acme/api/issues/7",
            reason="denied_sso",
            detail="403 single sign-on",
        ),
    ]


def test_pages_and_cursors_are_no_things() -> None:
    things = kinds.entity_types([GITHUB])
    assert things[:3] == (a_type("org"), a_type("user"), a_type("team"))
    assert {*map(a_type, ("issues", "commits", "cursor"))}.isdisjoint(things)
    assert {*map(a_type, ("issue", "commit", "tag"))} <= set(things)
    assert kinds.split(by_type(issue=3, issues=2, cursor=1, org=0), things) == ({"issue": 3}, 3)
