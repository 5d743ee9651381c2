"""Leaderboards: official runs, tables, intervals of scores and ranks, statistics, and what a release shows."""
