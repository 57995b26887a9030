"""Meaning of Mastodon's JSON. Pure: no I/O, no clock."""
