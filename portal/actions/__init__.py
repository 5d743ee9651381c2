"""Everything people can do: one function per action, run in one transaction, given the user and the time."""
