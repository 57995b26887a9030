"""Which addresses may be asked."""

from __future__ import annotations

import pytest

from ghcrawl.fetch.web.addresses import is_literal, is_public, origin


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1::1", "8.8.8.8"])
def test_addresses_of_the_public_internet_are_public(address):
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0", "100.64.0.1", "224.0.0.1",
        "::1", "::", "fe80::1%eth0", "fd00::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1",
        "2002:7f00:1::", "255.255.255.255", "not an address", "127.1",
    ],
)  # fmt: skip
def test_all_others_are_not(address):
    assert not is_public(address)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1", "2130706433", "0x7f000001", "::1"])
def test_every_way_to_write_an_address_is_seen_as_one(host):
    assert is_literal(host)


def test_a_name_is_no_address():
    assert not is_literal("blog.example.org")


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "ftp://a.b/", "http://", "http://user:secret@a.b/", "gopher://a"]
)
def test_other_urls_have_no_origin(url):
    with pytest.raises(ValueError, match=r"is not an http|credentials"):
        origin(url)


def test_origins_say_their_port():
    assert origin("https://Blog.Example.org/x") == ("https", "blog.example.org", 443)
