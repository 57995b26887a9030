"""The command line that knows the library, too: `python -m tests.support.with_library crawl acme library:1`."""

from __future__ import annotations

import sys

from ghcrawl.platforms import registry
from tests.support.library import LIBRARY

if __name__ == "__main__":
    registry.PLATFORMS = (*registry.PLATFORMS, LIBRARY)  # type: ignore[misc]  # before wiring reads the list
    from ghcrawl.cli import main

    sys.exit(main(sys.argv[1:]))
