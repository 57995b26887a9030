"""From a path to what is behind it: by name or by number, moved, blocked, or not for this asker."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final
from urllib.parse import unquote

from msgspec import Struct

from ghcrawl.simulator.answers import Refusal
from ghcrawl.simulator.github.entities import Repo
from ghcrawl.simulator.github.people import Org, Owner
from ghcrawl.simulator.github.principals import Viewer
from ghcrawl.simulator.github.refusals import blocked, denied, moved, not_found
from ghcrawl.simulator.github.routes import (
    accounts,
    automation,
    belongings,
    commits,
    events,
    issues,
    protection,
    pulls,
    records,
    repos,
)
from ghcrawl.simulator.github.routes.ask import found, number
from ghcrawl.simulator.github.routes.table import Finder, Hit, Table
from ghcrawl.simulator.github.shapes.site import Site
from ghcrawl.simulator.github.world import World

REPO_TABLE: Final = Table(
    repos.ROUTES
    | issues.ROUTES
    | pulls.ROUTES
    | commits.ROUTES
    | records.ROUTES
    | automation.ROUTES
    | protection.ROUTES
    | events.REPO_ROUTES
)
ORG_TABLE: Final = Table(accounts.ORG_ROUTES | belongings.ORG_ROUTES | records.ORG_ROUTES | events.ORG_ROUTES)
USER_TABLE: Final = Table(accounts.USER_ROUTES | belongings.USER_ROUTES | events.USER_ROUTES)
ROOT_TABLE: Final = Table(accounts.ROOT_ROUTES | belongings.ROOT_ROUTES)


class Route(Struct, frozen=True, kw_only=True):
    """What a path leads to. arguments: the thing it lies below, if any, and what its placeholders took.

    numeric: the same path by number; every link in a Link header is made of it.
    """

    finder: Finder
    arguments: tuple[Any, ...]
    numeric: str


class Way(Struct, frozen=True, kw_only=True):
    """What is left of a path. raw: its segments, still percent-encoded."""

    raw: tuple[str, ...]
    query: str

    @property
    def names(self) -> tuple[str, ...]:
        """The segments as what they mean."""
        return tuple(unquote(segment) for segment in self.raw)

    def below(self, count: int) -> Way:
        """What is left when `count` segments have been taken."""
        return Way(raw=self.raw[count:], query=self.query)

    def under(self, prefix: str) -> str:
        """The whole of it as a path below `prefix`."""
        return "/".join((prefix, *self.raw))


class Resolver(Struct, frozen=True):
    """Resolves the paths of one viewer's questions. Raises Refusal for a path that leads nowhere."""

    world: World
    site: Site
    viewer: Viewer

    def resolve(self, path: str, query: str) -> Route:
        """The route of `path`, which is still percent-encoded: an encoded slash does not part segments."""
        raw = path.removeprefix("/").split("/")
        if "" in raw:
            raise not_found()
        scope = self._SCOPES.get(raw[0])
        route = scope(self, Way(raw=tuple(raw[1:]), query=query)) if scope else None
        if route is not None:
            return route
        hit = _hit(ROOT_TABLE, raw)
        return Route(finder=hit.finder, arguments=hit.taken, numeric=path)

    def _repo_by_name(self, way: Way) -> Route | None:
        if len(way.raw) < 2:
            return None
        repo = self.world.find_repo(*way.names[:2])
        if repo is None:
            former = self._visible(self.world.moved_repo(*way.names[:2]))
            location = self.site.base + way.below(2).under(f"/repositories/{former.id}")
            raise Refusal(moved(f"{location}?{way.query}" if way.query else location))
        return self._repo(self._visible(repo), way.below(2))

    def _repo_by_number(self, way: Way) -> Route | None:
        if not way.raw:
            return None
        return self._repo(self._visible(self.world.repos.get(number(way.names[0]))), way.below(1))

    def _org_by_name(self, way: Way) -> Route | None:
        return self._org(self.world.account(way.names[0]), way.below(1)) if way.raw else None

    def _org_by_number(self, way: Way) -> Route | None:
        if not way.raw:
            return None
        org = self.world.accounts.get(number(way.names[0]))
        below = way.below(1)
        if isinstance(org, Org) and len(below.raw) > 1 and below.raw[0] == "team":
            slug = found(org.teams.get(number(below.names[1]))).slug
            below = Way(raw=("teams", slug, *below.raw[2:]), query=way.query)
        return self._org(org, below)

    def _user_by_name(self, way: Way) -> Route | None:
        return self._user(self.world.account(way.names[0]), way.below(1)) if way.raw else None

    def _user_by_number(self, way: Way) -> Route | None:
        if not way.raw or not way.raw[0].isdigit():
            return None
        return self._user(self.world.accounts.get(number(way.raw[0])), way.below(1))

    def _visible(self, repo: Repo | None) -> Repo:
        if repo is None:
            raise not_found()
        self._admit(repo.owner, private=repo.private)
        if not self.viewer.sees(repo):
            raise not_found()
        return repo

    def _admit(self, owner: Owner, *, private: bool) -> None:
        """SSO keeps credentials from what is private; the other reasons keep them from everything."""
        why = self.viewer.denial(owner)
        belongs = owner.id in self.viewer.insider_of
        if why is not None and (why != "sso" or (private and belongs)):
            raise denied(why, owner.login, self.site.base)

    def _repo(self, repo: Repo, way: Way) -> Route:
        if repo.standing != "fine":
            raise blocked(self.site.page(repo), reason=repo.standing, created_at=repo.updated_at)
        hit = _hit(REPO_TABLE, way.names)
        return Route(finder=hit.finder, arguments=(repo, *hit.taken), numeric=way.under(f"/repositories/{repo.id}"))

    def _org(self, account: Owner | None, way: Way) -> Route:
        if not isinstance(account, Org):
            raise not_found()
        self._admit(account, private=False)
        hit = _hit(ORG_TABLE, way.names)
        numeric = way.under(f"/organizations/{account.id}")
        if len(way.raw) > 2 and way.raw[0] == "teams":
            team = found(account.team(way.names[1]))
            numeric = way.below(2).under(f"/organizations/{account.id}/team/{team.id}")
        return Route(finder=hit.finder, arguments=(account, *hit.taken), numeric=numeric)

    def _user(self, account: Owner | None, way: Way) -> Route:
        if account is None:
            raise not_found()
        self._admit(account, private=False)
        hit = _hit(USER_TABLE, way.names)
        return Route(finder=hit.finder, arguments=(account, *hit.taken), numeric=way.under(f"/user/{account.id}"))

    _SCOPES: ClassVar[Mapping[str, Callable[[Resolver, Way], Route | None]]] = {
        "repos": _repo_by_name,
        "repositories": _repo_by_number,
        "orgs": _org_by_name,
        "organizations": _org_by_number,
        "users": _user_by_name,
        "user": _user_by_number,
    }


def _hit(table: Table, segments: Sequence[str]) -> Hit:
    hit = table.match(segments)
    if hit is None:
        raise not_found()
    return hit
