"""What a crawl is to do: specs, settings and credentials, and the words that say so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from msgspec import Struct

from ghcrawl.cli.options import Place
from ghcrawl.cli.records import Begun
from ghcrawl.cli.roots import Root
from ghcrawl.cli.words import counted, stamp
from ghcrawl.platforms.mount import Mounts
from ghcrawl.settings.sections import Settings
from ghcrawl.wiring import Credentials, mounts


class Plan(Struct, frozen=True, kw_only=True, dict=True):
    """What is to be crawled, and how. specs: none works on the waiting requests.

    more: settings from the command line besides those of `place`; command: what goes on with this crawl.
    afresh: start again, even if it was interrupted. verbose: log every settled request.
    remembered: the API was not named; the file was crawled from it before.
    max_calls: limit of calls. follow: when all is saved, follow the feeds until stopped.
    title: on the screen; empty for one made of the specs.
    """

    specs: tuple[str, ...]
    place: Place
    settings: Settings
    credentials: Credentials = {}
    more: Mapping[str, Any] = {}
    command: str = "ghcrawl crawl"
    afresh: bool = False
    verbose: bool = False
    remembered: bool = False
    max_calls: int | None = None
    follow: bool = False
    title: str = ""

    @property
    def policy(self) -> str:
        """For specs that name none."""
        return self.settings.crawl.policy

    @cached_property
    def mounts(self) -> Mounts:
        """The platforms as these settings have them."""
        return mounts(self.settings)

    @property
    def hint(self) -> str:
        """What to do where the API cannot be asked; empty: the person named it."""
        kept_in = self.settings.kept_in
        return f" ({kept_in} was crawled from there; choose another API with --api-url)" if self.remembered else ""

    @property
    def heading(self) -> str:
        """What is crawled, in a few words."""
        named = ", ".join(self.specs[:3]) + (f" and {len(self.specs) - 3} more" if len(self.specs) > 3 else "")
        return self.title or (f"Crawling {named}" if named else f"Crawling queued requests of {self.settings.waits_in}")


def introduction(plan: Plan, begun: Begun, waited: str) -> Iterable[str]:
    """Sentences on what starts. waited: how many requests wait already; empty: none."""
    known = begun.record.bases
    if not plan.title:
        yield f"{plan.heading}{from_apis(known.values())} into {plan.settings.kept_in}{as_whom(plan, known)}."
    if begun.resumed:
        yield f"Resuming the crawl started at {stamp(begun.record.asked_at)}: {waited or 'no requests wait'}."
    elif begun.others and waited:
        others = ", ".join(dict.fromkeys(spec for record in begun.others for spec in record.specs))
        yield f"An earlier crawl ({others}) is not finished: {waited}; this crawl processes them too."
    elif waited:
        yield f"{waited[0].upper()}{waited[1:]} already; this crawl processes them too."


def bases(mounts: Mounts, wanted: Sequence[Root]) -> Mapping[str, str]:
    """Platform of a root → the base URL of its API; empty: its URLs name their hosts."""
    return {name: mounts[name].base_url for name in dict.fromkeys(root.request.platform for root in wanted)}


def from_apis(base_urls: Iterable[str]) -> str:
    """Where it is crawled from, in a sentence."""
    return f" from {named}" if (named := ", ".join(filter(None, base_urls))) else ""


def as_whom(plan: Plan, names: Iterable[str]) -> str:
    """With how many credentials, or what it means that there are none."""
    if count := sum(len(plan.credentials.get(name, ())) for name in names):
        return f", with {counted(count, 'token')}"
    mounted = [plan.mounts[name] for name in names]
    said = [each.platform.credentials.without(each.section) for each in mounted if each.platform.credentials]
    return f", {', '.join(said)}" if said else ""
