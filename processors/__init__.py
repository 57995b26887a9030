"""Meaning of each platform's JSON: pure functions from a visit to an outcome."""
