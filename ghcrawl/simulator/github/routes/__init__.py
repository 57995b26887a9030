"""Which URL means what, as tables: a pattern, and the function that finds what is behind it."""
