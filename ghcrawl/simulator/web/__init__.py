"""A small blog on loopback: posts, a feed of the newest, archives, tags, comments and a robots.txt."""

from ghcrawl.simulator.web.blog import Blog

__all__ = ["Blog"]
