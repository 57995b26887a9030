"""The five queues in the embedded SQLite file."""
