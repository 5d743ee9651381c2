"""Trivial and learned baselines. `registry` lists them by name."""
