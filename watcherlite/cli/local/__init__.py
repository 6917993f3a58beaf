"""The commands that work in this process instead of through the API."""
