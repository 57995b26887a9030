"""Documents, deadletters and dedup markers in the embedded SQLite file."""
