"""The tools that people use today, run against the simulator: see `python -m benchmarks peers --help`."""
