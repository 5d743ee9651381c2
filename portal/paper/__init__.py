"""For authors of overview papers: tables, figures, references, and the source of each number."""
