from __future__ import annotations

from base64 import b64encode

import pytest

from ghcrawl.simulator.github.behaviour import Manners
from ghcrawl.simulator.github.identity import read_credential
from ghcrawl.simulator.github.principals import Denial, Principal, Viewer, installation_principal
from ghcrawl.simulator.github.server import Setup
from ghcrawl.simulator.github.world import World
from ghcrawl.values.frozen import replace
from tests.unit.simulator.github.conftest import Hub, Start, an_insider, an_outsider


def turned_away(world: World, why: Denial) -> Principal:
    principal = world.principal(an_insider(world))
    return replace(principal, viewer=replace(principal.viewer, denials=frozenset({(world.org("acme").id, why)})))


@pytest.fixture
async def hub(settled: World, start: Start) -> Hub:
    return await start(
        settled,
        Setup(
            tokens={
                "token-a": settled.principal(an_insider(settled)),
                "outsider": settled.principal(an_outsider(settled)),
                "sso": turned_away(settled, "sso"),
                "ip": turned_away(settled, "ip_allow_list"),
                "installation": installation_principal(7, settled.org("acme")),
            }
        ),
    )


async def test_bad_credentials_are_401_and_cost_the_address_not_the_user(hub: Hub) -> None:
    for header in ("Bearer nope", "token nope", "Basic dXNlcjpwYXNz", "token-a"):
        got = await hub.get("/orgs/acme", Authorization=header)
        assert (got.status, got.json["message"]) == (401, "Bad credentials")
        assert got.headers["X-RateLimit-Limit"] == "60"
    assert (await hub.get("/orgs/acme")).remaining == 4999


async def test_both_schemes_are_understood_whatever_their_case(hub: Hub) -> None:
    for header in ("Bearer token-a", "bearer token-a", "token token-a", "TOKEN token-a"):
        assert (await hub.get("/user", Authorization=header)).status == 200
    assert "secret" not in repr(read_credential("Bearer secret"))


async def test_a_token_may_be_sent_as_a_password_or_as_a_name_without_one(hub: Hub) -> None:
    for pair in ("ada:token-a", "x-access-token:token-a", "token-a:", "token-a:x-oauth-basic"):
        header = f"Basic {b64encode(pair.encode()).decode()}"
        assert (await hub.get("/user", Authorization=header)).status == 200
    for header in ("Basic !", f"Basic {b64encode(b'ada:nope').decode()}"):
        assert (await hub.get("/user", Authorization=header)).status == 401


async def test_a_revoked_token_is_bad(hub: Hub) -> None:
    hub.server.doorman.revoke("token-a")
    assert (await hub.get("/orgs/acme")).status == 401
    hub.server.doorman.add("token-a", hub.world.principal(an_insider(hub.world)))
    assert (await hub.get("/orgs/acme")).status == 200


async def test_a_token_in_the_query_and_a_call_without_an_agent_are_turned_away(hub: Hub) -> None:
    assert (await hub.get("/orgs/acme?access_token=token-a")).status == 400
    got = await hub.get("/orgs/acme", User_Agent="")
    assert (got.status, b"administrative rules" in got.raw) == (403, True)


async def test_nobody_is_let_in_where_that_is_so(settled: World, start: Start) -> None:
    hub = await start(settled, Setup(manners=Manners(anonymous_limit=None)))
    assert (await hub.get("/orgs/acme", token=None)).status == 401


@pytest.mark.parametrize("token", [None, "outsider"])
async def test_what_is_private_does_not_exist_for_others(hub: Hub, token: str | None) -> None:
    plans = hub.world.repo("acme/plans")
    for path in ("/repos/acme/plans", "/repos/acme/plans/issues", f"/repositories/{plans.id}/commits"):
        assert (await hub.get(path)).status == 200
        assert (await hub.get(path, token=token)).status == 404
    shown = {repo["name"] for repo in (await hub.get("/orgs/acme/repos?per_page=100", token=token)).json}
    assert "plans" not in shown
    assert "plans" in {repo["name"] for repo in await hub.pagination("/orgs/acme/repos?per_page=100")}


async def test_members_teams_and_collaborators_are_for_insiders(hub: Hub) -> None:
    members = hub.world.org("acme").members.values()
    assert len(await hub.pagination("/orgs/acme/members")) == len(members)
    public = (await hub.get("/orgs/acme/members", token="outsider")).json
    assert len(public) == sum(member.public for member in members) < len(members)
    assert public == (await hub.get("/orgs/acme/public_members")).json
    admins = await hub.pagination("/orgs/acme/members?role=admin")
    assert len(admins) == sum(member.role == "admin" for member in members)
    for path, status, nobody in (
        ("/orgs/acme/teams", 403, 401),
        ("/orgs/acme/teams/core/members", 403, 401),
        ("/repos/acme/web/collaborators", 403, 403),
        ("/repos/acme/web/teams", 404, 404),
    ):
        assert (await hub.get(path)).status == 200, path
        assert (await hub.get(path, token="outsider")).status == status, path
        assert (await hub.get(path, token=None)).status == nobody, path


async def test_teams_may_be_hidden_altogether(settled: World, start: Start) -> None:
    tokens = {"token-a": settled.principal(an_outsider(settled))}
    hub = await start(settled, Setup(tokens=tokens, manners=Manners(teams_denied_status=404)))
    assert (await hub.get("/orgs/acme/teams")).status == 404


async def test_insiders_are_shown_more_of_the_same_thing(hub: Hub) -> None:
    inside, outside, nobody = [
        (await hub.get("/repos/acme/web", token=token)).json for token in ("token-a", "outsider", None)
    ]
    assert inside["permissions"]["push"]
    assert not outside["permissions"]["push"]
    assert "permissions" not in nobody
    assert "total_private_repos" in (await hub.get("/orgs/acme")).json
    assert "total_private_repos" not in (await hub.get("/orgs/acme", token="outsider")).json
    me = an_insider(hub.world)
    assert "plan" in (await hub.get(f"/users/{me}")).json
    assert "plan" not in (await hub.get(f"/users/{me}", token="outsider")).json
    drafts = [each for each in await hub.pagination("/repos/acme/web/releases") if each["draft"]]
    shown = (await hub.get("/repos/acme/web/releases", token="outsider")).json
    assert len(drafts) == 1
    assert drafts[0]["id"] not in {each["id"] for each in shown}
    assert (await hub.get(f"/repos/acme/web/releases/{drafts[0]['id']}", token="outsider")).status == 404


async def test_sso_keeps_a_credential_from_what_is_private_and_says_so(hub: Hub) -> None:
    assert (await hub.get("/repos/acme/web", token="sso")).status == 200
    for path in ("/repos/acme/plans", "/orgs/acme/members", "/orgs/acme/teams"):
        got = await hub.get(path, token="sso")
        assert got.status == 403
        assert "SAML" in got.json["message"]
        assert got.headers["X-GitHub-SSO"].startswith("required; url=")
    listed = await hub.get("/orgs/acme/repos?per_page=100", token="sso")
    assert listed.headers["X-GitHub-SSO"] == f"partial-results; organizations={hub.world.org('acme').id}"
    assert "plans" not in {repo["name"] for repo in listed.json}


async def test_an_address_that_is_not_allowed_sees_less_than_nobody(hub: Hub) -> None:
    for path in ("/repos/acme/web", "/orgs/acme", "/orgs/acme/repos"):
        got = await hub.get(path, token="ip")
        assert (got.status, "IP allow list" in got.json["message"]) == (403, True)
        assert (await hub.get(path, token=None)).status == 200


async def test_an_installation_is_nobody_in_particular(hub: Hub) -> None:
    got = await hub.get("/user", token="installation")
    assert (got.status, got.json["message"]) == (403, "Resource not accessible by integration")
    assert (await hub.get("/user", token=None)).status == 401
    listed = (await hub.get("/installation/repositories", token="installation")).json
    assert listed["total_count"] == len(hub.world.repos_of(hub.world.org("acme")))
    assert (await hub.get("/installation/repositories")).status == 403
    assert (await hub.get("/repos/acme/plans", token="installation")).status == 200


def test_equal_viewers_are_one() -> None:
    assert Viewer(user=1, insider_of=frozenset({2, 3})) == Viewer(user=1, insider_of=frozenset({3, 2}))
