"""Organizers' own scorers: the program in a task's folder, what it reads and writes, and running it."""
