"""The manners of the AT Protocol: which method answers a URL, sessions, limits, errors by their names, streams."""
