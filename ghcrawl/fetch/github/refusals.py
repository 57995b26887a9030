"""Answers that say no: to the credential, to this credential only, to anybody, or for now. Pure.

GitHub's messages are read here, because for some of these it has no other words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct

from ghcrawl.fetch.client import Answer
from ghcrawl.fetch.github.settings import GitHubSettings
from ghcrawl.fetch.headers import retry_after_s
from ghcrawl.fetch.redaction import REDACTOR
from ghcrawl.values.jsontext import Json
from ghcrawl.values.outcome import Denied, DeniedReason, Refused

MAX_DETAIL: Final = 500


class Unauthorized(Struct, frozen=True, kw_only=True):
    """The credential is not (or no longer) accepted for anything."""

    detail: str


class Unfit(Struct, frozen=True, kw_only=True):
    """This credential is denied what another may be shown. owner_wide: anything of that owner, not only this kind."""

    denied: Denied
    owner_wide: bool


class Limited(Struct, frozen=True, kw_only=True):
    """Asked too much. retry_after_s: as far as the server said."""

    kind: Literal["primary", "secondary"]
    retry_after_s: float | None = None


# What is said -------------------------------------------------------------------------------------------------


def notice(answer: Answer) -> Mapping[str, Json]:
    """The JSON object of an unsuccessful answer; empty for HTML pages and other bodies."""
    try:
        body = json.loads(answer.body or b"")
    except (ValueError, RecursionError):
        return {}
    return body if isinstance(body, dict) else {}


def message(answer: Answer) -> str:
    """The sentence with which GitHub explains itself; empty where there is none."""
    text = notice(answer).get("message")
    return REDACTOR.text(text)[:MAX_DETAIL] if isinstance(text, str) else ""


def said(answer: Answer) -> str:
    """The message, or at least the status."""
    return message(answer) or f"HTTP {answer.status}"


def with_block(answer: Answer) -> str:
    """The message, with the notice of why the repository is blocked."""
    block = notice(answer).get("block")
    if not isinstance(block, dict):
        return said(answer)
    told = [str(block[name]) for name in ("reason", "created_at", "html_url") if block.get(name)]
    return REDACTOR.text(f"{said(answer)} ({', '.join(told)})")[:MAX_DETAIL]


# Throttling ---------------------------------------------------------------------------------------------------

_SECONDARY: Final = re.compile(r"secondary rate|abuse", re.IGNORECASE)
_PRIMARY: Final = re.compile(r"rate limit exceeded", re.IGNORECASE)


def limited(answer: Answer, server_now: float) -> Limited | None:
    """Whether a 403 or 429 means that we asked too much; None: it means something else."""
    if answer.status not in (403, 429):
        return None
    headers, text = answer.headers, message(answer)
    wait_s = retry_after_s(headers, server_now)
    if _SECONDARY.search(text):
        return Limited(kind="secondary", retry_after_s=wait_s)
    spent = headers.get("x-ratelimit-remaining") == "0"
    if _PRIMARY.search(text) or (spent and (answer.status == 429 or not text)):
        return Limited(kind="primary", retry_after_s=wait_s)
    if answer.status == 429 or wait_s is not None or "gh-limited-by" in headers:
        return Limited(kind="secondary", retry_after_s=wait_s)
    return None


# 401 and 403 --------------------------------------------------------------------------------------------------

_NO_TOKEN_ANSWERS: Final = re.compile(r"requires authentication|json web token|'(issuer|expiration)", re.IGNORECASE)


def unauthorized(answer: Answer) -> Unauthorized | Denied:
    """What a 401 means for the credential."""
    text = said(answer)
    if _NO_TOKEN_ANSWERS.search(text):  # the endpoint wants another sort of credential; ours is as good as before
        return Denied(status=401, reason="unauthorized", detail=text)
    return Unauthorized(detail=f"401 {text}")


_OWNER_WIDE: Final = re.compile(
    r"forbids access via|OAuth App access restrictions|token's lifetime|installation has been suspended",
    re.IGNORECASE,
)
_CREDENTIAL: Final = re.compile(
    r"not accessible by|(must|need to) have (push|admin)|not authorized|insufficient", re.IGNORECASE
)


def forbidden(answer: Answer) -> Unauthorized | Unfit | Denied:
    """What a 403 means that is no throttle."""
    text = said(answer)
    if "SSO" in text or "SAML" in text or answer.headers.get("X-GitHub-SSO", "").startswith("required"):
        return _unfit("sso", text, owner_wide=True)
    if "IP allow list" in text:
        return _unfit("ip_allow_list", text, owner_wide=True)
    if "login attempt" in text:
        return Unauthorized(detail=f"403 {text}")
    if _OWNER_WIDE.search(text):
        return _unfit("credential", text, owner_wide=True)
    if _CREDENTIAL.search(text):
        return _unfit("credential", text, owner_wide=False)
    if "access blocked" in text or "block" in notice(answer):
        return Denied(status=403, reason="blocked", detail=with_block(answer))
    return Denied(status=403, reason="forbidden", detail=text)


def _unfit(reason: DeniedReason, text: str, *, owner_wide: bool) -> Unfit:
    return Unfit(denied=Denied(status=403, reason=reason, detail=text), owner_wide=owner_wide)


def foreign(url: str, settings: GitHubSettings) -> Refused:
    """For a URL of another API: it is not asked."""
    return Refused(status=0, reason="foreign_url", detail=f"{url} is not below {settings.api_url}")


def led_away(url: str, target: str) -> Refused:
    """An answer that is not the platform's."""
    return Refused(status=301, reason="redirect", detail=f"{url} moved to {target}")
