"""Reads specs: `acme`, `acme/web`, `issue:https://…` or a URL from a browser."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from ghcrawl.platforms.kind import Described, OtherSpelling
from ghcrawl.values.documents import Document
from ghcrawl.values.errors import SpecError
from ghcrawl.values.frozen import replace
from ghcrawl.values.policy import parse
from ghcrawl.values.requests import Context, DeferredRequest, Request
from ghcrawl.values.type_names import suggestion
from processors.github import events_feed
from processors.github.entity import Entity
from processors.github.listing import PER_PAGE, Listings
from processors.github.names import NAME, scope_of
from processors.github.part import Part

_ACCOUNT = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,98})")
_REPO = re.compile(r"([A-Za-z0-9][A-Za-z0-9_-]{0,98})/([A-Za-z0-9._-]{1,100})")
_IN_SHORT = re.compile(rf"(?P<repo>{_REPO.pattern})(?:#(?P<number>\d{{1,18}})|@(?P<sha>[0-9a-fA-F]{{7,40}}))")
_DESCRIBED = re.compile(
    r"(?P<team>/orgs/[^/]+/teams/[^/]+)|(?P<repo>/repos/[^/]+/[^/]+)/(?:commits/(?P<sha>[0-9a-f]{7,39})|releases/tags/(?P<tag>.+)"
    r"|actions/workflows/(?P<workflow>[^/]+\.ya?ml)|blob/[^/]+/(?P<file>.+))"
)
_BY_FIELD: Final = (
    ("tag", ("release",), "tag_name", ""),
    ("workflow", ("workflow",), "path", ".github/workflows/"),
    ("file", ("readme", "license", "codeowners"), "path", ""),
)
"""What a URL may name by a field of the body: the group of the pattern, the types, the field, what stands before it."""
_NUMBERED = re.compile(r"(?P<repo>.+/repos/[^/]+/[^/]+)/(?P<list>issues|pulls)/(?P<number>\d+)")
_NAMED = re.compile(r"(?P<named>https?://[^?#]*?/(?:repos/[^/?#]+/[^/?#]+|(?:orgs|users)/[^/?#]+))(?P<below>(?:/.*)?)")
_OF_API = re.compile(r"/?(?:(?:repos|repositories|orgs|organizations|users?|teams|gists)(?:/|$)|$)")
_TYPED = re.compile(r"([a-z_]+):(https?://.+)")
_IN_REPO = re.compile(r"/(?:repos/[^/]+/[^/]+|repositories/\d+)(?=/)")
_IN_NAMED_REPO = re.compile(r"/repos/([^/]+/[^/]+)")
_IN_ACCOUNT = re.compile(
    r"/(?:(?P<team>orgs/[^/]+/teams/[^/]+|organizations/\d+/team/\d+)"
    r"|(?P<org>orgs/[^/]+|organizations/\d+)|(?P<user>users/[^/]+|user/\d+))(?=/)"
)
_NAMED_BY_ANSWERS: Final = frozenset({"issue_comment", "review_comment", "commit_comment", "check_suite", "check_run"})
"""What lies below these is named after more than their URL tells, so they are looked at first."""
_FROM_BROWSER: Final = (
    (r".*#issuecomment-(\d+)", r"issues/comments/\1"),
    (r".*#discussion_r(\d+)", r"pulls/comments/\1"),
    (r".*#event-(\d+)", r"issues/events/\1"),
    (r".*#(?:commitcomment-|r)(\d+)", r"comments/\1"),
    (r"pull/(\d+).*#pullrequestreview-(\d+)", r"pulls/\1/reviews/\2"),
    (r"pull/\d+/(?:commits|changes)/([0-9a-f]{7,40})(?:#.*)?", r"commits/\1"),
    (r"pull/(\d+)(?:/(?:files|changes|checks|commits))?(?:#.*)?", r"pulls/\1"),
    (r"(commit|label|milestone)/([^#]+)(?:#.*)?", r"\1s/\2"),
    (r"tree/([^#]+)(?:#.*)?", r"branches/\1"),
    (r"releases/tag/([^#]+)(?:#.*)?", r"releases/tags/\1"),
    (r"actions/runs/\d+/job/(\d+)(?:#.*)?", r"actions/jobs/\1"),
    (r"runs/(\d+)(?:#.*)?", r"check-runs/\1"),
    (r"rules/(\d+)(?:#.*)?", r"rulesets/\1"),
    (r"security/advisories/([^#]+)(?:#.*)?", r"security-advisories/\1"),
    (r"security/(dependabot|code-scanning|secret-scanning)/(\d+)(?:#.*)?", r"\1/alerts/\2"),
    (r"([^#]*)(?:#.*)?", r"\1"),
)
"""What a browser shows of a repository, with the fragment: where the API has it."""
CLONED: Final = ".git"
"""Ends what `git clone` is given, and no repository's name."""
EXAMPLES: Final = (
    "an organisation or user (acme), a repository (acme/web), an issue or pull request (acme/web#5), "
    "a commit (acme/web@1a2b3c4), a URL, or type:url"
)


class _Endpoint(Struct, frozen=True):
    pattern: re.Pattern[str]
    type: str
    parent: str
    is_list: bool


def reader(
    entities: Mapping[str, Entity], listings: Listings, parts: Iterable[Part] = ()
) -> Callable[[str, str, str], Request]:
    """For `Platform.read_spec`: reads what a person typed, given the API's base URL and a policy."""
    endpoints = tuple(_endpoints(entities, listings, parts))
    types = {endpoint.type for endpoint in endpoints}

    def read_spec(typed: str, api_url: str, policy: str) -> Request:
        parse(policy)
        base, typed = api_url.rstrip("/"), typed.strip()
        if _ACCOUNT.fullmatch(typed):
            return _root("org", f"{base}/orgs/{typed}", policy)
        if repo := _REPO.fullmatch(typed.removesuffix(CLONED)):
            return _root("repo", f"{base}/repos/{repo[0]}", policy)
        if short := _IN_SHORT.fullmatch(typed):
            rest = f"issues/{short['number']}" if short["number"] else f"commits/{short['sha'].lower()}"
            path = f"/repos/{short['repo']}/{rest}"
            return _to(_match(endpoints, path, ""), base, path, policy)
        named = _TYPED.fullmatch(typed)
        if named and named[1] not in types:
            raise SpecError(f"unknown type {named[1]!r}; {suggestion(named[1], sorted(types))}")
        url = named[2] if named else typed
        if not url.startswith(("http://", "https://")):
            raise SpecError(f"{typed!r} is nothing to crawl; write {EXAMPLES}")
        path = _path(url, base)
        endpoint = _match(endpoints, path, named[1] if named else "")
        return _to(endpoint, base, path, policy)

    return read_spec


def _endpoints(entities: Mapping[str, Entity], listings: Listings, parts: Iterable[Part]) -> Iterable[_Endpoint]:
    for entity in entities.values():
        for place in filter(None, (entity.endpoint, *entity.also)):
            yield _Endpoint(_pattern(place), entity.type, entity.parent, is_list=False)
    for part in parts:
        for path in (part.path, *part.elsewhere):
            yield _Endpoint(_pattern(entities[part.of].endpoint + path), part.type, part.of, is_list=False)
    for listing in listings.values():
        if not entities[listing.of].endpoint:
            continue
        yield _Endpoint(_pattern(entities[listing.of].endpoint + listing.path), listing.type, listing.of, is_list=True)
    for owner in events_feed.FOLLOWED:
        pattern = _pattern(f"{entities[owner].endpoint}/{events_feed.TYPE}")
        yield _Endpoint(pattern, events_feed.TYPE, owner, is_list=True)


_OTHER_ROUTES: Final[Mapping[str, str]] = {
    "/repos/{owner}/{repo}": r"(?:/repos/[^/]+/[^/]+|/repositories/\d+)",
    "/orgs/{org}/teams/{team_slug}": r"(?:/orgs/[^/]+/teams/[^/]+|/organizations/\d+/team/\d+|/teams/\d+)",
    "/orgs/{org}": r"(?:/orgs/[^/]+|/organizations/\d+)",
    "/users/{username}": r"(?:/users/[^/]+|/user(?:/\d+)?)",
}
"""GitHub answers the same under these, and its own links use them."""


def _pattern(endpoint: str) -> re.Pattern[str]:
    root = next((root for root in _OTHER_ROUTES if endpoint.startswith(root)), "")
    rest = re.escape(endpoint.removeprefix(root))
    rest = re.sub(r"\\{\w+\\.\\.\\.\\}$", r"(?!.+/protection(?:/|$)).+", rest)  # names with slashes in them
    rest = re.sub(r"\\{\w+\\.\\.\\.\\}", r".+", rest)
    rest = re.sub(r"\\{\w+_(?:number|id)\\}", r"\\d+", rest)
    rest = re.sub(r"\\{\w+_hash\\}", "[0-9a-f]+", rest)
    return re.compile(_OTHER_ROUTES.get(root, "") + re.sub(r"\\{\w+\\}", "[^/]+", rest))


def _path(url: str, base: str) -> str:
    """The path below the API's base URL, also of a page that a browser shows."""
    shown, api = urlsplit(url), urlsplit(base)
    together = not api.path and not (api.hostname or "").startswith("api.")  # a simulator's pages and API
    if (url == base or url.startswith((f"{base}/", f"{base}?"))) and (not together or _OF_API.match(shown.path)):
        return url.removeprefix(base).rstrip("/")
    if shown.hostname is None or shown.hostname not in {api.hostname, (api.hostname or "").removeprefix("api.")}:
        raise SpecError(f"{url} does not lie below {base}; name another API with --api-url")
    parts = [part for part in shown.path.split("/") if part]
    if len(parts) == 2:
        parts[1] = parts[1].removesuffix(CLONED)
    if len(parts) == 1:
        return f"/orgs/{parts[0]}"
    if not parts or parts[0] == "orgs":
        return "/" + "/".join(parts)
    rest = f"{'/'.join(parts[2:])}{'#' if shown.fragment else ''}{shown.fragment}"
    found = next(match.expand(path) for page, path in _FROM_BROWSER if (match := re.fullmatch(page, rest)))
    return f"/repos/{parts[0]}/{parts[1]}/{found}".rstrip("/")


def _match(endpoints: Iterable[_Endpoint], path: str, type: str) -> _Endpoint:
    bare = path.partition("?")[0]
    for endpoint in endpoints:
        if endpoint.pattern.fullmatch(bare) and type in ("", endpoint.type):
            return endpoint
    if type:
        raise SpecError(f"{path} is not where a {type} lives")
    raise SpecError(f"nothing known lives at {path}; write {EXAMPLES}")


def _root(type: str, url: str, policy: str) -> Request:
    return Request(platform=NAME, type=type, url=url, policy=policy, context=Context(scope=scope_of(url) or ""))


def _to(endpoint: _Endpoint, base: str, path: str, policy: str) -> Request:
    """The request for it; or, for what is named after its repository, team or organisation, for that one first."""
    url = base + path
    if endpoint.is_list and "per_page=" not in url:
        url += f"{'&' if '?' in url else '?'}per_page={PER_PAGE}"
    if not endpoint.parent:
        return _root(endpoint.type, url, policy)
    deferred_requests: tuple[DeferredRequest, ...] = (DeferredRequest(type=endpoint.type, url=url, policy=policy),)
    if endpoint.is_list and endpoint.parent in _NAMED_BY_ANSWERS:
        place, only = url.partition("?")[0].rpartition("/")[0], f"{parse(policy).name}:self"
        deferred_requests = (DeferredRequest(type=endpoint.parent, url=place, policy=only), *deferred_requests)
    in_repo = _IN_REPO.match(path)
    if in_repo:
        above = _root("repo", base + in_repo[0], f"{parse(policy).name}:self")
    else:
        in_account = _IN_ACCOUNT.match(path)
        kind = (in_account and in_account.lastgroup) or endpoint.parent
        place = base + in_account[0] if in_account else url.partition("?")[0].rpartition("/")[0]
        above = _root(kind, place, f"{parse(policy).name}:self")
    return replace(above, context=replace(above.context, then=deferred_requests))


def described(url: str, api_url: str) -> Described | None:
    """For `Platform.described`: a commit by the start of its SHA, a release by its tag, a team, a file."""
    base = api_url.rstrip("/")
    try:
        found = _DESCRIBED.fullmatch(_path(url, base))
    except SpecError:
        return None
    if found is None:
        return None
    if found["team"]:
        team = found["team"].lower()
        return Described(types=("team",), is_it=lambda body: str(body.get("html_url")).lower().endswith(team))
    above = base + found["repo"]
    if found["sha"]:
        return Described(types=("commit",), above=above, name=f"commit:{found['sha']}")
    types, field, value = next(
        (types, field, before + unquote(found[group])) for group, types, field, before in _BY_FIELD if found[group]
    )
    return Described(types=types, above=above, is_it=lambda body: body.get(field) == value)


def namesakes(url: str) -> Sequence[str]:
    """For `Platform.namesakes`: issues and pull requests share their numbers."""
    found = _NUMBERED.fullmatch(url)
    return [f"{found['repo']}/{'pulls' if found['list'] == 'issues' else 'issues'}/{found['number']}"] if found else []


def other_spelling(url: str) -> OtherSpelling | None:
    """For `Platform.other_spelling`: GitHub ignores the case of owners and repositories."""
    found = _NAMED.fullmatch(url)
    return OtherSpelling(named=found["named"].lower(), below=found["below"]) if found else None


def export_fields(document: Document) -> Mapping[str, str]:
    """For `Platform.export_fields`: the name of the repository that something is or lies in, if its URL tells."""
    if not document.urn.startswith("urn:repo:"):
        return {}
    name = document.body.get("full_name") if document.type == "repo" else None
    found = _IN_NAMED_REPO.search(document.url)
    return {"_repo": name} if isinstance(name, str) else {"_repo": found[1]} if found else {}


def user_instead(request: Request) -> Request | None:
    """For `Thing.fallback`: a name that is no organisation's may be a user's."""
    if not request.is_root:
        return None
    url = request.url.replace("/orgs/", "/users/", 1)
    return replace(request, type="user", url=url) if url != request.url else None
