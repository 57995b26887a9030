"""The loop and what it decides: the same for every platform, broker and database."""
