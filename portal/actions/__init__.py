"""Everything that people can change. Each action is one function, which runs in one transaction."""
