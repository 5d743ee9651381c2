"""The read side: plain objects for pages and the API to print."""
