"""The REST API, which translates HTTP requests into calls of actions and queries, and the results into JSON."""
