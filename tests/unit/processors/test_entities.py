"""Every entity: what it is called, where it leads, what is looked at next."""

from __future__ import annotations

from typing import Any

import pytest

from ghcrawl.values.errors import Malformed
from ghcrawl.values.frozen import replace
from ghcrawl.values.outcome import Save, Skip
from ghcrawl.values.requests import Ancestor, Pagination
from processors.github import ENTITIES
from tests.support.builders import API, NOW
from tests.support.github import (
    REPO,
    a_commit,
    a_pull_request,
    a_repo,
    a_user,
    a_visit,
    an_issue,
    an_org,
    asked,
    carried,
    kind_of,
    process,
    saved,
)

IN_REPO = "urn:repo:12"
ISSUES = (Ancestor("repo", "u"), Ancestor("issues", "u"))


@pytest.mark.parametrize(
    ("type", "body", "urn", "siblings"),
    [
        ("org", an_org(), "urn:org:9", "urn:orgs"),
        ("user", a_user(), "urn:user:5", "urn:users"),
        ("repo", a_repo(), "urn:repo:12", "urn:org:9:repos"),
        ("team", {"id": 7, "organization": an_org()}, "urn:team:7", "urn:org:9:teams:pages"),
        ("issue", an_issue(), "urn:repo:12:issue:34", "urn:repo:12:issues"),
        (
            "issue_comment",
            {"id": 56, "issue_url": f"{REPO}/issues/34", "url": f"{REPO}/issues/comments/56"},
            "urn:repo:12:issue:34:issue_comment:56",
            "urn:repo:12:issue:34:issue_comments",
        ),
        ("pull_request", a_pull_request(), "urn:repo:12:pull_request:34", "urn:repo:12:pull_requests"),
        (
            "review",
            {"id": 7, "pull_request_url": f"{REPO}/pulls/34"},
            "urn:repo:12:pull_request:34:review:7",
            "urn:repo:12:pull_request:34:reviews",
        ),
        (
            "review_comment",
            {"id": 8, "pull_request_url": f"{REPO}/pulls/34", "pull_request_review_id": 7, "commit_id": "c"},
            "urn:repo:12:pull_request:34:review_comment:8",
            "urn:repo:12:pull_request:34:review_comments",
        ),
        ("commit", a_commit(), f"urn:repo:12:commit:{'a' * 40}", "urn:repo:12:commits"),
        (
            "commit_comment",
            {"id": 9, "commit_id": "abc"},
            "urn:repo:12:commit:abc:commit_comment:9",
            "urn:repo:12:commit:abc:commit_comments",
        ),
        ("label", {"id": 208, "name": "type: bug/ui"}, "urn:repo:12:label:208", "urn:repo:12:labels"),
        ("milestone", {"id": 1, "number": 3}, "urn:repo:12:milestone:3", "urn:repo:12:milestones"),
        ("release", {"id": 4, "tag_name": "v1"}, "urn:repo:12:release:4", "urn:repo:12:releases"),
        ("branch", {"name": "fix/x", "commit": {"sha": "c"}}, "urn:repo:12:branch:fix/x", "urn:repo:12:branches"),
        ("tag", {"name": "v1", "commit": {"sha": "c"}}, "urn:repo:12:tag:v1", "urn:repo:12:tags"),
        ("tag", {"ref": "refs/tags/v1", "object": {"sha": "c"}}, "urn:repo:12:tag:v1", "urn:repo:12:tags"),
        ("release_asset", {"id": 6}, "urn:repo:12:release_asset:6", "urn:repo:12:release_assets"),
        (
            "issue_event",
            {"id": 99, "issue": {"url": f"{REPO}/issues/34"}},
            "urn:repo:12:issue:34:issue_event:99",
            "urn:repo:12:issue:34:issue_events",
        ),
        ("reaction", {"id": 5, "content": "heart"}, "urn:repo:12:reaction:5", "urn:repo:12:reactions"),
        ("discussion", {"id": 4, "number": 3}, "urn:repo:12:discussion:3", "urn:repo:12:discussions"),
        (
            "status",
            {"id": 5, "url": f"{REPO}/statuses/abc"},
            "urn:repo:12:commit:abc:status:5",
            "urn:repo:12:commit:abc:statuses",
        ),
        (
            "check_suite",
            {"id": 5, "head_sha": "abc", "pull_requests": [{"number": 34}]},
            "urn:repo:12:commit:abc:check_suite:5",
            "urn:repo:12:commit:abc:check_suites",
        ),
        (
            "check_run",
            {"id": 6, "head_sha": "abc", "check_suite": {"id": 5}},
            "urn:repo:12:commit:abc:check_run:6",
            "urn:repo:12:commit:abc:check_runs",
        ),
        ("deployment", {"id": 3, "sha": "abc"}, "urn:repo:12:deployment:3", "urn:repo:12:deployments"),
        (
            "deployment_status",
            {"id": 8, "deployment_url": f"{REPO}/deployments/3"},
            "urn:repo:12:deployment:3:deployment_status:8",
            "urn:repo:12:deployment:3:deployment_statuses",
        ),
        ("workflow", {"id": 2}, "urn:repo:12:workflow:2", "urn:repo:12:workflows"),
        (
            "workflow_run",
            {"id": 7, "workflow_id": 2, "head_sha": "abc"},
            "urn:repo:12:workflow_run:7",
            "urn:repo:12:workflow_runs",
        ),
        (
            "security_advisory",
            {"ghsa_id": "GHSA-1"},
            "urn:repo:12:security_advisory:GHSA-1",
            "urn:repo:12:security_advisories",
        ),
        ("dependabot_alert", {"number": 1}, "urn:repo:12:dependabot_alert:1", "urn:repo:12:dependabot_alerts"),
        ("code_scanning_alert", {"number": 1}, "urn:repo:12:code_scanning_alert:1", "urn:repo:12:code_scanning_alerts"),
        (
            "secret_scanning_alert",
            {"number": 1},
            "urn:repo:12:secret_scanning_alert:1",
            "urn:repo:12:secret_scanning_alerts",
        ),
        ("ruleset", {"id": 5}, "urn:repo:12:ruleset:5", "urn:repo:12:rulesets"),
        (
            "branch_protection",
            {"url": f"{REPO}/branches/fix%2Fx/protection"},
            "urn:repo:12:branch_protection:fix/x",
            "urn:repo:12:branch_protections",
        ),
        ("tag_object", {"sha": "abc", "tag": "v1"}, "urn:repo:12:tag_object:abc", "urn:repo:12:tag_objects"),
        (
            "workflow_job",
            {"id": 8, "run_id": 7},
            "urn:repo:12:workflow_run:7:workflow_job:8",
            "urn:repo:12:workflow_run:7:workflow_jobs",
        ),
        ("artifact", {"id": 6, "workflow_run": {"id": 7}}, "urn:repo:12:artifact:6", "urn:repo:12:artifacts"),
        ("environment", {"id": 6, "name": "production"}, "urn:repo:12:environment:6", "urn:repo:12:environments"),
    ],
)
def test_every_thing_has_one_name_and_knows_its_siblings(type: str, body: Any, urn: str, siblings: str):
    document = saved(type, body, qualifier=IN_REPO).document

    assert document.urn == urn
    assert document.links["self"].href == urn
    assert document.links["siblings"].href == siblings
    assert document.body == body


@pytest.mark.parametrize(
    ("type", "body", "qualifier", "urn"),
    [
        ("project", {"id": 70, "number": 3}, "urn:org:9", "urn:org:9:project:3"),
        ("project_item", {"id": 17}, "urn:org:9:project:3", "urn:org:9:project:3:project_item:17"),
        ("package", {"id": 17}, "urn:org:9", "urn:org:9:package:17"),
    ],
)
def test_what_an_organisation_has_is_named_below_it(type: str, body: Any, qualifier: str, urn: str):
    assert saved(type, body, qualifier=qualifier).document.urn == urn
    with pytest.raises(Malformed):
        process(type, body, qualifier=IN_REPO)


def test_every_row_of_the_tables_above_is_an_entity():
    tables = (test_every_thing_has_one_name_and_knows_its_siblings, test_what_an_organisation_has_is_named_below_it)
    rows = {row[0] for table in tables for row in table.pytestmark[0].args[1]}

    assert rows <= {entity.type for entity in ENTITIES}


def test_a_comment_found_under_its_issue_has_the_name_it_has_everywhere():
    assert (
        saved("issue_comment", {"id": 56}, qualifier="urn:repo:12:issue:34").document.urn
        == "urn:repo:12:issue:34:issue_comment:56"
    )


@pytest.mark.parametrize(
    ("type", "body"),
    [
        ("org", {"login": "acme"}),
        ("user", {"id": "5"}),
        ("repo", {"id": True}),
        ("issue", {"id": 1}),
        ("issue_comment", {"id": 56}),
        ("commit", {"sha": None}),
        ("branch", {}),
        ("label", []),
        ("review", None),
    ],
)
def test_what_gives_a_thing_its_name_is_demanded(type: str, body: Any):
    with pytest.raises(Malformed):
        process(type, body, qualifier=IN_REPO)


def test_what_lies_in_a_repository_needs_its_repository():
    with pytest.raises(Malformed, match="repository"):
        process("issue", an_issue(), qualifier="")


def test_an_organisation_leads_to_its_lists():
    outcome = saved("org", an_org())

    assert asked(outcome) == {
        f"{API}/orgs/acme/repos?type=all&sort=created&direction=desc&per_page=100": "default:org@/repos",
        f"{API}/orgs/acme/members?per_page=100": "default:org@/members",
        f"{API}/orgs/acme/teams?per_page=100": "default:org@/teams",
    }
    assert outcome.document.links["members"].type == "relation"
    assert outcome.document.links["repos"].type == "collection"


def test_a_user_without_repositories_is_not_asked_for_any():
    assert asked(saved("user", a_user(public_repos=0))) == {}
    assert len(asked(saved("user", a_user(public_repos=1)))) == 1


def test_a_user_met_on_the_way_leads_nowhere():
    assert asked(saved("user", a_user(public_repos=9), policy="default:self")) == {}


def test_a_repository_leads_to_its_owner_and_its_lists():
    wanted = asked(saved("repo", a_repo()))

    assert wanted[f"{API}/orgs/acme"] == "default:self"
    assert f"{REPO}/issues?state=all&sort=created&direction=asc&per_page=100" in wanted
    assert f"{REPO}/commits?per_page=100" in wanted
    assert not any("/pulls?" in url for url in wanted)


def test_lists_that_a_counter_must_justify_are_asked_only_if_they_are_known():
    outcome = saved("repo", a_repo())
    known_only = {push.request.type for push in outcome.follow_ups if push.request.context.only_known}

    assert known_only == {"issue_comments", "review_comments", "commit_comments"}


def test_pull_requests_are_listed_where_issues_are_switched_off():
    wanted = asked(saved("repo", a_repo(has_issues=False)))

    assert f"{REPO}/pulls?state=all&sort=created&direction=asc&per_page=100" in wanted
    assert not any("/issues?" in url for url in wanted)


def test_everything_below_a_private_repository_is_private():
    outcome = saved("repo", a_repo(private=True))
    below = {push.request.type: push.request.context.private for push in outcome.follow_ups}

    assert below["issues"] is True
    assert below["org"] is False


def test_an_issue_that_is_a_pull_request_leads_to_it():
    body = an_issue(pull_request={"url": f"{REPO}/pulls/34"})
    outcome = saved("issue", body, qualifier=IN_REPO)

    assert asked(outcome)[f"{REPO}/pulls/34"] == "default:pull_request"
    assert outcome.document.links["pull_request"].href == "urn:repo:12:pull_request:34"


def test_comments_are_asked_for_only_where_there_are_any():
    assert not any("comments" in url for url in asked(saved("issue", an_issue(comments=0), qualifier=IN_REPO)))


def test_in_a_walk_the_comments_of_all_issues_are_one_list():
    outcome = saved("issue", an_issue(comments=2), url=f"{REPO}/issues/34", qualifier=IN_REPO, history=ISSUES)

    assert f"{REPO}/issues/comments?sort=created&direction=asc&per_page=100" in asked(outcome)
    assert outcome.document.links["issue_comments"].href == "urn:repo:12:issue:34:issue_comments"
    (comments,) = [push.request for push in outcome.follow_ups if push.request.type == "issue_comments"]
    assert comments.context.qualifier == IN_REPO
    assert comments.context.only_known is False
    assert not comments.context.pagination.known


def test_the_comments_of_all_issues_are_compared_with_those_stored_though_the_issue_that_leads_to_them_is_new():
    around = {"url": f"{REPO}/issues/34", "qualifier": IN_REPO, "history": ISSUES}
    outcome = saved("issue", an_issue(comments=2), **around, pagination=Pagination(known=True))

    (comments,) = [push.request for push in outcome.follow_ups if push.request.type == "issue_comments"]
    assert comments.context.pagination.known


def test_the_comments_of_an_issue_looked_at_by_itself_are_its_own_list():
    outcome = saved("issue", an_issue(comments=2), qualifier=IN_REPO)

    (comments,) = [push.request for push in outcome.follow_ups if push.request.type == "issue_comments"]
    assert comments.url == f"{REPO}/issues/34/comments?per_page=100"
    assert comments.context.qualifier == "urn:repo:12:issue:34"


def test_reviews_are_asked_for_in_any_case_because_nothing_counts_them():
    assert f"{REPO}/pulls/34/reviews?per_page=100" in asked(saved("pull_request", a_pull_request(), qualifier=IN_REPO))


def test_a_pull_request_fetched_by_its_own_url_knows_its_repository_from_its_base():
    body = a_pull_request(base={"repo": {"id": 12}}, head={"repo": None})

    assert saved("pull_request", body).document.urn == "urn:repo:12:pull_request:34"


def test_a_commit_with_comments_leads_to_the_comments_of_all_commits():
    wanted = asked(
        saved(
            "commit", a_commit(comments=1), qualifier=IN_REPO, history=(Ancestor("repo", "u"), Ancestor("commits", "u"))
        )
    )

    assert f"{REPO}/comments?per_page=100" in wanted
    assert not any("comments" in url for url in asked(saved("commit", a_commit(), qualifier=IN_REPO)))


@pytest.mark.parametrize("ghost", [None, {}, {"id": None}])
def test_a_ghost_is_no_link(ghost: Any):
    outcome = saved("issue", an_issue(user=ghost), qualifier=IN_REPO)

    assert "user" not in outcome.document.links
    assert asked(outcome) == {}


def test_a_renamed_repository_is_the_same_document_under_its_new_url_with_the_old_one_kept():
    document = saved("repo", a_repo(name="site"), url=REPO, aliases=(REPO, f"{API}/repositories/12")).document

    assert document.urn == "urn:repo:12"
    assert document.url == f"{API}/repos/acme/site"
    assert set(document.aliases) == {f"{API}/repositories/12", REPO}


def test_people_are_left_for_last_because_nothing_lies_behind_them():
    queues = {push.request.type: push.queue for push in saved("repo", a_repo(owner=a_user())).follow_ups}

    assert queues["user"] == "later"
    assert queues["issues"] == "soon"


def test_a_release_carries_its_files_so_they_cost_no_call():
    asset = {"id": 6, "url": f"{REPO}/releases/assets/6", "name": "web.tar.gz"}
    outcome = saved("release", {"id": 4, "tag_name": "v1", "assets": [asset]}, qualifier=IN_REPO)

    assert carried(outcome) == {asset["url"]: asset}
    assert asked(outcome) == {}


def test_a_pull_request_leads_to_what_machines_say_of_its_head():
    body = a_pull_request(head={"sha": "abc"})
    outcome = saved("pull_request", body, policy="default:everything/pull_request", qualifier=IN_REPO)
    wanted = {push.request.url: push.request.context.qualifier for push in outcome.follow_ups}

    for path in ("statuses?per_page=100", "check-suites?per_page=100", "check-runs?filter=all&per_page=100"):
        assert wanted[f"{REPO}/commits/abc/{path}"] == "urn:repo:12:commit:abc"
    assert outcome.document.links["statuses"].href == "urn:repo:12:commit:abc:statuses"


def test_who_may_not_push_is_not_told_who_else_may():
    told_to_few = ("/teams?", "/collaborators?", "/traffic/", "/dependabot/")
    for permissions, count in (({"push": True}, 7), ({"push": False}, 0), (None, 0)):
        body = a_repo(permissions=permissions, size=1)
        wanted = asked(saved("repo", body, policy="default:everything/repo"))
        assert len([url for url in wanted if any(word in url for word in told_to_few)]) == count


def test_reactions_are_asked_for_where_there_are_any():
    rollup = {"url": f"{REPO}/issues/34/reactions", "total_count": 2}
    everything = {"policy": "default:everything/issue", "qualifier": IN_REPO}

    assert f"{REPO}/issues/34/reactions?per_page=100" in asked(saved("issue", an_issue(reactions=rollup), **everything))
    for none in ({"total_count": 0}, None, {}):
        assert not any("/reactions" in url for url in asked(saved("issue", an_issue(reactions=none), **everything)))


def test_an_issue_that_answers_from_another_repository_is_gone_from_the_old_one():
    body = an_issue(2, url=f"{API}/repos/acme/api/issues/2")
    there = f"{API}/repositories/13/issues/2"
    visit = a_visit("issue", body, url=f"{REPO}/issues/34", qualifier=IN_REPO)
    visit = replace(visit, fetched=replace(visit.fetched, url=there, aliases=(visit.request.url,)))
    outcome = kind_of("issue").processor(visit)

    assert isinstance(outcome, Skip)
    gone, found = (push.request for push in outcome.follow_ups)
    assert (gone.context.urn, gone.context.deleted_at) == ("urn:repo:12:issue:34", NOW)
    assert found.payload is not None
    assert (found.url, found.context.qualifier, found.payload.body) == (body["url"], "urn:repo:13", body)


def test_an_issue_of_a_renamed_repository_stays_where_it_is():
    visit = a_visit("issue", an_issue(), url=f"{REPO}/issues/34", qualifier=IN_REPO)
    visit = replace(visit, fetched=replace(visit.fetched, url=f"{API}/repositories/12/issues/34"))

    assert isinstance(kind_of("issue").processor(visit), Save)


@pytest.mark.parametrize("state", ["commented", "COMMENTED"])
def test_the_state_of_a_review_is_written_as_rest_writes_it_however_it_came(state: str):
    pull = "urn:repo:12:pull_request:34"
    found = saved("review", {"id": 7, "state": state}, url=f"{REPO}/pulls/34/reviews/7", qualifier=pull).document
    rest = saved("review", {"id": 7, "state": "COMMENTED"}, url=found.url, qualifier=pull).document

    assert (found.body, found.digest) == (rest.body, rest.digest)


SHA = "b" * 40


def test_what_has_an_account_of_its_own_in_its_body_is_named_by_it():
    gist = {"id": "aa5a315d", "owner": a_user()}
    membership = {"organization": {"id": 9}, "user": a_user(), "role": "admin"}

    assert saved("gist", gist).document.urn == "urn:gist:aa5a315d"
    assert saved("gist", gist).document.links["owner"].href == f"urn:user:{a_user()['id']}"
    assert saved("membership", membership).document.urn == f"urn:org:9:membership:{a_user()['id']}"
    with pytest.raises(Malformed):
        process("membership", {"organization": {"id": 9}})


@pytest.mark.parametrize(
    ("type", "body", "led_to"),
    [
        (
            "branch",
            {"name": "fix/x", "protected": True, "protection_url": f"{REPO}/branches/fix/x/protection"},
            ("branch_protection", {"url": f"{REPO}/branches/fix/x/protection"}),
        ),
        (
            "tag",
            {"ref": "refs/tags/v1", "object": {"type": "tag", "sha": SHA, "url": f"{REPO}/git/tags/{SHA}"}},
            ("tag_object", {"sha": SHA, "tag": "v1", "url": f"{REPO}/git/tags/{SHA}"}),
        ),
    ],
)
def test_what_a_ref_leads_to_is_told_its_repository(
    type: str, body: dict[str, Any], led_to: tuple[str, dict[str, Any]]
):
    outcome = saved(type, body, url=f"{REPO}/x", qualifier=IN_REPO, policy=f"default:everything/{type}")
    (found,) = [push.request for push in outcome.follow_ups if push.request.type == led_to[0]]
    there = saved(*led_to, url=found.url, qualifier=found.context.qualifier)
    assert there.document.urn in {link.href for link in outcome.document.links.values()}


def test_of_the_refs_of_tags_those_of_annotated_ones_lead_to_an_object():
    refs = [
        {"ref": f"refs/tags/{name}", "object": {"type": kind, "sha": sha, "url": f"{REPO}/git/{kind}s/{sha}"}}
        for name, kind, sha in (("v1", "tag", SHA), ("nightly", "commit", "c"))
    ]
    page = saved("tag_refs", refs, qualifier=IN_REPO, policy="default:everything/repo@/tag_refs")
    assert list(asked(page)) == [f"{REPO}/git/tags/{SHA}"]
    assert page.document.links["resources"].hrefs == (f"{IN_REPO}:tag_object:{SHA}",)
    assert [element["ref"] for element in page.document.body["elements"]] == ["refs/tags/v1", "refs/tags/nightly"]


def test_an_annotated_tag_leads_to_the_object_that_says_who_tagged_it():
    named = {"type": "tag", "sha": SHA, "url": f"{REPO}/git/tags/{SHA}"}
    tag = {"ref": "refs/tags/v1", "url": f"{REPO}/git/refs/tags/v1", "object": named}
    there = saved("tag_object", {"sha": SHA, "tag": "v1", "object": {"type": "commit", "sha": "c"}}, qualifier=IN_REPO)

    everything = saved("tag", tag, qualifier=IN_REPO, policy="default:everything/tag")
    assert set(asked(everything)) == {f"{REPO}/git/tags/{SHA}"}
    assert asked(saved("tag", tag, qualifier=IN_REPO)) == {}
    assert everything.document.links["tag_object"].href == there.document.urn
    assert there.document.links["commit"].href == f"{IN_REPO}:commit:c"


@pytest.mark.parametrize(
    ("type", "counted", "below"),
    [
        ("check_run", {"id": 6, "head_sha": "abc", "output": {"annotations_count": 2}}, "/annotations"),
        ("user", a_user(public_gists=2), "/gists"),
    ],
)
def test_what_is_counted_costs_no_call_where_there_is_none(type: str, counted: Any, below: str):
    policy, uncounted = f"default:everything/{type}", {**counted, "output": {}, "public_gists": 0}
    url = counted.get("url", f"{API}/x")

    assert f"{url}{below}?per_page=100" in asked(saved(type, counted, qualifier=IN_REPO, policy=policy, url=url))
    assert f"{url}{below}?per_page=100" not in asked(saved(type, uncounted, qualifier=IN_REPO, policy=policy, url=url))


def test_a_secret_that_was_found_is_never_stored():
    alert = {"number": 1, "url": f"{REPO}/secret-scanning/alerts/1", "state": "open", "secret": "hunter2"}
    document = saved("secret_scanning_alert", alert, qualifier=IN_REPO, url=alert["url"]).document
    assert document.body == {name: value for name, value in alert.items() if name != "secret"}


def test_secrets_are_asked_for_hidden_and_only_where_scanning_is_on_and_the_token_may():
    on = {"secret_scanning": {"status": "enabled"}}
    url = f"{REPO}/secret-scanning/alerts?hide_secret=true&per_page=100"
    found = {
        (status, admin): url
        in asked(
            saved(
                "repo",
                a_repo(security_and_analysis=on if status else None, permissions={"admin": admin}),
                policy="default:everything/repo",
            )
        )
        for status in (True, False)
        for admin in (True, False)
    }
    assert [case for case, wanted in found.items() if wanted] == [(True, True)]
