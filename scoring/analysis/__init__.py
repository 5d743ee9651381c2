"""What scores are made of: by class, item and language, for one run and for all runs of a board; and the ladder."""
