"""The REST API: it translates HTTP requests into calls of actions and queries, and their results into JSON."""
