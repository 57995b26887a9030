"""The commands' names, options and help; one file a group.

Imports of what does the work wait inside the commands: `ghcrawl --help` need not wait for an HTTP client.
"""
