"""The REST API, on the same actions and queries as the pages. It turns HTTP into calls, and results into JSON."""
