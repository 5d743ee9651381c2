"""The items of a split: ids with their rows, and columns of tables, e.g. texts."""
