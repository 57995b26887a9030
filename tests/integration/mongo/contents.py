"""What two crawls of the same world have to agree on: URNs, bodies and links, but not when each of them looked.

Which child lists are asked although they turn out to be empty, or are asked once more because a parent was met after
the walk, depends on the order in which loops come to things, in one process as much as in many. Such pages hold
nothing that is not elsewhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from ghcrawl.model import Document

GENERATION = re.compile(r"(:pages:)\d{8}T\d{9}Z")


def contents(documents: Iterable[Document]) -> Mapping[str, Any]:
    """By URN. Generations of relations are named by their moments, and cursors of quiet lists hold one: left out."""
    return dict(_content(document) for document in documents if not _adds_nothing(document))


def _adds_nothing(document: Document) -> bool:
    return document.body.get("elements") == [] or ":updates:page:" in document.urn


def _content(document: Document) -> tuple[str, Any]:
    body = {name: value for name, value in document.body.items() if document.type != "cursor" or name != "since"}
    links = {name: link.to_json() for name, link in document.links.items()}
    content = json.dumps([document.urn, document.type, body, links])
    urn, *rest = json.loads(GENERATION.sub(r"\1then", content))
    return urn, rest
