"""The worlds and the rules of the seed's experiments: see `python -m benchmarks freshness --help`."""
