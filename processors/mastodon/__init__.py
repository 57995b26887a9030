"""What Mastodon's JSON means. Pure: no I/O, no clock."""
