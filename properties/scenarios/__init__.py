"""Scenarios: what a cluster holds, what happens to it, and what must then be true."""
