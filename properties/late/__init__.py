"""Views that lag and schedulers that start anew: fewer interleavings, what still holds, and what no longer does."""
