"""`docs/documents.md`: `python -m tests.support.document_types > docs/documents.md`.

Names and links come from a simulated GitHub: every thing of a generated world goes through its processor. What its
fields hold, and which may be missing, comes from GitHub's published schemas where these describe it.
"""

from __future__ import annotations

import builtins
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Final

from msgspec import Struct

from ghcrawl.simulator.clock import SimClock
from ghcrawl.simulator.github.generation.generate import generate
from ghcrawl.simulator.github.generation.size import SMALL
from ghcrawl.simulator.github.oracle import expected
from ghcrawl.simulator.github.people import User
from ghcrawl.simulator.github.shapes.accounts import gists_of
from ghcrawl.values.documents import Document
from ghcrawl.values.outcome import Fetched, Save, Visit
from ghcrawl.values.requests import Context, Request
from ghcrawl.values.type_names import LEGACY_PLATFORM
from processors.github import ENTITIES, PARTS
from tests.support.builders import API, NOW
from tests.support.github import PLATFORM, kind_of
from tests.support.official import DESCRIBED, fields

WIDTH: Final = 118
INTRODUCTION: Final = """\
# Documents

Written by `make docs` from GitHub's published schemas and a simulated GitHub; a test holds
this page to them, and another holds it to recorded answers. Real answers may say more: every field that GitHub sends is
kept, under its own name. Answers of many years ago and of other servers may lack any field.

A document is what GitHub sent (an array as `{"elements": […]}`) with `_metadata` beside it:

| field | says |
| --- | --- |
| `type`, `version` | what it is, and which version of its processor made it; the versions are below |
| `urn`, `url` | its one name, which no rename changes; where it was found last |
| `aliases` | other URLs that have led to it |
| `links` | name → `{"href": URN, "type": …}`, or `hrefs` for several: `resource`, `collection` or `relation` |
| `fetchedAt`, `processedAt`, `observedAt` | when it was asked for, made, and last true by GitHub's clock |
| `changedAt` | GitHub's own word for when it last changed, where it has one |
| `digest`, `etag`, `validator` | what tells whether it changed |
| `origin`, `rootRequest`, `visits` | how it was found, by which crawl, and when it was looked at by which policy |
| `forms` | form → since when it is known in this form, see below |
| `deletedAt`, `deletedReason` | only on tombstones: since when it is gone, and what was said of that |

A thing has several forms: `own` (its own URL), `list`, `webhook`, `event`, `batch`. What a form leaves out is kept as
another form had it. `forms` says of each: `observedAt` and `changedAt` of what came in it last; `digest`, empty once
another form said otherwise, so that what only this form tells is older than the rest; `partial` if it left something
out. Documents saved before this was told apart have no `forms`.

Other things inside a document (the issue in an issue event, the repository in a pull request) are as they were when
GitHub last sent this one; how they are now, their own documents say.

`self` and `siblings` are links of every document. A page of a collection holds `{"urn", "url"}` of each element; a page
of a relation holds the elements, and has the links `origin`, `unique` (its generation) and `resources`.

`null` after a kind of JSON: it may be null. *In italics*: it may be absent or null, because GitHub's schemas do not
require it of every form of the thing.
"""


class Field(Struct, frozen=True, kw_only=True):
    """One field: which kinds of JSON it holds, and whether every answer of today has it."""

    kinds: frozenset[str]
    always: bool = False


@dataclass
class Seen:
    """What documents of one type have in common."""

    count: int = 0
    urn: str = ""
    fields: dict[str, set[str]] = field(default_factory=dict)
    present: dict[str, int] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)

    def add(self, document: Document) -> None:
        self.count += 1
        self.urn = self.urn or pattern(document.urn)
        for name, value in document.body.items():
            self.fields.setdefault(name, set()).add(KINDS[type(value)])
            self.present[name] = self.present.get(name, 0) + 1
        for name, link in document.links.items():
            leads = link.href or link.hrefs[0]
            self.links.setdefault(name, f"{'several ' if link.hrefs else ''}{link.type} `{pattern(leads)}`")


LACKED: Final[Mapping[str, frozenset[str]]] = {
    "label": frozenset({"archived_at", "archived_by"}),
    "org": frozenset({"archived_at"}),
    "security_advisory": frozenset({"collaborating_teams", "collaborating_users", "private_fork"}),
    "team": frozenset({"type"}),
}
"""What the schemas of today require and answers recorded since 2023 lack."""
KINDS: Final[Mapping[type, str]] = {
    type(None): "null",
    bool: "boolean",
    int: "number",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
}


def pattern(urn: str) -> str:
    """A URN with what is different about every thing taken out."""
    urn = re.sub(r"(?<=:)[0-9a-f]{40}(?=:|$)", "SHA", urn)
    urn = re.sub(r"(?<=:)\d{4}-\d\d-\d\d$", "DATE", urn)
    urn = re.sub(r":(branch|branch_protection|tag):.*$", r":\1:NAME", urn)
    urn = re.sub(r"^urn:gist:[0-9a-f]+", "urn:gist:ID", urn)
    urn = re.sub(r"GHSA-.*$", "GHSA", urn)
    return re.sub(r"(?<=:)\d+(?=:|$)", "N", urn)


def observe() -> dict[str, Seen]:
    """Every thing of a world, through its processor."""
    world = generate(SMALL, seed=1, clock=SimClock())
    member = next(iter(world.org("acme").members.values())).user
    viewer = world.principal(member.login).viewer
    seen: dict[str, Seen] = {}
    owners = ["acme", *(each.login for each in world.accounts.values() if isinstance(each, User) and gists_of(each))]
    told = (expected(world, login, base=API, viewer=viewer, everything=True) for login in owners[:2])
    for thing in (each for things in told for each in things.values()):
        shape = thing.single or thing.listed
        assert shape is not None
        seen.setdefault(thing.type, Seen()).add(_processed(thing.type, thing.urn, shape()))
    return seen


def _processed(type: str, urn: str, body: Any) -> Document:
    kind = kind_of(type)
    spec = f"default:everything/{kind.position}"
    above = urn.partition(f":{type}")[0] if ":" in urn.partition(f":{type}")[0][4:] else ""
    request = Request(
        platform=LEGACY_PLATFORM, type=type, url=f"{API}/{type}", policy=spec, context=Context(qualifier=above)
    )
    outcome = kind.processor(
        Visit(
            request=request,
            fetched=Fetched(body=body, url=request.url, observed_at=NOW, checked_at=NOW),
            next_hops=PLATFORM.scenarios.next_hops(spec),
            version=kind.version,
            processed_at=NOW,
        )
    )
    assert isinstance(outcome, Save)
    return outcome.document


def page() -> str:
    """The whole page: of each type that the simulated world has."""
    seen = observe()
    types = sorted(seen.keys() & ({row.type for row in ENTITIES} | {row.type for row in PARTS}))
    return "\n".join((INTRODUCTION, *(_section(type, seen[type]) for type in types)))


def fields_of(type: str, seen: Seen) -> Mapping[str, Field]:
    """What is written of each field of documents of that type."""
    told = {
        name: Field(kinds=frozenset(kinds), always=seen.present[name] == seen.count)
        for name, kinds in seen.fields.items()
    }
    for name, said in fields(type).items() if type in DESCRIBED else ():
        kinds = frozenset({_kind(each) for each in said.types} | ({"null"} if said.nullable else set()))
        always = said.always and name not in LACKED.get(type, ())
        told[name] = Field(kinds=kinds or frozenset({"null"}), always=always)
    if type in DESCRIBED:
        told = {name: each if name in fields(type) else Field(kinds=each.kinds) for name, each in told.items()}
    return told


def _kind(type: Any) -> str:
    if type in (str, datetime, date) or not isinstance(type, builtins.type):
        return "string"
    return KINDS.get(type, "object")


def _section(type: str, seen: Seen) -> str:
    version = kind_of(type).version
    told = (_field(name, each) for name, each in sorted(fields_of(type, seen).items()))
    links = (f"{name}: {link}" for name, link in sorted(seen.links.items()) if name not in ("self", "siblings"))
    lines = [f"## {type}\n", f"Version {version}, `{seen.urn}`\n", _wrapped(list(told))]
    if text := _wrapped(list(links)):
        lines.append(f"\nLinks: {text}")
    return "\n".join((*lines, ""))


def _field(name: str, field: Field) -> str:
    kinds = field.kinds if field.always else field.kinds - {"null"} or field.kinds
    words = " or ".join(sorted(kinds, key=lambda kind: (kind == "null", kind)))
    return f"`{name}` {words}" if field.always else f"*`{name}` {words}*"


def _wrapped(words: Iterable[str]) -> str:
    lines = [""]
    for word in words:
        if len(lines[-1]) + len(word) + 2 > WIDTH:
            lines.append("")
        lines[-1] += f" {word};" if lines[-1] else f"{word};"
    return "\n".join(lines).rstrip(";")


if __name__ == "__main__":
    sys.stdout.write(page())
