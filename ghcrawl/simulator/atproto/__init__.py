"""A small network of the AT Protocol on loopback: an AppView, a server with sessions and limits, and a stream.

It is for demonstrations and quick tests. What is true is tested on the real servers.
"""
