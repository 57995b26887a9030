"""What each platform's JSON means: pure functions from a visit to an outcome."""
