"""Rules that are learned from a feed."""

from __future__ import annotations

import pytest

from processors.web.extraction_rules import (
    Vote,
    agreed,
    apply,
    elect,
    foreign,
    likeness,
    ranked,
    rule_of,
    text_by,
    votes,
    weight,
)
from processors.web.html import text_of, tree

PAGE = """<html><body><div id="head"><h1>A blog</h1></div>
<div class="post-12"><h2 class="post-title">{title}</h2>
<div class="post-content"><p>{text}</p><p>And more of it.</p></div>
<p class="by">by <b class="author">{author}</b></p></div><aside>{other}</aside></body></html>"""


def page(**said):
    root = tree(PAGE.format(**{"title": "On rivers", "text": "Water runs down.", "author": "Ada", "other": "x"} | said))
    assert root is not None
    return root


def test_likeness_is_dice_of_the_sets_of_pairs_of_characters():
    assert likeness("night", "nacht") == 0.25
    assert likeness("aaaa", "aaaaaaa") == 1.0
    assert likeness("", "") == 0.0


def test_a_rule_names_an_element_by_its_own_name_or_by_that_of_one_above_it():
    root = page()
    assert rule_of(root.xpath("//h2")[0]) == "//*[@class='post-title']"
    assert rule_of(root.xpath("//h1")[0]) == "//*[@id='head']/h1"
    assert rule_of(root.xpath("//div[@class='post-12']")[0]) == "/html/body/div", "names with digits are of one page"


def test_the_element_most_like_the_entry_wins():
    found = votes(page(), {"text": "Water runs down. And more of it.", "title": "On rivers", "author": "Ada"})
    assert {name: ballot[0].rule for name, ballot in found.items()} == {
        "text": "//*[@class='post-content']",
        "title": "//*[@class='post-title']",
        "author": "//*[@class='author']",
    }


def test_pages_elect_what_most_of_them_agree_on():
    odd = [Vote("//*[@class='lead']", 0.9)]
    usual = [Vote("//*[@class='post-content']", 0.8), Vote("//*[@class='lead']", 0.3)]
    assert elect([odd, usual, usual])[0] == Vote("//*[@class='post-content']", 0.8)


def test_a_short_text_says_little_about_where_texts_are():
    short, long = [Vote("//div/p", 1.0), Vote("//div", 0.7)], [Vote("//div", 0.9)]
    weights = [weight("a few words"), weight("a few words"), weight("many words " * 100)]
    assert elect([short, short, long], weights)[0] == Vote("//div", 0.8957)


def test_a_rule_finds_its_element_on_other_pages():
    (node,) = apply(page(text="Stones do not."), "//*[@class='post-content']")
    assert text_of(node) == "Stones do not. And more of it."
    both = [text_of(each) for each in apply(page(), "//*[@class='post-content']/p")]
    assert both == ["Water runs down.", "And more of it."]
    assert apply(page(), "//nav") == []


@pytest.mark.parametrize("text", ["", "\x00", "<", "<html>", "<p>" * 5000, "\ud800", "<!doctype html>", "&#xfffffff;"])
def test_no_page_is_too_broken(text):
    root = tree(text)
    if root is not None:
        votes(root, {"text": "some words that are long enough"})
        text_of(root)


def test_what_a_rule_finds_elsewhere_first_it_is_measured_by():
    root = tree(
        "<html><body><div class='main'><div class='wide'><p>A stray word</p></div><div><p>Water runs down.</p>"
        "<p>Stones do not.</p></div></div></body></html>"
    )
    ballot = votes(root, {"text": "Water runs down. Stones do not."})["text"]
    for vote in ballot:
        found = " ".join(map(text_of, apply(root, vote.rule)))
        assert vote.score == pytest.approx(likeness(found, "Water runs down. Stones do not."), abs=1e-4), vote.rule


FRAMED = """<html><body><div class="post"><p class="date">5 May</p><p>Water <a class="link">runs</a> down.</p>
<div class="share"><b class="button">Share it</b></div></div></body></html>"""


def test_parts_that_the_entry_has_nothing_of_are_left_out():
    root, text = tree(FRAMED), "Water runs down."
    ballot = [Vote("//*[@class='post']", 0.6)]
    parts = foreign(root, ballot, text)
    assert [vote.rule for vote in parts] == ["//*[@class='date']", "//*[@class='share']"]
    assert text_by(root, ballot[0].rule, parts) == text
    assert text_by(root, ballot[0].rule) == "5 May Water runs down. Share it", "the page is as it was"
    assert ranked(root, ballot, parts, text) == [Vote("//*[@class='post']", 1.0)]


def test_parts_are_foreign_to_a_blog_where_half_of_its_pages_say_so():
    date, quote = [Vote("//*[@class='date']", 1.0)], [Vote("//*[@class='quote']", 1.0)]
    assert agreed([date, date + quote, []]) == (Vote("//*[@class='date']", 0.6667),)
    assert agreed([]) == ()
