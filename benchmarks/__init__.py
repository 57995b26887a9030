"""Benchmarks: each compares two things in one run and says how they relate."""
