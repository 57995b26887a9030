"""Reads answers of GitHub by their status. Pure: an answer in, a value out; `FetchError` for what is broken.

    200  Fetched; partial where the platform says that things are missing      202  Pending
    204  Fetched, []        409 on an empty repository  Fetched, []            301 302 303 307 308  Moved
    304  Unchanged, where a validator was sent                                 401  Unauthorized
    403  a throttle (see `limited`), Unfit (this credential), Denied (anybody) 404 410  Missing
    451  Missing, with the notice of the block                                 400 422 and other 4xx  Refused
    429  a throttle                                                            5xx, no JSON  FetchError
    400 where only an enterprise that manages its accounts has such a thing    Missing

Source: GitHub's REST documentation and recorded exchanges; messages are its own words, for it says some things in no
other way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final, TypeAlias

from msgspec import Struct
from yarl import URL

from ghcrawl.fetch.client import Answer
from ghcrawl.fetch.github.refusals import (
    Unauthorized,
    Unfit,
    forbidden,
    message,
    notice,
    said,
    unauthorized,
    with_block,
)
from ghcrawl.fetch.headers import links
from ghcrawl.fetch.redaction import REDACTOR
from ghcrawl.values.documents import Validator
from ghcrawl.values.errors import FetchError, Malformed
from ghcrawl.values.jsontext import MAX_DEPTH, Json, TooDeep, loads
from ghcrawl.values.outcome import Fetched, Missing, Pending, Refused, Retrieved, Unchanged

PENDING_S: Final = 10.0
PENDING_CAP_S: Final = 300.0
UNMANAGED: Final = "not part of externally managed enterprise"
"""Says that an organisation has no groups of an identity provider."""


class CallContext(Struct, frozen=True, kw_only=True):
    """What was asked, as far as it matters for reading the answer.

    url: of this call. name: the URL that the document will carry. aliases: the URLs that permanently led to it.
    observed_at: when the call began, by the platform's clock. attempt: failures so far.
    keeps: whether a validator would be of use again; conditional: whether one was sent.
    """

    url: str
    name: str
    accept: str
    api_version: str
    fingerprint: str
    observed_at: datetime
    aliases: tuple[str, ...] = ()
    attempt: int = 0
    keeps: bool = True
    conditional: bool = False


class Moved(Struct, frozen=True, kw_only=True):
    """Look there. permanent: and call it by that name from now on."""

    url: str
    permanent: bool


Verdict: TypeAlias = Retrieved | Moved | Unauthorized | Unfit


# Bodies -------------------------------------------------------------------------------------------------------


def parsed(answer: Answer) -> Json:
    """The body as JSON. Raises FetchError; Malformed for what is nested too deep, however often it is fetched."""
    try:
        return loads(answer.body or b"", max_depth=MAX_DEPTH)
    except TooDeep as error:
        raise Malformed(REDACTOR.text(f"{answer.url} answered {answer.status} with JSON {error}")) from None
    except ValueError:
        size, kind = len(answer.body or b""), answer.headers.get("Content-Type", "no type")
    raise FetchError(
        REDACTOR.text(f"{answer.url} answered {answer.status} with {size} bytes ({kind}) that are not JSON"),
        url=answer.url,
        status=answer.status,
        cause="invalid_json",
    )


# Statuses -----------------------------------------------------------------------------------------------------


def read(answer: Answer, asked: CallContext) -> Verdict:
    """What `answer` means. Throttles were dealt with before. Raises FetchError for what is broken."""
    status = answer.status
    if answer.body is None and status < 500:
        return Refused(status=status, reason="too_large", detail=f"{asked.url} is larger than may be fetched")
    if status == 401:
        return unauthorized(answer)
    if status == 403:
        return forbidden(answer)
    reader = _READERS.get(status)
    if reader is not None:
        return reader(answer, asked)
    if 200 <= status < 300:
        return _fetched(answer, asked, parsed(answer))
    if 400 <= status < 500:
        return Refused(status=status, reason="refused", detail=said(answer))
    raise FetchError(REDACTOR.text(f"{asked.url} answered {status}"), url=asked.url, status=status)


def _fetched(answer: Answer, asked: CallContext, body: Json) -> Fetched:
    headers = answer.headers
    gaps = isinstance(body, dict) and (body.get("incomplete_results") is True or body.get("truncated") is True)
    return Fetched(
        body=body,
        url=asked.name,
        observed_at=asked.observed_at,
        checked_at=answer.asked_at,
        validator=_validator(headers, asked),
        link=links(headers.get("Link")),
        aliases=asked.aliases,
        status=answer.status,
        partial=gaps or headers.get("X-GitHub-SSO", "").startswith("partial-results"),
    )


def _validator(headers: Mapping[str, str], asked: CallContext) -> Validator | None:
    etag, modified = headers.get("ETag"), headers.get("Last-Modified")
    if not asked.keeps or (etag is None and modified is None):
        return None
    return Validator(
        url=asked.url,
        etag=etag,
        last_modified=modified,
        accept=asked.accept,
        api_version=asked.api_version,
        principal=asked.fingerprint,
    )


def _pending(answer: Answer, asked: CallContext) -> Pending:
    wait_s = min(PENDING_S * 2.0 ** min(asked.attempt, 16), PENDING_CAP_S)
    return Pending(wait_s=wait_s, detail=said(answer))


def _empty(answer: Answer, asked: CallContext) -> Fetched:
    return _fetched(answer, asked, [])


def _unchanged(answer: Answer, asked: CallContext) -> Unchanged:
    if not asked.conditional:
        raise FetchError(f"{asked.url} answered 304 to an unconditional request", url=asked.url, status=304)
    # The ETag of this answer is not kept: after If-Modified-Since it may be that of a body we have never seen.
    return Unchanged(checked_at=answer.asked_at)


def _moved(answer: Answer, asked: CallContext) -> Moved | Refused:
    target = answer.headers.get("Location") or notice(answer).get("url")
    url = _joined(asked.url, target) if isinstance(target, str) and target else None
    if url is None:
        return Refused(status=answer.status, reason="redirect", detail=f"{asked.url} moved to nowhere we may follow")
    return Moved(url=url, permanent=answer.status in (301, 308))


def _joined(base: str, target: str) -> str | None:
    """Where `target` leads from `base`; None for what is no URL, no HTTP, or no TLS where there was some."""
    try:
        url = URL(base, encoded=True).join(URL(target, encoded=target.isascii()))
    except ValueError:
        return None
    safe = url.scheme == "https" or (url.scheme == "http" and not base.startswith("https:"))
    return str(url) if safe and url.host else None


def _missing(answer: Answer, asked: CallContext) -> Missing | Refused:
    text = said(answer)
    if answer.status == 410 and "version" in text.lower():
        return Refused(status=410, reason="api_version", detail=text)  # our fault, and no tombstone for anything
    return Missing(status=answer.status, detail=with_block(answer), observed_at=asked.observed_at)


def _unmanaged(answer: Answer, asked: CallContext) -> Missing | Refused:
    """Groups of an identity provider: only organisations have them whose accounts an enterprise manages."""
    if UNMANAGED in message(answer).lower():
        return Missing(status=400, detail=said(answer), observed_at=asked.observed_at)
    return Refused(status=400, reason="refused", detail=said(answer))


def _conflict(answer: Answer, asked: CallContext) -> Fetched:
    if "empty" not in message(answer).lower():
        raise FetchError(f"{asked.url} answered 409: {said(answer)}", url=asked.url, status=409)
    return Fetched(
        body=[],
        url=asked.name,
        observed_at=asked.observed_at,
        checked_at=answer.asked_at,
        aliases=asked.aliases,
        status=409,
    )


_READERS: Final[Mapping[int, Callable[[Answer, CallContext], Verdict]]] = {
    202: _pending,
    204: _empty,
    301: _moved,
    302: _moved,
    303: _moved,
    304: _unchanged,
    307: _moved,
    308: _moved,
    400: _unmanaged,
    404: _missing,
    409: _conflict,
    410: _missing,
    451: _missing,
}
