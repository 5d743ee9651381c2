"""Gold standards: made from annotators' votes, annotators' agreement, and checks of a gold file."""
