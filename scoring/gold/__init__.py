"""Gold standards: made from annotators' votes, how far annotators agree, and checks of a gold file."""
