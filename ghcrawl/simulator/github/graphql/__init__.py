"""GitHub's GraphQL API, as far as ghcrawl asks it: a documented subset of the official schema, answered truthfully."""

from __future__ import annotations
