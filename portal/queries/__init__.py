"""Read-only queries, which return plain objects for pages and the API."""
