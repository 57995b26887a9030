"""A whole blog from its address alone, and what is new in it."""

from __future__ import annotations

from pathlib import Path

from ghcrawl.simulator.web import Blog
from processors.web.extraction_rules import likeness
from tests.support.web import crawl


async def test_all_posts_are_found_and_extracted_and_the_crawl_stops_by_itself(tmp_path: Path):
    blog = Blog(size=40)
    async with blog.running() as url:
        found = await crawl(tmp_path / "a.db", url)
    posts = {each.body["url"].removeprefix(url.rstrip("/")): each for each in found.of("post")}
    assert posts.keys() == {post.path for post in blog.posts}
    for post in blog.posts:
        body = posts[post.path].body
        assert body["title"] == post.title
        assert likeness(body["text"], post.text) > 0.95, post.path
        assert body["author"].removeprefix("By ").startswith(post.author)
        assert {name: each["source"] for name, each in body["fields"].items() if name == "text"} == {"text": "rule"}
    assert len(found.of("comment")) == sum(len(post.comments) for post in blog.posts)
    assert len(blog.calls) <= 56, "forty posts, eight lists, and hardly anything else"
    assert ("/private/", 200) not in blog.calls
    assert found.deadletters == []


async def test_an_unchanged_blog_costs_one_304(tmp_path: Path):
    blog = Blog(size=15)
    async with blog.running() as url:
        await crawl(tmp_path / "a.db", url)
        blog.calls.clear()
        await crawl(tmp_path / "a.db", url)
        assert blog.calls == [("/feed/", 304)]
        await crawl(tmp_path / "a.db", url)
    assert blog.calls == [("/feed/", 304)] * 2


async def test_a_new_post_costs_the_feed_and_the_post(tmp_path: Path):
    blog = Blog(size=15)
    async with blog.running() as url:
        await crawl(tmp_path / "a.db", url)
        blog.calls.clear()
        (new,) = blog.publish()
        found = await crawl(tmp_path / "a.db", url)
    assert [path for path, _ in blog.calls] == ["/feed/", "/robots.txt", new.path]
    assert len(found.of("post")) == 16


async def test_more_new_posts_than_the_feed_holds_are_all_found(tmp_path: Path):
    blog = Blog(size=15)
    async with blog.running() as url:
        await crawl(tmp_path / "a.db", url)
        blog.publish(12)
        found = await crawl(tmp_path / "a.db", url)
    assert len(found.of("post")) == 27
