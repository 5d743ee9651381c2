"""Read-only queries that return plain objects for pages and the API."""
