"""Documents, deadletters and dedup markers in MongoDB."""
