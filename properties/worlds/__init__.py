"""Where searches begin: small worlds by name, strategies for random ones, random runs."""
