"""Actions: everything that people can change. Each action is a function that normally runs in one transaction."""
