"""Queue adapters: the five queues as one thing, on whatever keeps them."""
