"""Changes to users, memberships and teams."""

from __future__ import annotations

from ghcrawl.simulator.github.changes.change import Change, done
from ghcrawl.simulator.github.generation.accounts import slug
from ghcrawl.simulator.github.people import Member, Org, Team, User
from ghcrawl.simulator.github.world import World


def add_user(world: World, login: str) -> Change:
    """A new user."""
    user = User(id=world.ids.take("account"), login=login, name=None, created_at=world.now())
    world.add_account(user)
    return done(world, "user.created", user, owner=user)


def rename_user(world: World, user: User, login: str) -> Change:
    """The old login leads nowhere; repositories are still found under it."""
    before = user.login
    world.call_account(user, login)
    user.updated_at = world.now()
    return done(world, "user.renamed", user, owner=user, before={"login": before})


def edit_user(world: World, user: User, *, name: str) -> Change:
    """Another name on the profile."""
    before, user.name = user.name, name
    user.updated_at = world.now()
    return done(world, "user.edited", user, owner=user, before={"name": before})


def add_member(world: World, org: Org, user: User, *, public: bool = True) -> Change:
    """`user` belongs to `org`."""
    member = Member(user=user, public=public)
    org.members[user.id] = member
    return done(world, "organization.member_added", member, owner=org)


def remove_member(world: World, org: Org, user: User) -> Change:
    """`user` no longer belongs to `org`, nor to any of its teams."""
    member = org.members.pop(user.id)
    for team in org.teams.values():
        if team.members.pop(user.id, None) is not None:
            team.updated_at = world.now()
    return done(world, "organization.member_removed", member, owner=org)


def add_team(world: World, org: Org, name: str) -> Change:
    """A team without members."""
    team = Team(
        id=world.ids.take("team"), org=org, name=name, slug=slug(name), description=None, created_at=world.now()
    )
    org.teams[team.id] = team
    return done(world, "team.created", team, owner=org)


def add_to_team(world: World, team: Team, user: User) -> Change:
    """`user` is in `team`."""
    team.members[user.id] = user
    team.updated_at = world.now()
    return done(world, "membership.added", team, owner=team.org)


def delete_team(world: World, team: Team) -> Change:
    """The team is gone; its children have lost their parent."""
    del team.org.teams[team.id]
    for child in team.org.teams.values():
        if child.parent is team:
            child.parent = None
    return done(world, "team.deleted", team, owner=team.org)
