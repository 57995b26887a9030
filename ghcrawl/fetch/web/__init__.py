"""How web pages and feeds are asked for: politely, within limits, and never inside our own network by accident."""

from ghcrawl.fetch.web.fetcher import WebFetcher
from ghcrawl.fetch.web.scripts import lacking
from ghcrawl.fetch.web.settings import WebSettings

__all__ = ["WebFetcher", "WebSettings", "lacking"]
