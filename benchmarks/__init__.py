"""How fast gangproof is, as ratios and rates measured in one run: `python -m benchmarks` prints the table."""
