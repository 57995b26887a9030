"""What URLs of posts have in common."""

from __future__ import annotations

import re

import pytest

from processors.web.pattern import learn


def test_numbers_are_any_numbers_even_where_all_are_the_same():
    pattern = learn([f"http://a.org/2026/0{month}/some-words-{month}/" for month in (1, 2, 3)])
    assert re.fullmatch(pattern, "http://a.org/2019/11/other-words/")
    assert not re.fullmatch(pattern, "http://a.org/2019/11/")
    assert not re.fullmatch(pattern, "http://a.org/about/us/page/")


def test_an_extension_that_all_have_is_learned():
    pattern = learn(["http://a.org/one.html", "http://a.org/two.html", "http://a.org/three.html"])
    assert re.fullmatch(pattern, "https://a.org/four.html")
    for other in ("http://a.org/author", "http://a.org/random", "http://a.org/register", "http://axorg/four.html"):
        assert not re.fullmatch(pattern, other)


def test_a_word_that_all_have_is_learned():
    pattern = learn([f"http://a.org/blog/post-{word}/" for word in ("one", "two", "three")])
    assert re.fullmatch(pattern, "http://a.org/blog/four/")
    assert not re.fullmatch(pattern, "http://a.org/tags/four/")


def test_a_query_is_learned_by_its_names():
    pattern = learn(["http://a.org/?p=1", "http://a.org/?p=22"])
    assert re.fullmatch(pattern, "http://a.org/?p=333")
    assert not re.fullmatch(pattern, "http://a.org/?page_id=2")


@pytest.mark.parametrize(
    "urls", [[], ["http://a.org/"], ["http://a.org/x/", "http://b.org/x/"], ["http://a.org/x", "http://a.org/x/y"]]
)
def test_urls_without_a_shape_in_common_have_no_pattern(urls):
    assert learn(urls) == ""


def test_a_few_odd_pages_in_a_feed_do_not_hide_what_the_posts_have_in_common():
    posts = [f"http://a.org/2026/{month}/word-{month}/" for month in range(1, 7)]
    assert learn([*posts, "http://a.org/about.html", "http://b.org/x/y/z/"]) == learn(posts)
    assert learn([*posts[:2], "http://a.org/about.html", "http://b.org/x/y/z/"]) == ""
