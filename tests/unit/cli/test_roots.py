from __future__ import annotations

import pytest

import processors.github
from ghcrawl.cli import kinds, roots
from ghcrawl.cli.roots import Refused
from ghcrawl.errors import SpecError
from ghcrawl.model import Context, Request
from ghcrawl.ports import Pushed, Settled
from ghcrawl.tally import Tally

API = "https://api.github.com"
PLATFORM = processors.github.platform()


def skipped(request: Request, reason: str, detail: str = "", *, pushed: Pushed | None = None) -> Settled:
    return Settled(
        request=request, queue="immediate", outcome="skip", reason=reason, detail=detail, pushed=pushed or Pushed()
    )


def test_a_name_may_be_an_organisations_or_a_users() -> None:
    (root,) = roots.read(PLATFORM, ["acme", "acme"], API, "default")
    assert root.own == (f"{API}/orgs/acme", f"{API}/users/acme")
    assert roots.names([root]) == {f"org@{API}/orgs/acme", f"user@{API}/users/acme"}


def test_what_needs_its_parent_first_is_itself_behind_it() -> None:
    (root,) = roots.read(PLATFORM, ["https://github.com/acme/web/issues/7"], API, "default")
    assert root.own == (f"{API}/repos/acme/web/issues/7",)
    assert roots.names([root]) == {f"repo@{API}/repos/acme/web", f"issue@{API}/repos/acme/web/issues/7"}


@pytest.mark.parametrize("policy", ["default:nowhere", "default:strange/repo", "default:repo@/nothing"])
def test_a_policy_that_leads_nowhere_is_refused_before_anything_is_asked(policy: str) -> None:
    with pytest.raises(SpecError):
        roots.read(PLATFORM, ["acme"], API, policy)


def test_a_token_in_the_wrong_place_is_refused_and_not_repeated() -> None:
    with pytest.raises(SpecError) as refused:
        roots.read(PLATFORM, ["ghp_abcdefghijklmnopqrstuvwxyz0123456789"], API, "default")
    assert "looks like a token" in str(refused.value)
    assert "ghp_" not in str(refused.value)


def test_what_led_to_nothing_is_told_with_its_reason() -> None:
    wanted = roots.read(PLATFORM, ["acme", "acme/web", "https://github.com/acme/api/issues/7"], API, "default")
    tally = Tally(asked=roots.names(wanted))
    org = wanted[0].request
    tally.settled(skipped(org, "missing", "404 Not Found", pushed=Pushed(queued=1)))
    tally.settled(skipped(Request(type="user", url=f"{API}/users/acme"), "missing", "404 Not Found"))
    tally.settled(skipped(wanted[1].request, "visited"))
    issue = Request(
        type="issue", url=f"{API}/repos/acme/api/issues/7", context=Context(history=("repo@…",), qualifier="urn:repo:1")
    )
    tally.settled(skipped(issue, "denied_sso", "403 single sign-on"))
    tally.settled(skipped(Request(type="user", url=f"{API}/users/somebody"), "missing", "404"))
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
    things = kinds.entity_types([PLATFORM])
    assert things[:3] == ("org", "user", "team")
    assert {"issues", "commits", "cursor"}.isdisjoint(things)
    assert {"issue", "commit", "tag"} <= set(things)
    assert kinds.split({"issue": 3, "issues": 2, "cursor": 1, "org": 0}, things) == ({"issue": 3}, 3)
