"""Who asks: budgets belong to users and installations, tokens only lead to them."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from ghcrawl.simulator.github.entities import Repo
from ghcrawl.simulator.github.people import Org, Owner

Denial = Literal["sso", "ip_allow_list", "classic_pat", "pat_lifetime"]
"""Why an organisation turns away a credential that would be good enough elsewhere."""
PrincipalKind = Literal["user", "installation", "anonymous"]


class Viewer(Struct, frozen=True, kw_only=True):
    """What an asker may see; equal viewers are shown equal bodies. All by id, so that no renaming changes it.

    user: whose token it is; 0 without a credential and for installations.
    insider_of: owners whose private things it may see and where it may push.
    denials: (owner, why) where this credential is turned away.
    """

    user: int = 0
    kind: PrincipalKind = "anonymous"
    insider_of: frozenset[int] = frozenset()
    denials: frozenset[tuple[int, Denial]] = frozenset()

    @property
    def authenticated(self) -> bool:
        """Whether a credential came along at all."""
        return self.kind != "anonymous"

    def insider(self, owner: Owner) -> bool:
        """Whether it may see what `owner` shows to members only."""
        return owner.id in self.insider_of and self.denial(owner) is None

    def sees(self, repo: Repo) -> bool:
        """Whether `repo` exists as far as it can tell."""
        return not repo.private or self.insider(repo.owner)

    def denial(self, owner: Owner) -> Denial | None:
        """Why `owner` turns it away, if it does."""
        return next((why for each, why in self.denials if each == owner.id), None)

    def _administers(self, owner: Owner) -> bool:
        role = owner.members[self.user].role if isinstance(owner, Org) and self.user in owner.members else ""
        return owner.id == self.user or role == "admin"

    def permissions(self, repo: Repo) -> dict[str, bool] | None:
        """The `permissions` object of a repository's body; None where GitHub leaves it out."""
        if not self.authenticated:
            return None
        push = self.insider(repo.owner)
        admin = push and self._administers(repo.owner)
        return {"admin": admin, "maintain": admin, "push": push, "triage": push, "pull": True}

    def administers(self, repo: Repo) -> bool:
        """Whether it may see alerts and settings of a repository."""
        return bool((self.permissions(repo) or {}).get("admin"))


ANYBODY = Viewer()


class Principal(Struct, frozen=True, kw_only=True):
    """One budget and what it may see. Several tokens of one user lead to the same principal.

    window_s: length of the quota window, which starts with the first request.
    search_limit: of the `search` bucket, whose window is a minute. points: of the GraphQL API, an hour.
    """

    name: str
    viewer: Viewer
    limit: int = 5000
    window_s: float = 3600
    search_limit: int = 30
    points: int = 5000


def installation_principal(installation: int, account: Owner, *, limit: int = 5000) -> Principal:
    """The principal of an App installed on `account`."""
    viewer = Viewer(kind="installation", insider_of=frozenset({account.id}))
    return Principal(name=f"installation:{installation}", viewer=viewer, limit=limit)
