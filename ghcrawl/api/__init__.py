"""The Python API, behind `import ghcrawl`."""

from __future__ import annotations

import os
from pathlib import Path

from ghcrawl.api.crawls import Crawled, crawl
from ghcrawl.api.saved import Saved
from ghcrawl.cli.options import Place
from ghcrawl.values.documents import Document, Link
from ghcrawl.values.errors import ConfigError, CrawlError, SpecError, StoreError

__all__ = [
    "ConfigError",
    "CrawlError",
    "Crawled",
    "Document",
    "Link",
    "Saved",
    "SpecError",
    "StoreError",
    "crawl",
    "open",
]


def open(  # noqa: A001  # as `ghcrawl.open`
    where: str | os.PathLike[str] | None = None, *, config: str | os.PathLike[str] | None = None
) -> Saved:
    """The saved documents of a file or a service, to read.

    where: a file that `ghcrawl crawl` made, or the URL of a running service, whose token is in GHCRAWL_ADMIN_TOKEN;
    None: the store that the settings name, MongoDB included. config: the settings file.
    Raises ConfigError if nothing is there, StoreError.
    """
    file = None if config is None else Path(config)
    if isinstance(where, str) and where.startswith(("http://", "https://")):
        return Saved(Place(server=where, config=file))
    return Saved(Place(db=None if where is None else Path(where), config=file))
