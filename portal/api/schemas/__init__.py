"""The types of the API's responses. They describe the OpenAPI schema and convert the results of queries."""
