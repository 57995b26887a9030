"""`python -m ghcrawl`."""

from __future__ import annotations

import sys

from ghcrawl.cli import main

if __name__ == "__main__":
    sys.exit(main())
