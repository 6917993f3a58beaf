"""The handlers and representations of the nouns of the API, and its routes."""
