"""Platforms as the settings have them: which one a person's words mean, and whose a URL is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ghcrawl.platforms.contract import Platform
from ghcrawl.values.errors import SpecError
from ghcrawl.values.model import Request, TypeName
from ghcrawl.values.section import Section


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
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

    def read_spec(self, spec: str, policy: str) -> Request:
        """The request that `spec` means: `platform:spec`, or words that exactly one platform understands.

        Raises SpecError with a sentence that says what would be understood.
        """
        name, colon, rest = spec.strip().partition(":")
        if colon and name in self._mounts:
            return _read(self._mounts[name], rest, policy)
        found, errors = dict[str, Request](), dict[str, SpecError]()
        for mount in self:
            try:
                found[mount.name] = _read(mount, spec, policy)
            except SpecError as error:
                errors[mount.name] = error
        if len(found) == 1:
            return next(iter(found.values()))
        if found:
            choices = " or ".join(f"{name}:{spec}" for name in found)
            raise SpecError(f"{spec!r} can mean things of {', '.join(found)}; write {choices}")
        if len(errors) == 1:
            raise next(iter(errors.values()))
        raise SpecError("; ".join(f"{name}: {error}" for name, error in errors.items()))


def _read(mount: Mount, spec: str, policy: str) -> Request:
    return mount.platform.read_spec(spec, mount.base_url, policy)
