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
from ghcrawl.simulator.github.routes.table import Finder, Table
from ghcrawl.simulator.github.shapes.site import Site
from ghcrawl.simulator.github.world import World
from ghcrawl.values.frozen import replace

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


class Resolver(Struct, frozen=True):
    """Resolves the paths of one viewer's questions. Raises Refusal for a path that leads nowhere.

    Segments stay percent-encoded until they are matched: an encoded slash does not part them.
    """

    world: World
    site: Site
    viewer: Viewer

    def resolve(self, path: str, query: str) -> Route:
        """The route of `path`."""
        scope, *raw = path.removeprefix("/").split("/")
        if "" in (scope, *raw):
            raise not_found()
        if scope == "repos" and len(raw) > 1:
            return self._repo_by_name(raw, query)
        below = self._SCOPES.get(scope) if raw else None
        route = below(self, raw) if below else None
        return route or _route(ROOT_TABLE, (), [scope, *raw], numeric="")

    def _repo_by_name(self, raw: Sequence[str], query: str) -> Route:
        owner, name = map(unquote, raw[:2])
        repo = self.world.find_repo(owner, name)
        if repo is None:
            former = self._visible(self.world.moved_repo(owner, name))
            location = "/".join((self.site.base, "repositories", str(former.id), *raw[2:]))
            raise Refusal(moved(f"{location}?{query}" if query else location))
        return self._repo(repo, raw[2:])

    def _repo_by_number(self, raw: Sequence[str]) -> Route:
        return self._repo(self.world.repos.get(number(raw[0])), raw[1:])

    def _org_by_name(self, raw: Sequence[str]) -> Route:
        return self._org(self.world.account(unquote(raw[0])), raw[1:])

    def _org_by_number(self, raw: Sequence[str]) -> Route:
        org, below = self.world.accounts.get(number(raw[0])), raw[1:]
        if isinstance(org, Org) and len(below) > 1 and below[0] == "team":
            below = ("teams", found(org.teams.get(number(below[1]))).slug, *below[2:])
        return self._org(org, below)

    def _user_by_name(self, raw: Sequence[str]) -> Route:
        return self._user(self.world.account(unquote(raw[0])), raw[1:])

    def _user_by_number(self, raw: Sequence[str]) -> Route | None:
        return self._user(self.world.accounts.get(number(raw[0])), raw[1:]) if raw[0].isdigit() else None

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

    def _repo(self, repo: Repo | None, below: Sequence[str]) -> Route:
        repo = self._visible(repo)
        if repo.standing != "fine":
            raise blocked(self.site.page(repo), reason=repo.standing, created_at=repo.updated_at)
        return _route(REPO_TABLE, (repo,), below, numeric=f"/repositories/{repo.id}")

    def _org(self, account: Owner | None, below: Sequence[str]) -> Route:
        if not isinstance(account, Org):
            raise not_found()
        self._admit(account, private=False)
        route = _route(ORG_TABLE, (account,), below, numeric=f"/organizations/{account.id}")
        if len(below) > 2 and below[0] == "teams":
            team = found(account.team(unquote(below[1])))
            numeric = "/".join((f"/organizations/{account.id}/team/{team.id}", *below[2:]))
            return replace(route, numeric=numeric)
        return route

    def _user(self, account: Owner | None, below: Sequence[str]) -> Route:
        if account is None:
            raise not_found()
        self._admit(account, private=False)
        return _route(USER_TABLE, (account,), below, numeric=f"/user/{account.id}")

    _SCOPES: ClassVar[Mapping[str, Callable[[Resolver, Sequence[str]], Route | None]]] = {
        "repositories": _repo_by_number,
        "orgs": _org_by_name,
        "organizations": _org_by_number,
        "users": _user_by_name,
        "user": _user_by_number,
    }


def _route(table: Table, above: tuple[Any, ...], raw: Sequence[str], *, numeric: str) -> Route:
    """The route of the segments `raw` below `above`. numeric: the path of `above` by number."""
    hit = found(table.match([unquote(segment) for segment in raw]))
    return Route(finder=hit.finder, arguments=(*above, *hit.taken), numeric="/".join((numeric, *raw)))
