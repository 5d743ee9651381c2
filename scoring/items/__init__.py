"""The items of a split: their ids with their rows, and what a table says of each, such as its text."""
