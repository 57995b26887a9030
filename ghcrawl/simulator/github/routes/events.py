"""Event feeds: of a repository, of an organisation (what is public of it), of a user."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Final

from ghcrawl.simulator.github.entities import Repo
from ghcrawl.simulator.github.live.feed import HELD, FeedEvent
from ghcrawl.simulator.github.moments import stamp
from ghcrawl.simulator.github.people import Org, Owner
from ghcrawl.simulator.github.routes.ask import Ask, Many
from ghcrawl.simulator.github.shapes.site import Body


def of_repo(ask: Ask, repo: Repo) -> Many[FeedEvent]:
    """`/repos/{owner}/{repo}/events`."""
    return _feed(ask, lambda event: event.repo is repo, repo)


def of_org(ask: Ask, org: Org) -> Many[FeedEvent]:
    """`/orgs/{org}/events`: only what everybody may see."""
    return _feed(ask, lambda event: event.owner is org and event.public)


def of_user(ask: Ask, user: Owner) -> Many[FeedEvent]:
    """`/users/{username}/events`: to others, only what everybody may see."""
    own = ask.viewer.user == user.id
    return _feed(ask, lambda event: event.actor is user and (event.public or own))


REPO_ROUTES: Final = {"events": of_repo}
ORG_ROUTES: Final = {"events": of_org}
USER_ROUTES: Final = {"events": of_user}


def _feed(ask: Ask, belongs: Callable[[FeedEvent], bool], repo: Repo | None = None) -> Many[FeedEvent]:
    log = ask.world.happenings
    shown = (event for event in log.newest(ask.world.clock.now(), repo) if belongs(event))
    return Many(
        elements=list(islice(shown, HELD)),
        shape=lambda event: _event(ask, event),
        headers={"X-Poll-Interval": str(log.poll_interval_s)},
    )


def _event(ask: Ask, event: FeedEvent) -> Body:
    site, actor = ask.site, event.actor
    who = {"id": actor.id, "login": actor.login, "display_login": actor.login.removesuffix("[bot]"), "gravatar_id": ""}
    url = f"{site.base}/users/{actor.login}"
    body: Body = {
        "id": str(event.id),
        "type": event.type,
        "actor": {**who, "url": url, "avatar_url": f"{site.base}/avatars/u/{actor.id}?"},
        "repo": {"id": event.repo.id, "name": event.repo_name, "url": f"{site.base}/repos/{event.repo_name}"},
        "payload": event.payload,
        "public": event.public,
        "created_at": stamp(event.at),
    }
    if isinstance(event.owner, Org):
        org = {"id": event.owner.id, "login": event.owner.login, "gravatar_id": ""}
        body["org"] = {**org, "url": f"{site.base}/orgs/{event.owner.login}"}
    return body
