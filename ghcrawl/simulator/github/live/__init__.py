"""A world that changes while it is looked at, and tells of it as GitHub does: by webhooks and by event feeds."""
