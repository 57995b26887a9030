"""How hosts of Mastodon are asked: tokens, limits, and what statuses mean."""
