"""What a post shows and cites."""

from __future__ import annotations

from processors.web.html import tree
from processors.web.media import images, outlinks

BASE = "http://a.org/2026/post/"


def test_images_are_told_once_with_what_the_page_says_of_them():
    root = tree(
        "<body><img src='one.png' alt=' A  river ' width='40' height='100%'><img src='/2026/post/one.png'>"
        "<img src='data:image/gif;base64,R0' data-src='/two.png'><img src=''>"
        "<img src='javascript:1'><img alt='x'></body>"
    )
    assert images(root, BASE) == [
        {"url": f"{BASE}one.png", "alt": "A river", "width": 40},
        {"url": "http://a.org/two.png"},
    ]


def test_outlinks_lead_to_other_hosts():
    root = tree(
        "<body><a href='/x'>here</a><a href='http://b.org/#top'>there <b>too</b></a><a href='//b.org/'>again</a>"
        "<a href='mailto:a@b.org'>mail</a></body>"
    )
    assert outlinks(root, BASE, "a.org") == [{"url": "http://b.org/", "text": "there too"}]
