"""Archives from registries, extracted alike on every Python that is supported."""

from __future__ import annotations

import tarfile
from pathlib import Path


def extract(archive: Path, into: Path) -> None:
    """Extract all files. Python has filters since 3.11.4; Debian 12 has 3.11.2."""
    with tarfile.open(archive) as tar:
        if hasattr(tarfile, "data_filter"):
            tar.extractall(into, filter="data")
        else:
            tar.extractall(into)
