"""Pages: a request comes in, an action or a query is called, a page goes out."""
