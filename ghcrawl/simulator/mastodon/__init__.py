"""A host of Mastodon on loopback: accounts, statuses, relations, search, limits and streams.

It answers as recordings of Mastodon 4 do, as far as ghcrawl asks. Nothing here knows how ghcrawl asks.
"""
