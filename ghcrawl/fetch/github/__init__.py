"""GitHub's HTTP manners: credentials, limits, conditions, and what each status means."""
