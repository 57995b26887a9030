"""Meaning of pages and feeds of blogs: pure functions from (request, answer) to an outcome."""
