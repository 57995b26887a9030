"""Names, options and help of the commands, one file per group.

Commands import their implementation when they run, so `ghcrawl --help` does not load an HTTP client.
"""
