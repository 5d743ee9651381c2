"""Web pages. A view receives a request, calls an action or a query, and renders a page."""
