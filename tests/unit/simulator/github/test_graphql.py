from __future__ import annotations

from typing import Any

import pytest

from ghcrawl.fetch.github.queries import QUERIES
from ghcrawl.simulator.github.behaviour import Graphql, Manners
from ghcrawl.simulator.github.people import User
from ghcrawl.simulator.github.principals import Viewer
from ghcrawl.simulator.github.server import Setup
from ghcrawl.simulator.github.shapes import accounts, pulls
from ghcrawl.simulator.github.shapes.site import node_id
from ghcrawl.simulator.github.world import World
from ghcrawl.values.frozen import replace
from tests.unit.simulator.github.conftest import Hub, Start, an_insider


@pytest.fixture
async def hub(settled: World, start: Start) -> Hub:
    return await start(settled)


async def ask(hub: Hub, query: str, *, token: str = "token-a", **variables: Any) -> Any:
    headers = {"Authorization": f"Bearer {token}"}
    body = {"query": query, "variables": variables}
    async with hub.session.post(f"{hub.server.url}/graphql", json=body, headers=headers) as answer:
        hub.sent["points"] = answer.headers["X-RateLimit-Used"]
        assert answer.headers["X-RateLimit-Resource"] == "graphql"
        return await answer.json()


def a_pull(world: World) -> tuple[Any, Any]:
    return next(
        (repo, issue)
        for repo in world.repos.values()
        for issue in repo.pulls
        if issue.pull is not None
        and issue.pull.reviews
        and issue.pull.merged_by
        and not repo.private
        and repo.standing == "fine"
    )


async def test_a_pull_request_says_in_graphql_what_it_says_in_rest(hub: Hub) -> None:
    repo, issue = a_pull(hub.world)
    rest = pulls.pull(hub.server.site, hub.world, repo, issue)
    said = await ask(hub, QUERIES["pull_request_batch"].text, ids=[rest["node_id"]], open=True)

    (node,) = said["data"]["nodes"]
    assert (node["number"], node["updatedAt"], node["headRefOid"]) == (
        issue.number,
        rest["updated_at"],
        rest["head"]["sha"],
    )
    assert (node["additions"], node["changedFiles"]) == (rest["additions"], rest["changed_files"])
    assert node["comments"]["totalCount"] == rest["comments"]
    threads = node["reviewThreads"]
    assert sum(thread["comments"]["totalCount"] for thread in threads["nodes"]) == rest["review_comments"]
    assert node["mergedBy"]["login"] == rest["merged_by"]["login"]
    assert "?u=" in node["mergedBy"]["avatarUrl"]
    assert "errors" not in said


async def test_reviews_and_users_come_with_their_fields(hub: Hub) -> None:
    repo, issue = a_pull(hub.world)
    body = pulls.pull(hub.server.site, hub.world, repo, issue)
    said = await ask(hub, QUERIES["review_batch"].text, ids=[body["node_id"]])
    shown = said["data"]["nodes"][0]["reviews"]["nodes"]
    assert [int(each["fullDatabaseId"]) for each in shown] == [review.id for review in issue.pull.reviews]

    user = next(one for one in hub.world.accounts.values() if isinstance(one, User) and one.type == "User")
    rest = accounts.user(hub.server.site, hub.world, user, Viewer(kind="user"))
    said = await ask(hub, QUERIES["user_batch"].text, ids=[rest["node_id"]])
    (node,) = said["data"]["nodes"]
    assert (node["login"], node["email"], node["followers"]["totalCount"]) == (
        user.login,
        user.email or "",
        rest["followers"],
    )


async def test_repositories_say_how_long_their_lists_are(hub: Hub) -> None:
    repo, _ = a_pull(hub.world)
    blocked = next(each for each in hub.world.repos.values() if each.standing != "fine")
    ids = [node_id("R", each.id) for each in (repo, blocked)]
    node, nothing = (await ask(hub, QUERIES["counts"].text, ids=ids))["data"]["nodes"]

    totals = {name: value["totalCount"] for name, value in node.items() if "totalCount" in value}
    assert totals == {
        "issues": len(repo.issues) - len(repo.pulls),
        "pullRequests": len(repo.pulls),
        "releases": len(repo.releases),
        "deployments": len(repo.records.deployments),
        "commitComments": len(repo.commit_comments),
        "refs": len(repo.branches),
    }
    assert node["defaultBranchRef"]["target"]["history"]["totalCount"] == len(repo.history(repo.head))
    assert nothing is None


async def test_what_is_not_there_is_null_beside_an_error_and_the_others_are_given(hub: Hub) -> None:
    user = hub.world.user(an_insider(hub.world))
    known = accounts.simple_user(hub.server.site, user)["node_id"]
    said = await ask(hub, QUERIES["user_batch"].text, ids=["U_kwDOnobody", known, "nothing"])

    assert [node and node["login"] for node in said["data"]["nodes"]] == [None, user.login, None]
    assert [(error["type"], error["path"]) for error in said["errors"]] == [
        ("NOT_FOUND", ["nodes", 0]),
        ("NOT_FOUND", ["nodes", 2]),
    ]


@pytest.mark.parametrize(
    ("query", "ids", "said"),
    [
        ("query Q($ids: [ID!]!) { nodes(ids: $ids) { id } }", 101, "ARGUMENT_LIMIT"),
        (
            "query Q($ids: [ID!]!) { nodes(ids: $ids) { ... on PullRequest { reviews { nodes { id } } } } }",
            1,
            "MISSING_PAGINATION_BOUNDARIES",
        ),
        (
            "query Q($ids: [ID!]!) { nodes(ids: $ids) { ... on PullRequest { reviews(first: 101) { totalCount } } } }",
            1,
            "EXCESSIVE_PAGINATION",
        ),
    ],
)
async def test_a_query_that_asks_too_much_is_not_run(hub: Hub, query: str, ids: int, said: str) -> None:
    answer = await ask(hub, query, ids=["U_kwDOx"] * ids)
    assert [error["type"] for error in answer["errors"]] == [said]
    assert "data" not in answer


async def test_an_unknown_field_makes_the_whole_query_void(hub: Hub) -> None:
    answer = await ask(hub, "{ viewer { shoeSize } }")
    assert answer["errors"][0]["extensions"]["code"] == "undefinedField"
    assert "data" not in answer


async def test_points_are_a_budget_of_their_own_and_its_end_is_said_with_status_200(settled: World, start: Start):
    principal = replace(settled.principal(an_insider(settled)), points=5)
    hub = await start(settled, Setup(tokens={"token-a": principal}))
    assert "data" in await ask(hub, QUERIES["user_batch"].text, ids=["U_kwDOx"] * 100)
    assert hub.sent["points"] == "4"  # four counters of a hundred users each
    assert "data" in await ask(hub, QUERIES["user_batch"].text, ids=["U_kwDOx"])
    answer = await ask(hub, QUERIES["user_batch"].text, ids=["U_kwDOx"])
    assert [error["type"] for error in answer["errors"]] == ["RATE_LIMITED"]
    assert (await hub.get("/orgs/acme")).remaining == 4999


async def test_a_token_without_the_scope_for_addresses_is_given_nothing(settled: World, start: Start) -> None:
    principal = settled.principal(an_insider(settled))
    manners = Manners(graphql=Graphql(email_scope=False))
    hub = await start(settled, Setup(tokens={"token-a": principal}, manners=manners))
    answer = await ask(hub, QUERIES["user_batch"].text, ids=["U_kwDOx"])
    assert [error["type"] for error in answer["errors"]] == ["INSUFFICIENT_SCOPES"]
    assert "data" in await ask(hub, QUERIES["review_batch"].text, ids=["U_kwDOx"])


async def test_heavy_queries_are_cut_off_or_give_only_part(settled: World, start: Start) -> None:
    principal = settled.principal(an_insider(settled))
    known = accounts.simple_user((await start(settled)).server.site, settled.user(principal.name))["node_id"]
    partly = await start(
        settled, Setup(tokens={"token-a": principal}, manners=Manners(graphql=Graphql(resources_above=1)))
    )
    answer = await ask(partly, QUERIES["user_batch"].text, ids=[known, known])
    assert [node is None for node in answer["data"]["nodes"]] == [False, True]
    assert answer["errors"][0]["type"] == "RESOURCE_LIMITS_EXCEEDED"
    slow = Graphql(too_slow_above=1, slow_as_200=True)
    cut = await start(settled, Setup(tokens={"token-a": principal}, manners=Manners(graphql=slow)))
    answer = await ask(cut, QUERIES["user_batch"].text, ids=[known, known])
    assert answer["data"] is None


async def test_without_a_token_nothing_is_answered(hub: Hub) -> None:
    async with hub.session.post(f"{hub.server.url}/graphql", json={"query": "{ viewer { login } }"}) as answer:
        assert answer.status == 401
