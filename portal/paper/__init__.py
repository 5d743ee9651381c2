"""What the authors of an overview paper need: tables, figures, references, and where each number comes from."""
