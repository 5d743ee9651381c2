"""Analysis of scores by class, item and slice, for one run and for all runs of a board, and the Ladder."""
