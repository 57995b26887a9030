"""Images and outlinks of posts: documents, and the files where they are wanted."""

from __future__ import annotations

import base64
import zlib
from hashlib import sha256
from pathlib import Path

from aiohttp import web

from tests.support.web import Crawled, crawl, site

TEXT = "Water runs down, and stones do not. " * 20
POST = "/2026/a-post/"
PIXEL = b"\x89PNG\r\n\x1a\n" + zlib.compress(b"a small picture") * 3
ARTICLE = f"""<p>{TEXT}</p><img src="/small.png" alt="A  river" width="40" height="30">
<img data-src="/large.png" src="data:image/gif;base64,R0lGOD"><img src="/gone.png"><img src="/page.png">
<img src="http://192.0.2.7/far.png" title="Far"><a href="http://elsewhere.example/cited">Cited <b>page</b></a>"""
PAGES = {
    "/": '<html><head><link rel="alternate" type="application/rss+xml" href="/feed"></head><body></body></html>',
    "/feed": f"<rss version='2.0'><channel><item><title>A post</title><link>{POST}</link>"
    f"<description>&lt;p&gt;{TEXT}&lt;/p&gt;</description></item></channel></rss>",
    POST: f"<html><body><a href='http://ads.example/'>Buy</a><div class='text'>{ARTICLE}</div></body></html>",
}
FILES = {"/small.png": PIXEL, "/large.png": b"\x89PNG" + b"x" * 5_000}


async def answer(request: web.Request) -> web.Response:
    if request.path in FILES:
        return web.Response(body=FILES[request.path], content_type="image/png", headers={"ETag": '"1"'})
    if request.path == "/page.png":
        return web.Response(text="no picture", content_type="text/html")
    body = PAGES.get(request.path)
    kind = "application/rss+xml" if request.path == "/feed" else "text/html"
    return web.Response(status=404) if body is None else web.Response(text=body, content_type=kind)


def images(found: Crawled) -> dict[str, dict[str, object]]:
    return {each.body["url"].rpartition("/")[2]: dict(each.body) for each in found.of("image")}


async def test_images_and_outlinks_of_an_article_are_documents_that_its_post_links_to(tmp_path: Path):
    async with site(answer) as (url, paths):
        found = await crawl(tmp_path / "a.db", url)
    assert not [path for path in paths if path.endswith(".png")], "no file is fetched"
    (post,) = found.of("post")
    assert set(post.links["images"].hrefs) == {each.urn for each in found.of("image")}
    assert images(found).keys() == {"small.png", "large.png", "gone.png", "page.png", "far.png"}
    small = images(found)["small.png"]
    assert small == {
        "url": f"{url}small.png",
        "alt": "A river",
        "width": 40,
        "height": 30,
        "post": f"{url.rstrip('/')}{POST}",
    }
    assert all(each.links["post"].href == post.urn for each in (*found.of("image"), *found.of("outlink")))
    (outlink,) = found.of("outlink")
    assert (outlink.body["url"], outlink.body["text"]) == ("http://elsewhere.example/cited", "Cited page")
    assert post.links["outlinks"].hrefs == (outlink.urn,)
    assert found.deadletters == []


async def test_image_files_are_fetched_where_wanted_and_kept_up_to_their_limit(tmp_path: Path):
    async with site(answer) as (url, paths):
        found = await crawl(tmp_path / "a.db", url, web__image_kb=1)
        again = await crawl(tmp_path / "a.db", url, web__image_kb=1)
    kept = images(found)
    small = kept["small.png"]
    assert base64.b64decode(str(small["content"])) == PIXEL
    assert (small["type"], small["bytes"], small["alt"]) == ("image/png", len(PIXEL), "A river")
    assert kept["large.png"]["sha256"] == sha256(FILES["/large.png"]).hexdigest()
    assert "content" not in kept["large.png"]
    assert {name: each["refused"] for name, each in kept.items() if "refused" in each} == {
        "gone.png": "status 404",
        "page.png": "it is no image: text/html",
        "far.png": "192.0.2.7 is not a public address",
    }
    assert sum(path.endswith(".png") for path in paths) == 4, "each file once, and no address of our own network"
    assert images(again) == kept
    assert found.deadletters == again.deadletters == []
