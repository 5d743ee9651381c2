"""Leaderboards: official runs, tables, intervals and tie groups, statistics, and what a release shows."""
