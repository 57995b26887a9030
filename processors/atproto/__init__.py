"""Meaning of the AT Protocol's JSON. Pure: no I/O, no clock."""
