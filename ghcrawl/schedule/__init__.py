"""When to look again: which sources to ask next under a fixed budget of calls. See docs/scheduling.md."""
