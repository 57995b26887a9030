"""Platforms as the settings have them: which one a person's words mean, and whose a URL is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec import Struct

from ghcrawl.platforms.contract import Platform
from ghcrawl.values.errors import SpecError, UnknownSpec
from ghcrawl.values.policy import parse
from ghcrawl.values.requests import Request
from ghcrawl.values.section import Section
from ghcrawl.values.type_names import TypeName, suggestion

_CREDENTIAL: Final = re.compile(
    r"(?i)://(?P<user>[^/\s?#@]+)@|[?&](?P<name>access_token|token|api_key|client_secret|password)="
)


class Mount(Struct, frozen=True, kw_only=True):
    """A platform with its section of the settings."""

    platform: Platform
    section: Section

    @property
    def name(self) -> str:
        """The platform's."""
        return self.platform.name

    @property
    def base_url(self) -> str:
        """Of its API, without a slash at its end; empty: every URL names its own host."""
        return self.platform.base_url(self.section)

    def owns(self, url: str) -> bool:
        """Whether `url` may be asked of it."""
        return self.platform.owns(url, self.section)


class Mounts:
    """All platforms that can be crawled, in the order in which they are asked what words mean."""

    def __init__(self, mounts: Iterable[Mount]) -> None:
        self._mounts: Mapping[str, Mount] = {mount.name: mount for mount in mounts}

    def __iter__(self) -> Iterator[Mount]:
        return iter(self._mounts.values())

    def __getitem__(self, name: str) -> Mount:
        return self._mounts[name]

    def get(self, name: str) -> Mount | None:
        """The platform called `name`; None: it is not mounted."""
        return self._mounts.get(name)

    @property
    def platforms(self) -> tuple[Platform, ...]:
        """All of them."""
        return tuple(mount.platform for mount in self)

    @property
    def base_urls(self) -> Mapping[str, str]:
        """Platform → the base URL of its API, of those that have one."""
        return {mount.name: mount.base_url for mount in self if mount.base_url}

    @property
    def default(self) -> Mount:
        """The first: meant where a request says none."""
        return next(iter(self))

    @property
    def types(self) -> Mapping[TypeName, None]:
        """All types of all platforms, in order."""
        return {type: None for mount in self for type in mount.platform.types}

    @property
    def entities(self) -> tuple[TypeName, ...]:
        """The types of things, parts and events: neither list pages nor cursors."""
        return tuple(type for mount in self for type in mount.platform.entities)

    def demand(self, request: Request) -> None:
        """Raises SpecError for a request that could only become a deadletter, however it came here."""
        mount = self._mounts.get(request.platform)
        if mount is None:
            raise SpecError(f"unknown platform {request.platform[:50]!r}; known platforms: {', '.join(self._mounts)}")
        kind = mount.platform.kinds.get(request.type)
        if kind is None:
            raise SpecError(
                f"unknown type {request.type[:80]!r}; {suggestion(request.type[:80], mount.platform.kinds)}"
            )
        if request.attempt < 0:
            raise SpecError(f"attempt is {request.attempt}; it must be at least 0")
        _demand_no_credential(request.url)
        if request.payload is None and not mount.owns(request.url):
            below = f"is not below {mount.base_url}" if mount.base_url else "is no http or https URL"
            raise SpecError(f"url: {request.url[:200]} {below}")
        policies = [(kind, request.policy)]
        policies += [(mount.platform.kinds[each.type], each.policy) for each in request.context.then]
        for each, policy in policies:
            mount.platform.scenarios.next_hops(parse(policy).placed(each.position).spec)

    @property
    def _asked(self) -> Iterable[Mount]:
        """Those that are asked what words without a platform's name mean."""
        return [mount for mount in self if not mount.platform.requires_prefix]

    def read_spec(self, spec: str, policy: str) -> Request:
        """The request that `spec` means: `platform:spec`, or words that exactly one platform understands.

        Raises SpecError with a sentence that says what would be understood.
        """
        _demand_no_credential(spec)
        parse(policy)
        name, colon, rest = spec.strip().partition(":")
        if colon and name in self._mounts:
            return _read(self._mounts[name], rest, policy)
        found, errors = dict[str, Request](), dict[str, SpecError]()
        for mount in self._asked:
            try:
                found[mount.name] = _read(mount, spec, policy)
            except SpecError as error:
                errors[mount.name] = error
        if len(found) == 1:
            return next(iter(found.values()))
        if found:
            choices = " or ".join(f"{name}:{spec}" for name in found)
            raise SpecError(f"{spec!r} can mean things of {', '.join(found)}; write {choices}")
        errors = {name: one for name, one in errors.items() if not isinstance(one, UnknownSpec)} or errors
        if len(errors) == 1:
            raise next(iter(errors.values()))
        raise SpecError("; ".join(f"{name}: {error}" for name, error in errors.items()))


def _demand_no_credential(url: str) -> None:
    """Raises SpecError, which does not show it: the URL would be queued, saved and logged."""
    match = _CREDENTIAL.search(url)
    if match is not None:
        where = "before the host" if match["user"] else f"as {match['name']}"
        raise SpecError(f"the URL has a credential {where}; remove it: credentials belong into the settings")


def _read(mount: Mount, spec: str, policy: str) -> Request:
    return mount.platform.read_spec(spec, mount.base_url, policy)
