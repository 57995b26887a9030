"""Settings of the web fetcher."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

from ghcrawl import __version__

Private = Literal["typed", "never", "always"]
"""Which addresses that are not public may be asked: of origins that a person typed, none, or all."""
Scripts = Literal["never", "needed", "always"]
"""Of which pages scripts are run: none, those that show little without, or all that have any."""
LOAD_MORE: Final = (
    ".load-more, .loadmore, .show-more, .isso-load-hidden, [data-load-more], "
    "button:text-matches('^(load|show|view) (all|more|hidden)', 'i')"
)
"""A Playwright selector: what shows more comments or posts of a page."""
USER_AGENT: Final = f"ghcrawl/{__version__}"


class WebSettings(Struct, frozen=True, kw_only=True):
    """How sites are asked. delay_s: pause between two calls of a public host; robots.txt may ask for a longer one.

    timeout_s: for a whole answer, and for the scripts of a page. max_body_bytes: after decompression. javascript: of
    which pages scripts are run, by the program `chromium` (empty: the first that is found); load_more: what is clicked
    there, max_clicks times at most.
    """

    user_agent: str = USER_AGENT
    private_addresses: Private = "typed"
    delay_s: float = 0.5
    timeout_s: float = 30.0
    max_body_bytes: int = 5_000_000
    obey_robots: bool = True
    javascript: Scripts = "never"
    chromium: str = ""
    chromium_sandbox: bool = True
    load_more: str = LOAD_MORE
    max_clicks: int = 20
