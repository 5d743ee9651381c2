"""Gold standards: creation from annotators' votes, annotator agreement, and checks of gold files."""
