"""The one SQLite file of the embedded set-up, which queue and store share."""
