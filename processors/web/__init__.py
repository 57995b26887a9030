"""What pages and feeds of blogs mean: pure functions from (request, answer) to an outcome."""
