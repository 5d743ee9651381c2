"""Trivial and learned baselines, listed by name in `registry`."""
