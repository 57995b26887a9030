"""How well posts are extracted from blogs that others made, beside trafilatura on the same pages in the same run.

Measures are the paper's, success where the Dice coefficient of bigrams is above 0.5 and the text has more than 20
characters, and the F1 of words. They are computed here, from the pages and what their feeds say of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import trafilatura

from tests.support.blogs import SITES, Post, Site, newspaper, pelican, without_truth
from tests.support.cli import shell

pytestmark = [pytest.mark.slow, pytest.mark.recordings, pytest.mark.crawl, pytest.mark.timeout(600)]
MORE_THAN = 20
WORD = re.compile(r"[\u0e00-\u0e7f\u1000-\u109f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|\w+")
"""A word; a character in writing without spaces."""


def dice(one: str, other: str) -> float:
    left, right = ({text[at : at + 2] for at in range(len(text) - 1)} for text in (one, other))
    return 2 * len(left & right) / (len(left) + len(right)) if left or right else 0.0


def f1(one: str, other: str) -> float:
    left, right = (Counter(WORD.findall(text.lower())) for text in (one, other))
    return 2 * (left & right).total() / (left.total() + right.total()) if left and right else 0.0


@dataclass
class Score:
    """What came of the posts that have a text and a title to compare with."""

    articles: list[float]
    titles: list[float]
    words: list[float]
    generic: list[float]

    @property
    def f1(self) -> float:
        return sum(self.words) / len(self.words)

    @property
    def generic_f1(self) -> float:
        return sum(self.generic) / len(self.generic)

    def __str__(self) -> str:
        return (
            f"articles {successes(self.articles)} of {len(self.articles)}, titles {successes(self.titles)} of "
            f"{len(self.titles)}, F1 {self.f1:.4f} (trafilatura {self.generic_f1:.4f})"
        )


def successes(measured: Sequence[float]) -> int:
    return sum(each > 0.5 for each in measured)


async def crawled(site: Site, folder: Path) -> dict[str, dict[str, Any]]:
    """The documents of posts, by path."""
    async with site.running() as url, shell(folder) as sh:
        ran = await sh.run("crawl", url, "--platform", "web", "--json", "--db", "a.db", timeout_s=400)
        assert ran.status == 0, ran.err
        assert ran.json["deadletters"]["left"] == 0
        documents = await sh.export(Path("a.db"))
    posts = [each for each in documents if each["_metadata"]["type"] == "post"]
    return {each["url"].removeprefix(url.rstrip("/")): each for each in posts}


def scored(site: Site, found: dict[str, dict[str, Any]], posts: Collection[Post]) -> Score:
    score = Score([], [], [], [])
    for post in posts:
        said = found.get(post.path, {})
        if post.title:
            score.titles.append(dice(said.get("title", ""), post.title))
        if len(post.text) > MORE_THAN:
            score.articles.append(dice(said.get("text", ""), post.text))
            score.words.append(f1(said.get("text", ""), post.text))
            score.generic.append(
                f1(trafilatura.extract(site.pages[post.path].decode("utf-8", "replace")) or "", post.text)
            )
    return score


async def test_posts_of_a_full_feed_are_extracted_better_than_without_it(tmp_path: Path):
    """Three generated sites with 36 posts, and 22 pages of as many layouts in nine languages."""
    whole = Score([], [], [], [])
    for site in (*map(pelican, SITES), newspaper()):
        (folder := tmp_path / site.name).mkdir()
        score = scored(site, await crawled(site, folder), site.posts)
        print(f"{site.name}: {score}")
        assert score.f1 > score.generic_f1
        for name, values in vars(score).items():
            getattr(whole, name).extend(values)
    print(f"all: {whole}")
    assert (len(whole.articles), len(whole.titles)) == (46, 55)
    assert successes(whole.articles) >= 0.98 * len(whole.articles)
    assert successes(whole.titles) >= 0.98 * len(whole.titles)


@pytest.mark.parametrize("name", SITES)
async def test_what_the_feed_lacks_is_extracted_by_what_it_taught(tmp_path: Path, name: str):
    """Half of the posts are in the feed, the other half are scored; then the other way round.

    Not found are those whose URL is of another shape than those of the feed: three.
    """
    missed: set[str] = set()
    scores = []
    for half in (0, 1):
        site = pelican(name)
        site.in_feed = [post.path for post in site.posts[half::2]]
        rest = site.posts[1 - half :: 2]
        (folder := tmp_path / str(half)).mkdir()
        found = await crawled(site, folder)
        missed |= {post.path for post in rest if post.path not in found}
        scores.append(scored(site, found, [post for post in rest if post.path in found]))
        assert found.keys() <= {post.path for post in site.posts}, "no page is taken for a post"
        print(f"{site.name}, half {half}: {scores[-1]}")
    assert missed <= {"/tag/baz.html", "/oh-yeah-fr.html", "/second-article-fr.html"}
    for score in scores:
        assert successes(score.articles) == len(score.articles)
        assert successes(score.titles) == len(score.titles)
        assert score.f1 > score.generic_f1


async def test_pages_that_are_no_articles_do_no_harm(tmp_path: Path):
    """Front pages, redirects by `<meta>`, fragments: nobody says what they should yield."""
    site = without_truth()
    assert await crawled(site, tmp_path) == {}
    assert site.pages.keys() <= set(site.asked)
