"""Whether a page shows little without its scripts, and whether there is a browser to run them."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from typing import Any, Final

from ghcrawl.fetch.web.settings import Scripts, WebSettings

PROGRAMS: Final = ("chromium", "chromium-browser", "google-chrome")
LITTLE: Final = 200
"""Characters of text. A page with scripts and less text than this is written by its scripts."""
_TYPES: Final = frozenset({"", "module", "text/javascript", "application/javascript", "application/x-javascript"})
_EMPTY_THREADS: Final = (
    "//body//*[self::div or self::section or self::aside][not(*) and not(normalize-space())]"
    "[contains(@id, 'comment') or contains(@id, 'thread') or contains(@class, 'comment') or contains(@class, 'thread')]"
)
"""Where Disqus, isso, Waline and their like put comments: an element without content."""


def wants_scripts(which: Scripts, content: bytes, content_type: str) -> bool:
    """Whether this page's scripts are to be run. `needed`: it has some, and hardly any text or an empty thread."""
    if which == "never" or "html" not in content_type.lower():
        return False
    from lxml import etree, html  # noqa: PLC0415  # only installed with the extra `web`

    try:
        root = html.document_fromstring(content)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError, AssertionError):
        return False
    if not any(_runs(node) for node in root.iter("script")):
        return False
    return which == "always" or bool(root.xpath(_EMPTY_THREADS)) or len(_shown(root)) < LITTLE


def lacking(settings: WebSettings) -> str:
    """What a browser needs and this machine lacks; empty: it can be started, or is not wanted."""
    if settings.javascript == "never":
        return ""
    if find_spec("playwright") is None:
        return "web.javascript needs one more package: pip install 'ghcrawl[browser]'"
    if not program(settings):
        return "web.javascript needs Chromium: apt-get install chromium, or name it in web.chromium"
    return ""


def program(settings: WebSettings) -> str:
    """The path of Chromium; empty: there is none."""
    return next(filter(None, map(shutil.which, [settings.chromium] if settings.chromium else PROGRAMS)), "")


def _runs(script: Any) -> bool:
    return str(script.get("type", "")).partition(";")[0].strip().lower() in _TYPES


def _shown(root: Any) -> str:
    pieces = root.xpath("//body//text()[not(ancestor::script or ancestor::style or ancestor::noscript)]")
    return " ".join("".join(pieces).split())
