"""REST on the same actions and queries as the pages: it turns HTTP into a call, and an answer into JSON."""
