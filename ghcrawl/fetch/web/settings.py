"""Settings of the web fetcher."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from ghcrawl import __version__

Private = Literal["typed", "never", "always"]
"""Which addresses that are not public may be asked: of origins that a person typed, none, or all."""
USER_AGENT: Final = f"ghcrawl/{__version__}"


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSettings:
    """How sites are asked. delay_s: pause between two calls of a public host; robots.txt may ask for a longer one.

    timeout_s: for a whole answer. max_body_bytes: after decompression.
    """

    user_agent: str = USER_AGENT
    private_addresses: Private = "typed"
    delay_s: float = 0.5
    timeout_s: float = 30.0
    max_body_bytes: int = 5_000_000
    obey_robots: bool = True
