"""What changes its name, its owner, or who may see it stays one document; what takes over a name is another one."""

from __future__ import annotations

from pathlib import Path

from ghcrawl.simulator.github import changes
from ghcrawl.simulator.github.behaviour import Manners
from ghcrawl.simulator.github.generation.size import TINY
from ghcrawl.values.frozen import replace
from tests.support.crawling import Crawled, stage


def in_repo(crawled: Crawled, repo: int) -> set[tuple[str, str]]:
    """The things of that repository that are still there."""
    urn = f"urn:repo:{repo}"
    return {key for key in crawled.entities if key[1] == urn or key[1].startswith(f"{urn}:")}


async def test_a_transferred_repository_is_the_same_documents_under_its_new_owner(tmp_path: Path):
    async with stage(tmp_path, replace(TINY, orgs=2)) as it:
        await it.crawl("acme")
        repo = it.repo
        old = f"{it.server.url}/repos/acme/{repo.name}"
        changes.transfer_repo(it.world, repo, it.world.org("globex"))
        after = await it.crawl("globex")
        by_old_name = await it.crawl(f"acme/{repo.name}")

        assert in_repo(after, repo.id) == {key for key in it.expected("globex") if f"repo:{repo.id}" in key[1]}
        document = by_old_name.documents["repo", f"urn:repo:{repo.id}"]
        assert document.url.endswith(f"/globex/{repo.name}")
        assert old in document.aliases
        assert document.deleted_at is None
        assert list(by_old_name.deadletters) == []


async def test_a_repository_that_one_may_no_longer_see_is_gone_until_it_is_public_again(tmp_path: Path):
    async with stage(tmp_path, TINY, tokens=("ghp_outsider00000000000000000000000000000",)) as it:
        outsider = next(
            account.login
            for account in it.world.accounts.values()
            if account.id not in it.world.org("acme").members and getattr(account, "type", "") == "User"
        )
        it.server.doorman.add(it.tokens[0], it.world.principal(outsider))
        repo = it.repo
        seen = await it.crawl(f"acme/{repo.name}")
        changes.set_private(it.world, repo)
        hidden = await it.crawl(f"acme/{repo.name}")
        changes.set_private(it.world, repo, private=False)
        again = await it.crawl(f"acme/{repo.name}")

        key = ("repo", f"urn:repo:{repo.id}")
        assert key in seen.entities
        assert hidden.documents[key].deleted_reason.startswith("404")
        assert again.documents[key].deleted_at is None
        assert in_repo(again, repo.id) >= in_repo(seen, repo.id)


async def test_a_name_that_another_repository_took_over_names_another_document(tmp_path: Path):
    async with stage(tmp_path, TINY) as it:
        first = await it.crawl()
        repo = it.repo
        changes.delete_repo(it.world, repo)
        changes.create_repo(it.world, it.world.org("acme"), repo.name)
        second = await it.crawl()
        new = it.repo

        assert new.id != repo.id
        assert ("repo", f"urn:repo:{repo.id}") in first.entities
        assert second.documents["repo", f"urn:repo:{new.id}"].url == first.documents["repo", f"urn:repo:{repo.id}"].url
        assert ("repo", f"urn:repo:{new.id}") in second.entities
        assert list(second.deadletters) == []
        refreshed = await it.crawl(policy="refresh")

    assert in_repo(first, repo.id)
    assert in_repo(refreshed, repo.id) == set()
    assert in_repo(refreshed, new.id) == {key for key in it.expected() if key[1].startswith(f"urn:repo:{new.id}")}


async def test_a_label_that_was_made_again_is_another_one(tmp_path: Path):
    async with stage(tmp_path, TINY) as it:
        await it.crawl()
        old = next(iter(it.repo.labels.values()))
        changes.delete_label(it.world, it.repo, old)
        changes.add_label(it.world, it.repo, old.name)
        refreshed = await it.crawl(policy="refresh")

    assert ("label", f"urn:repo:{it.repo.id}:label:{old.id}") not in refreshed.entities
    assert refreshed.entities == set(it.expected())


async def test_a_renamed_user_is_one_document_with_both_names(tmp_path: Path):
    async with stage(tmp_path, TINY) as it:
        await it.crawl()
        user = list(it.world.org("acme").members.values())[-1].user
        old = f"{it.server.url}/users/{user.login}"
        changes.rename_user(it.world, user, "somebody-else")
        after = await it.crawl()

        document = after.documents["user", f"urn:user:{user.id}"]
        assert document.body["login"] == "somebody-else"
        assert old in {document.url, *document.aliases}
        assert list(after.deadletters) == []


async def test_an_issue_that_was_transferred_and_nobody_told_lives_in_its_new_repository(tmp_path: Path):
    async with stage(tmp_path, replace(TINY, repos=2)) as it:
        await it.crawl()
        here, there = it.world.repos_of(it.world.org("acme"))
        issue = next(one for one in here.issues.values() if one.pull is None and one.comments)
        changes.transfer_issue(it.world, here, issue, there)
        after = await it.crawl(policy="audit")

        old = f"urn:repo:{here.id}:issue:{issue.number}"
        assert {key for key in after.entities if key[0].startswith("issue")} == {
            key for key in it.expected() if key[0].startswith("issue")
        }
        assert after.documents["issue", old].deleted_at is not None
        assert list(after.deadletters) == []


async def test_a_list_that_is_not_shown_to_its_end_is_no_failure(tmp_path: Path):
    async with stage(tmp_path, replace(TINY, labels=150), manners=Manners(pages_cap=1)) as it:
        crawled = await it.crawl()

        assert len([key for key in crawled.entities if key[0] == "label"]) == 100
        assert crawled.tally.skipped["list_capped"] == 1
        assert list(crawled.deadletters) == []


async def test_those_who_starred_are_known_with_their_dates_as_far_as_they_are_shown(tmp_path: Path):
    async with stage(tmp_path, replace(TINY, users=140, stars=130), manners=Manners(stars_cap=100), seed=3) as it:
        crawled = await it.crawl(f"acme/{it.repo.name}", policy="default:relationOnly/")
        pages = [one for key, one in crawled.documents.items() if key[0] == "stargazers"]

        named = {star["user"]["login"]: star["starred_at"] for page in pages for star in page.body["elements"]}
        true = {star.user.login: star.starred_at for star in it.repo.records.stars.values()}
        assert len(named) == min(100, len(true))
        assert named.items() <= true.items()


async def test_what_a_token_may_not_see_is_skipped_with_a_reason_and_not_asked_for_again(tmp_path: Path):
    async with stage(tmp_path, TINY, manners=Manners(alerts_shown=False)) as it:
        first = await it.crawl(policy="default:default__only__dependabot_alert/")
        it.server.journal.clear()
        second = await it.crawl(policy="refresh:default__only__dependabot_alert/")

        denied = {reason: count for reason, count in first.tally.skipped.items() if reason.startswith("denied_")}
        assert sum(denied.values()) == 1
        assert not any("dependabot" in call.target for call in it.server.journal.calls)
        assert it.server.journal.charged == 0
        assert list(first.deadletters) == list(second.deadletters) == []
