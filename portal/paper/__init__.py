"""Material for overview papers: tables, figures, references, and the source of each number."""
