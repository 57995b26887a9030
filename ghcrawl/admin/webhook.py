"""`POST /webhook`: a delivery is verified, taken once, durable on `event`, and only then answered 202.

In this order, so that a sender without a secret learns nothing and costs little: headers, body (size and time limited
while it arrives), signature, JSON, claim, queue, receipt.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, Final, Literal, NamedTuple
from urllib.parse import parse_qs

import structlog
from aiohttp import web
from msgspec import Struct, field

from ghcrawl.admin import bodies
from ghcrawl.admin.problems import Problem, unavailable
from ghcrawl.admin.secret_lines import SecretKind, SecretLines
from ghcrawl.admin.signature import is_signed
from ghcrawl.platforms.contract import Deliveries
from ghcrawl.ports.clock import Clock
from ghcrawl.ports.inbox import IdempotencyKeys, Inbox
from ghcrawl.telemetry.load_shedding import LoadShedding
from ghcrawl.values.errors import CrawlError, Unstorable
from ghcrawl.values.jsontext import MAX_DEPTH, JsonObject, TooDeep, loads
from ghcrawl.values.requests import Push, Request

log = structlog.stdlib.get_logger(__name__)

MAX_HELD: Final = 100 * 1024 * 1024
"""Memory for large bodies of all senders together; beyond it, the answer is 503."""
AT_ONCE: Final = 256
"""Deliveries that are being made durable at a time; the others wait. At 200 a second each may take a second."""
KEPT_TIMES: Final = 2
"""Ids are remembered this many times longer than a delivery can arrive again, and a day more."""
_EVENT = re.compile(r"[a-z0-9_]{1,100}")
_DELIVERY = re.compile(r"[A-Za-z0-9._:-]{1,128}")

Result = Literal[
    "accepted",
    "duplicate",
    "ping",
    "no_secret",
    "malformed",
    "unsigned",
    "forged",
    "too_large",
    "unstorable",
    "slow",
    "unavailable",
]
_OF_STATUS: Final[dict[int, Result]] = {408: "slow", 413: "too_large", 503: "unavailable"}
SECRETS: Final = SecretKind(variable="GHCRAWL_WEBHOOK_SECRETS", what="file service.webhook_secrets_file")
UNVERIFIED: Final = "unverified"
"""The event of deliveries whose sender may be anybody."""


class _Heading(NamedTuple):
    sender: Deliveries
    event: str
    delivery: str
    signature: str


class Intake(Struct, frozen=True, kw_only=True):
    """What deliveries need. count: called with the event and result of each; answering: that a sender waits for it.

    senders: the webhooks of every platform that has some; the headers of a delivery tell which one sent it.
    """

    senders: Sequence[Deliveries]
    inbox: Inbox
    idempotency_keys: IdempotencyKeys
    clock: Clock
    secrets: SecretLines
    count: Callable[[str, str], None]
    answering: LoadShedding = field(default_factory=LoadShedding)
    timeout_s: float = 8.0


class Webhook:
    """The handler."""

    def __init__(self, intake: Intake) -> None:
        self._intake = intake
        self._gate = asyncio.Semaphore(AT_ONCE)
        self._room = bodies.Room(MAX_HELD)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """202 for what is durable, 200 for a ping. Raises Problem for anything else."""
        event, result = UNVERIFIED, "malformed"
        until_s = asyncio.get_running_loop().time() + self._intake.timeout_s
        try:
            heading = self._heading(request)
            with self._room.share() as share:
                raw = await self._verified(request, heading, share)
                event = heading.event
                result, answer = await self._accepted(heading, _parsed(raw, request.content_type), until_s)
        except Problem as problem:
            result = getattr(problem, "result", _OF_STATUS.get(problem.status, result))
            log.warning(
                "delivery_refused", result=result, hook_event=event, status=problem.status, why=problem.detail[:300]
            )
            raise
        finally:
            self._intake.count(event, result)
        return answer

    # Before anything is believed ------------------------------------------------------------------------------

    def _heading(self, request: web.Request) -> _Heading:
        if not self._intake.secrets.now():
            raise _Refusal(
                "no_secret",
                403,
                "no webhook secret is set, so deliveries cannot be verified; set GHCRAWL_WEBHOOK_SECRETS",
            )
        if not self._intake.senders:
            raise Problem(404, "no platform here sends deliveries")
        headers = request.headers
        sender = next((each for each in self._intake.senders if each.event_header in headers), self._intake.senders[0])
        event, delivery = headers.get(sender.event_header, ""), headers.get(sender.delivery_header, "")
        if not _EVENT.fullmatch(event) or not _DELIVERY.fullmatch(delivery):
            raise Problem(400, f"headers {sender.event_header} and {sender.delivery_header} required")
        signature = headers.get(sender.signature_header, "")
        if not signature:
            weak = (
                f" ({sender.weak_signature_header} is not accepted)" if sender.weak_signature_header in headers else ""
            )
            raise _Refusal("unsigned", 401, f"header {sender.signature_header} required{weak}")
        return _Heading(sender, event, delivery, signature)

    async def _verified(self, request: web.Request, heading: _Heading, share: bodies.Share) -> bytes:
        raw = await bodies.read(
            request, max_bytes=heading.sender.max_bytes, timeout_s=self._intake.timeout_s, share=share
        )
        if not is_signed(raw, heading.signature, self._intake.secrets.now()):
            raise _Refusal("forged", 401, "the signature does not match the body under any webhook secret")
        return raw

    # Verified --------------------------------------------------------------------------------------------------

    async def _accepted(self, heading: _Heading, body: JsonObject, until_s: float) -> tuple[Result, web.Response]:
        """until_s: by the loop's clock; the sender waits for the body's way and for this together."""
        if heading.event == heading.sender.ping:
            return "ping", web.json_response({"message": "pong"})
        try:
            with self._intake.answering.one():
                async with asyncio.timeout_at(until_s), self._gate:
                    push = Push(request=self._request(heading, body), queue="event")
                    taken = await self._intake.inbox.take(heading.delivery, push)
        except TimeoutError:
            raise unavailable("the delivery could not be saved in time; redeliver it") from None
        except Unstorable as error:
            raise _Refusal("unstorable", 413, f"the delivery is not acceptable: {error}") from error
        except CrawlError as error:
            log.warning("delivery_not_durable", hook_event=heading.event, error=str(error), kind=type(error).__name__)
            raise unavailable("the delivery could not be saved; redeliver it") from error
        if taken:
            log.info("delivery_accepted", hook_event=heading.event, delivery=heading.delivery)
        value = {"message": "accepted" if taken else "this delivery was already accepted", "delivery": heading.delivery}
        return "accepted" if taken else "duplicate", web.json_response(value, status=202)

    def _request(self, heading: _Heading, body: JsonObject) -> Request:
        return heading.sender.request(heading.event, heading.delivery, body, self._intake.clock.now())

    async def sweep(self) -> int:
        """Forget the ids that cannot arrive again. Returns how many. Raises StoreError."""
        resent_for = max((each.resent_for for each in self._intake.senders), default=timedelta())
        kept = KEPT_TIMES * resent_for + timedelta(days=1)
        return await self._intake.idempotency_keys.sweep(self._intake.clock.now() - kept)


class _Refusal(Problem):
    """A problem with a result of its own."""

    def __init__(self, result: Result, status: int, detail: str) -> None:
        super().__init__(status, detail)
        self.result = result


def _parsed(raw: bytes, content_type: str) -> JsonObject:
    """The payload of a body whose signature was right. Raises Problem."""
    if content_type == "application/x-www-form-urlencoded":
        try:
            found = parse_qs(raw.decode("ascii"), strict_parsing=True, max_num_fields=10).get("payload", [])
        except ValueError:
            found = []
        if len(found) != 1:
            raise Problem(400, "a form-encoded delivery must have exactly one field, payload")
        raw = found[0].encode("utf-8", "surrogatepass")
    elif content_type != "application/json":
        raise Problem(415, "unsupported media type; send JSON or a form with a field payload")
    try:
        value: Any = loads(raw, max_depth=MAX_DEPTH)
    except TooDeep as error:
        raise _Refusal("unstorable", 413, f"the delivery can never be taken: its payload is {error}") from None
    except ValueError:
        raise Problem(400, "the payload is not JSON") from None
    if not isinstance(value, dict):
        raise Problem(400, "the payload is not a JSON object")
    return value
