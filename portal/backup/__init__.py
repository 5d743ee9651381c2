"""Back up a portal to one file, and restore it."""
