"""What two crawls of the same world have to agree on: URNs, bodies and links, but not when each of them looked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from ghcrawl.values.documents import Document

GENERATION = re.compile(r"(:pages:)\d{8}T\d{9}Z")
MOMENTS = ("since", "asked")


SHOWN = 5


def assert_same(found: Iterable[Document], wanted: Iterable[Document]) -> None:
    """Both came to the same; else it names a few that differ, for all of both would be a million lines."""
    one, other = contents(found), contents(wanted)
    different = sorted(urn for urn in one.keys() | other.keys() if one.get(urn) != other.get(urn))
    shown = {urn: {"found": one.get(urn), "wanted": other.get(urn)} for urn in different[:SHOWN]}
    assert not different, f"{len(different)} differ, such as {shown}"


def contents(documents: Iterable[Document]) -> Mapping[str, Any]:
    """By URN. Generations of relations are named by their moments, and cursors hold some: left out."""
    return dict(_content(document) for document in documents)


def _content(document: Document) -> tuple[str, Any]:
    timed = MOMENTS if document.type == "cursor" else ()
    body = {name: value for name, value in document.body.items() if name not in timed}
    links = {name: link.to_json() for name, link in document.links.items()}
    content = json.dumps([document.urn, document.type, body, links])
    urn, *rest = json.loads(GENERATION.sub(r"\1then", content))
    return urn, rest
