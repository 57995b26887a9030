"""Logs, metrics and the figures of a crawl."""
