"""The REST API: one WSGI application, a mount for each vocabulary."""
