"""Organizers' own scorers on a worker: which may run, and running them confined.

Nothing here runs a scorer unless an administrator has approved exactly its bytes.
"""
