"""The items in a split: ids with their rows, and columns of item tables, such as texts."""
