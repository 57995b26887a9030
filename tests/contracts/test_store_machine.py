"""Any sequence of saves, touches and crashes, against a model that remembers every sight of everything."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from ghcrawl.ports.store import DocumentFilter, Touch
from ghcrawl.values.documents import Document
from ghcrawl.values.ties import UNSETTLED
from ghcrawl.values.times import iso
from tests.contracts.adapters import STORES as ADAPTERS
from tests.contracts.machine import RigMachine, case_of
from tests.support.builders import NOW, a_document, a_type, at

TITLES = ("a", "b", "c")
SECONDS = st.integers(0, 6)
LAST_CHANGE = at(1)
NAMES = ("urn:list:1:page:1", "urn:list:2:page:1", "urn:list:2:page:2", "urn:list:3:page:1", "urn:other")


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """Few names, titles and moments, so that they meet."""
    title, seen_s = draw(st.sampled_from(TITLES)), draw(SECONDS)
    alias = draw(st.sampled_from([*TITLES, None]))
    return a_document(
        urn=draw(st.sampled_from(NAMES)),
        title=title,
        url=title,
        aliases=(alias,) if alias and alias != title else (),
        observed_at=at(seen_s),
        fetched_at=at(seen_s),
        changed_at=draw(st.sampled_from(["", iso(LAST_CHANGE)])),
        deleted_at=draw(st.sampled_from([None, None, NOW])),
    )


@dataclass
class Sights:
    """All that was ever seen of one URN since it was last removed. unsure: what is kept was written at a tie."""

    seen: list[Document]
    checked_at: datetime
    unsure: bool = False

    @property
    def truest(self) -> Document:
        """Of equally true ones the last."""
        return max(enumerate(self.seen), key=lambda sight: (rank(sight[1]), sight[0]))[1]

    def strength(self, url: str) -> str | None:
        """How strongly the URL was claimed; None: never."""
        claims = ["" if d.deleted_at else d.precedence for d in self.seen if url in (d.url, *d.aliases)]
        return max(claims, default=None)


def content(document: Document) -> tuple[Any, ...]:
    return document.body["title"], document.url, document.deleted_at is not None


def rank(document: Document) -> tuple[str, datetime]:
    return document.changed_at, document.observed_at


class StoreMachine(RigMachine):
    def __init__(self) -> None:
        super().__init__()
        self.sights: dict[str, Sights] = {}

    @rule(document=documents(), supersede=st.booleans())
    def save(self, document: Document, supersede: bool) -> None:
        urn = document.urn
        before = self.sights.get(urn)
        outcome = self.run(self.rig.store.save(document, supersede="urn:list:" if supersede else ""))
        assert outcome == self.expected(before, document)
        sights = before or Sights([], document.fetched_at)
        if before is None or rank(document) >= rank(before.truest):
            sights.checked_at = max(sights.checked_at, document.fetched_at)
            sights.unsure = outcome == "tied" or (outcome == "same" and sights.unsure)
        sights.seen.append(document)
        if outcome != "stale" and supersede:
            self.remove("urn:list:", urn.rpartition(":page:")[0] or urn)
        self.sights[urn] = sights

    def expected(self, before: Sights | None, document: Document) -> str:
        if before is None:
            return "saved"
        same = content(document) == content(before.truest) and not before.unsure
        if not same and self.may_tie(before.truest, document):
            return "tied"
        if rank(document) < rank(before.truest):
            return "stale"
        return "same" if same else "saved"

    def may_tie(self, held: Document, document: Document) -> bool:
        """Both alive, of one date, and both seen while its second may not have been over."""
        if held.deleted_at or document.deleted_at or not held.changed_at == document.changed_at > "":
            return False
        settled = [each for each in (held, document) if each.observed_at >= LAST_CHANGE + UNSETTLED]
        return not settled or held.observed_at == document.observed_at

    def remove(self, low: str, high: str) -> None:
        self.sights = {urn: sights for urn, sights in self.sights.items() if not low <= urn < high}

    @rule(urn=st.sampled_from(NAMES), checked_s=SECONDS)
    def touch(self, urn: str, checked_s: int) -> None:
        self.run(
            self.rig.store.touch(
                Touch(
                    urn=urn, type_name=a_type("issue"), policy="p", visited_at=at(checked_s), checked_at=at(checked_s)
                )
            )
        )
        if urn in self.sights:
            self.sights[urn].checked_at = max(self.sights[urn].checked_at, at(checked_s))

    @rule()
    def crash(self) -> None:
        self.run(self.rig.crash())

    @invariant()
    def the_truest_is_kept(self) -> None:
        for urn in NAMES:
            stored = self.run(self.rig.store.get(urn))
            assert (stored is None) == (urn not in self.sights)
            if stored is not None:
                sights = self.sights[urn]
                assert content(stored) == content(sights.truest)
                assert stored.precedence == sights.truest.precedence
                urls = {url for seen in sights.seen for url in (seen.url, *seen.aliases)}
                assert set(stored.aliases) == urls - {stored.url}

    @invariant()
    def every_url_leads_to_its_strongest_claimant(self) -> None:
        for url in TITLES:
            claims = {urn: sights.strength(url) for urn, sights in self.sights.items()}
            strongest = max((claim for claim in claims.values() if claim is not None), default=None)
            stored = self.run(self.rig.store.look_up(a_type("issue"), url))
            assert (stored is None) == (strongest is None)
            if stored is not None:
                assert claims[stored.urn] == strongest
                assert stored.checked_at == self.sights[stored.urn].checked_at
                assert [found.urn for found in self.run(self.rig.store.find(url))] == [stored.urn]

    @rule()
    def the_list_is_complete(self) -> None:
        async def urns() -> list[str]:
            return [document.urn async for document in self.rig.store.list(DocumentFilter())]

        assert self.run(urns()) == sorted(self.sights)


TestMemory = pytest.mark.slow(case_of(StoreMachine, ADAPTERS["memory"]))
TestSqlite = pytest.mark.slow(case_of(StoreMachine, ADAPTERS["sqlite"]))
