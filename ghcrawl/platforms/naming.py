"""Saved documents by what people call them: a URN, a URL of an API or a browser, or a name such as `acme/web#5`."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import suppress
from typing import Final, Protocol

from ghcrawl.platforms.kind import alternative
from ghcrawl.platforms.mount import Mount, Mounts
from ghcrawl.ports.store import DocumentFilter
from ghcrawl.values.documents import Document
from ghcrawl.values.errors import SpecError
from ghcrawl.values.type_names import TypeName

NAMES: Final = "a URN, a URL of the API or a browser, or a name: acme, acme/web, acme/web#5, acme/web@1a2b3c4"
"""What can be named, for help and errors."""
TITLES: Final = (
    *("full_name", "title", "name", "displayName", "display_name", "login", "handle", "acct", "tag_name", "slug"),
    *("message", "text", "content", "body"),
)
"""Fields of a body that hold what a person would call a thing, or its text."""
TITLED_INSIDE: Final = ("commit", "record", "value")
"""Fields whose own fields hold it, too."""
_HOST: Final = re.compile(r"\w+://[^/?#]*")


class Documents(Protocol):
    """What is searched, as `ghcrawl.ports.Store` says of each method."""

    async def get(self, urn: str) -> Document | None:
        """The document with this URN."""

    async def find(self, url: str) -> Sequence[Document]:
        """The documents of any type known under this URL."""

    def list(self, which: DocumentFilter) -> AsyncIterator[Document]:
        """The documents that `which` admits, by URN."""


async def named(mounts: Mounts, documents: Documents, name: str) -> Sequence[Document]:
    """The documents that `name` means, things before pages: of `acme/web#5`, the pull request and the issue.

    Raises SpecError for the start of several ids, StoreError.
    """
    if name.startswith("urn:"):
        document = await documents.get(name)
        return [document] if document else []
    urls = _urls(mounts, name)
    found = await _at(mounts, documents, urls)
    if not found:
        others = [other for url in urls for other in await _respelled(mounts, documents, url)]
        found = await _at(mounts, documents, others)
    return sorted(found, key=lambda document: document.type_name not in mounts.entities)


def _urls(mounts: Mounts, name: str) -> Sequence[str]:
    """The URLs of what is called that. What a URL says comes first; a name says nothing of issue or pull request."""
    found, others = [name], list[str]()
    for mount in mounts:
        with suppress(SpecError):
            own = _own(mounts, mount, name)
            found += own
            others += [url for each in own for url in mount.platform.namesakes(each)]
    return list(dict.fromkeys([*found, *others] if "://" in name else [*others, *found]))


def _own(mounts: Mounts, mount: Mount, name: str) -> Iterable[str]:
    """Where the thing itself may live: behind its parent, if it needs one. Raises SpecError."""
    prefixed = name.partition(":")[0] == mount.name
    request = mounts.read_spec(name if prefixed else f"{mount.name}:{name}", "default")
    if request.context.then:
        return [request.context.then[-1].url]
    other = alternative(mount.platform.kinds[request.type], request)
    return [request.url] if other is None else [request.url, other.url]


async def _at(mounts: Mounts, documents: Documents, urls: Sequence[str]) -> Sequence[Document]:
    """The documents under these URLs, or that they name in another way."""
    found = {document.urn: document for url in urls for document in await documents.find(url)}
    if not found:
        found = {document.urn: document for url in urls for document in await _described(mounts, documents, url)}
    return [*found.values()]


async def _described(mounts: Mounts, documents: Documents, url: str) -> Sequence[Document]:
    """What `url` names by the start of an id, or by a field of its body. Raises SpecError if that is several."""
    found: list[Document] = []
    for mount in mounts:
        described = mount.platform.described(url, mount.base_url)
        if described is None:
            continue
        types = tuple(TypeName(mount.name, type) for type in described.types)
        for above in await _above(mounts, documents, described.above):
            begin = f"{above}:{described.name}" if above else ""
            which = DocumentFilter(types=types, scope=above, after=begin if described.name else "")
            async for one in documents.list(which):
                if not one.urn.startswith(begin) or len(found) > 1:
                    break
                if described.is_it(one.body):
                    found.append(one)
    if len(found) > 1:
        names = ", ".join(one.urn.rpartition(":")[2] for one in found)
        raise SpecError(f"{url} is ambiguous; there are {names}; write more of it")
    return found


async def _above(mounts: Mounts, documents: Documents, url: str) -> Sequence[str]:
    """The URNs of what is saved under `url`, in any case; of what needs no parent: the empty one."""
    if not url:
        return [""]
    places = [url, *await _respelled(mounts, documents, url)]
    return list(dict.fromkeys([one.urn for place in places for one in await documents.find(place)]))


async def _respelled(mounts: Mounts, documents: Documents, url: str) -> Sequence[str]:
    """Other forms of `url`: with its host in lower case, and with the names in it as they are spelled where stored."""
    host = _HOST.match(url)
    place = host[0].lower() + url[host.end() :] if host else url
    found = [place]
    for mount in mounts:
        if (other := mount.platform.other_spelling(place)) is not None:
            known = await documents.find(other.named)
            found += [f"{above}{other.below}" for above in (other.named, *(each.url for each in known))]
    return [each for each in dict.fromkeys(found) if each != url]
