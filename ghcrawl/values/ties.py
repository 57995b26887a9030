"""Ties: two bodies of one thing that name the same last change and say different things.

A platform tells moments to the second, and more than one thing may happen within it. Which of two such bodies came
later only the platform can tell, once that second is over. So it is asked then, and only then: what differs in
its date, or was seen when its second was over, is put in order without.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from ghcrawl.values.documents import Document
from ghcrawl.values.frozen import replace
from ghcrawl.values.requests import Push, Request
from ghcrawl.values.times import moment

UNSETTLED: Final = timedelta(seconds=4)
"""How long after its last change a thing may look different without another date: the rest of that second, and by how
much the moment that we take for the platform's may be early."""
WAIT: Final = timedelta(seconds=10)
"""How long after a tie the platform is asked: long enough for its answer to be settled, so that no tie can follow."""


def unsettled(changed_at: str, observed_at: datetime, window: timedelta = UNSETTLED) -> bool:
    """Whether what was seen at `observed_at` may be from within the second `changed_at`."""
    try:
        return bool(changed_at) and observed_at - moment(changed_at) < window
    except (ValueError, OverflowError):
        return False


def whole_again(document: Document, request: Request) -> Push | None:
    """The request for the thing itself, if saving `document` leaves one of two moments; None: it cannot.

    request: the one that `document` is the answer to.
    """
    if document.deleted_at is not None or not document.forms:
        return None
    asked = request.about(document, "refresh:self", qualifier=request.context.qualifier)
    return Push(request=replace(asked, asked_at=document.fetched_at), queue="normal")


def question(document: Document, request: Request, now: datetime, window: timedelta = UNSETTLED) -> Push | None:
    """The request that settles it if saving `document` ends in a tie; None: it cannot.

    request: the one that `document` is the answer to. window: `Platform.tie_window`.
    Only an answer from after the wait will do.
    """
    told = document.origin in ("webhook", "event")
    if document.deleted_at is not None or not (told or unsettled(document.changed_at, document.observed_at, window)):
        return None
    asked = request.about(document, "refresh:self", qualifier=request.context.qualifier)
    return Push(request=replace(asked, asked_at=now + WAIT), queue="soon", not_before=now + WAIT)
