"""What goes wrong, as a problem document (RFC 9457): a title for the class, a detail that says what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final

from aiohttp import web
from pydantic import BaseModel, ValidationError

from ghcrawl.values.errors import (
    ConfigError,
    CrawlError,
    DecodeError,
    PolicyError,
    QueueError,
    SpecError,
    StoreError,
    Unstorable,
)
from ghcrawl.values.jsontext import dumps

CONTENT_TYPE: Final = "application/problem+json"
RETRY_AFTER_S: Final = 5


class FieldProblem(BaseModel):
    """One invalid field."""

    field: str
    detail: str


class ProblemShape(BaseModel):
    """A problem (RFC 9457). errors: location and reason of each invalid field."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    errors: list[FieldProblem] | None = None


class Problem(Exception):
    """A request that is answered with a status other than a good one. detail: for a person; never a secret.

    says_message: the body has the detail as `message` too, which the predecessor's clients show.
    """

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        errors: Sequence[tuple[str, str]] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.errors = tuple(errors)
        self.headers = dict(headers or {})
        self.says_message = False

    def response(self) -> web.Response:
        """The answer."""
        body: dict[str, Any] = {
            "type": "about:blank",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
        }
        if self.says_message:
            body["message"] = self.detail
        if self.errors:
            body["errors"] = [{"field": field, "detail": detail} for field, detail in self.errors]
        headers = {"Content-Type": CONTENT_TYPE, **self.headers}
        answer = web.Response(status=self.status, body=dumps(body), headers=headers)
        if self.headers.get("Connection") == "close":
            answer.force_close()
        return answer


def unavailable(detail: str) -> Problem:
    """It may work in a moment, or elsewhere."""
    return Problem(503, detail, headers={"Retry-After": str(RETRY_AFTER_S)})


def of_error(error: CrawlError) -> Problem:
    """The problem document of one of our errors: the input is wrong, or a server is unavailable."""
    if isinstance(error, ConfigError):
        return Problem(422, str(error) or type(error).__name__, errors=error.problems)
    if isinstance(error, PolicyError):
        return Problem(422, str(error), errors=[("policy", str(error))])
    if isinstance(error, SpecError | DecodeError | Unstorable):
        return Problem(422, str(error) or type(error).__name__)
    if isinstance(error, QueueError | StoreError):
        return unavailable(str(error))
    return Problem(502, str(error))


def of_validation(error: ValidationError, where: str) -> Problem:
    """Fields that are wrong, each with where it is. where: `query` or `body`."""
    errors = [
        (".".join(str(part) for part in found["loc"]) or where, str(found["msg"]).removeprefix("Value error, "))
        for found in error.errors(include_input=False, include_url=False, include_context=False)
    ]
    named = "; ".join(f"{field}: {detail}" for field, detail in errors)
    return Problem(422, f"invalid {where}: {named}"[:2000], errors=errors[:50])
