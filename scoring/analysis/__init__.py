"""Analysis of scores by class, item and slice, for one run or all runs on a board, and the Ladder."""
