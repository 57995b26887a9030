"""ghcrawl: a crawler of APIs that runs for months.

    with ghcrawl.open("acme.db") as saved:
        for issue in saved.documents("issue", under="acme/web"):
            print(issue.body["title"])

docs/python.md describes what stands in `__all__`: it changes with the major version only.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ghcrawl.api import (
        ConfigError,
        Crawled,
        CrawlError,
        Document,
        Link,
        Saved,
        SpecError,
        StoreError,
        crawl,
        open,  # noqa: A004  # as `tarfile.open`
    )

__version__ = "0.1.0"
__all__ = [
    "ConfigError",
    "CrawlError",
    "Crawled",
    "Document",
    "Link",
    "Saved",
    "SpecError",
    "StoreError",
    "__version__",
    "crawl",
    "open",
]


def __getattr__(name: str) -> Any:
    """What `__all__` names, imported when it is first asked for: this package is everything's first import."""
    if name not in __all__:
        raise AttributeError(f"module 'ghcrawl' has no attribute {name!r}")
    return getattr(import_module("ghcrawl.api"), name)


def __dir__() -> list[str]:
    """For completion in a shell or notebook."""
    return sorted(__all__)
