"""The BlogForever crawler's own examples, from the doctests of `buildUrlFilter`, `PriorityHeuristic`, `nodeQueries`.

Where we learn more than it did, the examples still hold. Those that need its recorded pages are not here: the pages
are not ours to keep.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest

from ghcrawl.platforms.kind import Prospect
from ghcrawl.values.documents import Document
from ghcrawl.values.outcome import Save
from ghcrawl.values.requests import Request
from ghcrawl.values.visitor_map import NextHops
from processors.web.extraction_rules import Vote, elect, rule_of, votes
from processors.web.html import tree
from processors.web.pattern import learn
from processors.web.planning import plan
from processors.web.urls import urn
from tests.support.builders import at

TIMES = (
    "http://www.thetimes.co.uk/tto/news/world/europe/article3844546.ece",
    "http://www.thetimes.co.uk/tto/business/industries/leisure/article3843571.ece",
)
ENGADGET = (
    "http://www.engadget.com/2013/08/14/back-to-school-guide-tablets/",
    "http://www.engadget.com/2013/08/15/we-can-do-this-hyperloop/",
)


@pytest.mark.parametrize(
    ("urls", "url", "is_post"),
    [
        (TIMES, "http://www.thetimes.co.uk/tto/opinion/columnists/philipcollins/article3844110.ece", True),
        (TIMES, "http://www.thetimes.co.uk/tto/public/article2582551.ece", False),
        (ENGADGET, "http://www.engadget.com/2013/08/15/yahoo-weather-android-redesign/", True),
        (ENGADGET, "http://www.engadget.com/THATSNAN/08/15/title/", False),
    ],
)
def test_urls_of_posts_are_told_from_others(urls: Sequence[str], url: str, is_post: bool):
    assert bool(re.fullmatch(learn(urls), url)) is is_post


def test_what_was_learned_from_engadget_is_upstreams_pattern_with_its_dots_escaped():
    assert learn(ENGADGET) == r"https?://www\.engadget\.com/\d+/\d+/\d+/[^/?#.]+/"


def test_elements_are_named_by_class_or_id():
    root = tree("<h1 class='title'>#1</h1><div id='footer'>#2</div> [...]")
    assert root is not None
    named = [rule_of(node) for node in root.iter() if node.get("class") or node.get("id")]
    assert named == ["//*[@class='title']", "//*[@id='footer']"]


HERE = "http://a.org"
LED_TO: dict[str, Sequence[str]] = {
    "/category/infos/societe": ["/1/", "/2/", "/a/", "/b/"],
    "/tag/pirate": ["/c/", "/d/"],
    "/category/infos/windows": ["/3/", "/2/"],
    "/tag/futur": [],
    "/tag/kinect": ["/e/"],
}
"""Pages and their links, in the order in which upstream's predictor is fed them; posts have numbers."""


def found(type: str, path: str, second: int, **body: Any) -> Document:
    url = f"{HERE}{path}"
    return Document(
        platform="web",
        type=type,
        url=url,
        urn=urn(type, url),
        body={"url": url, "links": [], **body},
        links={},
        observed_at=at(second),
        fetched_at=at(second),
        processed_at=at(second),
        version=1,
        digest="",
    )


def asked_next(*more: Document, links: Sequence[str]) -> list[tuple[str, str]]:
    """Type and URL of what a plan asks for that knows `LED_TO` and three posts, and has `links` on its start page."""
    entries = [{"url": f"{HERE}/{number}/"} for number in (1, 2, 3)]
    documents = [
        found("page", "/", 0, links=links, feeds=[f"{HERE}/feed"]),
        found("feed", "/feed", 1, entries=entries),
        *(found("post", f"/{number}/", 1 + number, blog=urn("blog", f"{HERE}/")) for number in (1, 2, 3)),
        *(
            found("page", path, 5 + number, links=[f"{HERE}{link}" for link in leads])
            for number, (path, leads) in enumerate(LED_TO.items())
        ),
        *more,
    ]
    request = Request(platform="web", type="blog", url=f"{HERE}/", policy="default", asked_at=at(-1))
    next_hops = NextHops(links={})
    outcome = plan(Prospect(request=request, documents=documents, next_hops=next_hops, version=1, now=at(60)))
    assert isinstance(outcome, Save)
    return [(push.request.type, push.request.url) for push in outcome.follow_ups if push.request.type != "blog"]


def test_pages_like_those_that_led_to_posts_come_first():
    """Upstream predicts 155 for `/category/infos/category` and 1 for `/tag/a_tag`: we keep the order."""
    known = [f"{HERE}{path}" for path in ("/tag/a_tag", "/category/infos/category")]
    asked = [url for _, url in asked_next(links=known)]
    assert asked[0] == known[1]
    assert known[0] not in asked, "it comes after everything that nothing is known of"
    assert len(asked) == 3


def test_what_looks_like_a_post_comes_before_every_page():
    """Upstream's highest priority, `sys.maxint / 2`; pages come when no post is left, as its 155 does after that."""
    links = [f"{HERE}{path}" for path in ("/category/infos/category", "/4/", "/tag/a_tag", "/5/")]
    assert asked_next(links=links) == [("post", links[1]), ("post", links[3])]


KORBEN = """<html><body><div id="main"><div class="post-7 entry"><h2 class="post-title"><a href="/x">{title}</a></h2>
<div class="post-content"><p>{text}</p><p>Second part of number {number}.</p></div>
<div class="meta">Tags</div></div></div>
<div class="sidebar"><h2>Others</h2><p>{other}</p></div></body></html>"""


def test_rules_of_a_blog_are_upstreams_for_one_of_the_same_marks():
    """Upstream learns these two from korben.info's feed; the pages here are ours, with that blog's class names."""
    ballots: dict[str, list[Sequence[Vote]]] = {"text": [], "title": []}
    for number in range(6):
        title, text = f"Title of number {number}", f"First part of {number}, with some more words about it."
        root = tree(KORBEN.format(title=title, text=text, number=number, other="Elsewhere it rains. " * number))
        found = votes(root, {"text": f"{text} Second part of number {number}.", "title": title})
        for name, ballot in ballots.items():
            ballot.append(found[name])
    assert [elect(ballot)[0].rule for ballot in ballots.values()] == [
        "//*[@class='post-content']",
        "//*[@class='post-title']",
    ]
