"""Runs that go on for ever: the smallest worlds in which v1.36.3 has one that breaks a promise, and their page."""
