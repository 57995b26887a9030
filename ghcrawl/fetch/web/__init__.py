"""How web pages and feeds are asked for: politely, within limits, and never inside our own network by accident."""
