"""A running service as a place that commands work on: `--server URL`, with the token of GHCRAWL_ADMIN_TOKEN."""
