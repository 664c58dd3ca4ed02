"""What is asked of worlds, of steps and of settled ends, a file a concern; `everything` puts them together."""
