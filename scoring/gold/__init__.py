"""Gold standards: create them from annotators' votes, measure annotator agreement, and check gold files."""
