"""What two crawls of the same world have to agree on: URNs, bodies and links, but not when each of them looked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from ghcrawl.model import Document

GENERATION = re.compile(r"(:pages:)\d{8}T\d{9}Z")


def contents(documents: Iterable[Document]) -> Mapping[str, Any]:
    """By URN. Generations of relations are named by their moments, and cursors of quiet lists hold one: left out."""
    return dict(map(_content, documents))


def _content(document: Document) -> tuple[str, Any]:
    body = {name: value for name, value in document.body.items() if document.type != "cursor" or name != "since"}
    links = {name: link.to_json() for name, link in document.links.items()}
    content = json.dumps([document.urn, document.type, body, links])
    urn, *rest = json.loads(GENERATION.sub(r"\1then", content))
    return urn, rest
