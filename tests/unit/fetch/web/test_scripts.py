"""Which pages need their scripts, and what running them needs."""

from __future__ import annotations

from importlib.machinery import ModuleSpec

import pytest

from ghcrawl.fetch.web import scripts
from ghcrawl.fetch.web.scripts import lacking, wants_scripts
from ghcrawl.fetch.web.settings import WebSettings

SCRIPT = "<script src='/app.js'></script>"
TEXT = "<p>" + "Water runs down. " * 20 + "</p>"
THREADS = ("<section id='isso-thread'></section>", "<div id='disqus_thread'></div>", "<div class='comments'></div>")


def wanted(body: str, which: str = "needed", type: str = "text/html; charset=utf-8") -> bool:
    return wants_scripts(which, f"<html><body>{body}</body></html>".encode(), type)  # type: ignore[arg-type]


@pytest.mark.parametrize("thread", THREADS)
def test_an_empty_thread_of_comments_needs_scripts(thread: str):
    assert wanted(TEXT + thread + SCRIPT)
    assert not wanted(TEXT + thread), "there are none"
    assert not wanted(TEXT + thread.replace("></", "><p>A comment</p></") + SCRIPT), "it is not empty"


def test_a_page_with_hardly_any_text_needs_scripts():
    assert wanted("<div id='app'></div>" + SCRIPT)
    assert wanted("<noscript>" + TEXT + "</noscript>" + SCRIPT)
    assert not wanted(TEXT + SCRIPT)
    assert not wanted("<div id='app'></div><script type='application/ld+json'>{}</script>"), "that is data"


def test_of_all_pages_those_with_scripts_are_rendered_and_of_none_none():
    assert wanted(TEXT + SCRIPT, "always")
    assert not wanted(TEXT, "always")
    assert not wanted(TEXT + SCRIPT, "always", "application/rss+xml")
    assert not wanted(SCRIPT, "never")


@pytest.mark.parametrize("content", [b"", b"\x00", b"<script>", b"\xff\xfe<script>" * 50])
def test_no_page_is_too_broken(content: bytes):
    assert wants_scripts("needed", content, "text/html") in (True, False)


def test_what_is_not_installed_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch):
    wanting = WebSettings(javascript="needed", chromium="/no/such/chromium")
    monkeypatch.setattr(scripts, "find_spec", lambda name: ModuleSpec(name, None))
    assert lacking(wanting) == "web.javascript needs Chromium: apt-get install chromium, or name it in web.chromium"
    monkeypatch.setattr(scripts, "find_spec", lambda name: None)
    assert lacking(wanting) == "web.javascript needs one more package: pip install 'ghcrawl[browser]'"
    assert lacking(WebSettings()) == ""
