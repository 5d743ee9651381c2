"""A task's folder becomes rows: import it, push it, compare it with the present state, and apply it."""
