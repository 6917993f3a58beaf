"""JSON schemas of requests and responses, one module per noun."""
