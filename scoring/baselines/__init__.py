"""Baselines: trivial ones, and ones that learn; `registry` has them by name."""
