"""ghcrawl: a crawler of APIs that runs for months."""

__version__ = "0.1.0"
