"""URLs as names: one canonical text for each page, and URNs made of host and path."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final
from urllib.parse import quote, urljoin, urlsplit, urlunsplit

MAX_URL: Final = 2_000
MAX_SEGMENTS: Final = 20
_PORTS: Final = {"http": 80, "https": 443}
_SAFE: Final = "/:@!$&'()*+,;=~%-._"
_FILES: Final = re.compile(
    r"\.(?:7z|apk|avi|bmp|bz2|css|csv|dmg|docx?|eot|epub|exe|gif|gz|ico|iso|jar|jpe?g|js|json|m4[av]|mkv|mov|mp[34]|"
    r"mpe?g|odt|og[agv]|opml|otf|pdf|png|pptx?|psd|rar|rpm|rss|svg|tar|tgz|tiff?|torrent|ttf|txt|wav|webm|webp|woff2?|"
    r"xlsx?|xml|xz|zip)$",
    re.IGNORECASE,
)


@lru_cache(maxsize=65_536)
def canonical(url: str, base: str = "") -> str:
    """`url` as it is named here: absolute, host in lower case, no fragment; empty for what is no page's URL."""
    try:
        parts = urlsplit(urljoin(base, url.strip()) if base else url.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        return ""
    if parts.scheme not in _PORTS or not host or parts.username is not None:
        return ""
    try:
        host = host.encode("idna").decode() if not host.isascii() else host
    except UnicodeError:
        return ""
    host = f"[{host}]" if ":" in host else host
    netloc = host if port in (None, _PORTS[parts.scheme]) else f"{host}:{port}"
    path = quote(parts.path or "/", safe=_SAFE)
    query = quote(parts.query, safe=_SAFE + "?")
    made = urlunsplit((parts.scheme, netloc, path, query, ""))
    return made if len(made) <= MAX_URL else ""


def host_of(url: str) -> str:
    """Host and port."""
    return urlsplit(url).netloc


def urn(type: str, url: str) -> str:
    """`urn:web:<host>:<type>:<path>`."""
    parts = urlsplit(url)
    return f"urn:web:{parts.netloc}:{type}:{parts.path}{'?' if parts.query else ''}{parts.query}"


def folder(url: str) -> str:
    """The path up to its last slash."""
    return urlsplit(url).path.rpartition("/")[0] + "/"


def may_be_page(url: str) -> bool:
    """Whether a link may lead to a page; files, feeds and endless paths do not."""
    path = urlsplit(url).path
    segments = [each for each in path.split("/") if each]
    if _FILES.search(path) or len(segments) > MAX_SEGMENTS:
        return False
    repeated = max((segments.count(each) for each in set(segments)), default=0)
    return repeated < 4 and segments[-1:] != ["feed"] and "wp-json" not in segments
