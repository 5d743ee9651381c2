"""Baselines, trivial and learned; `registry` has them by name."""
