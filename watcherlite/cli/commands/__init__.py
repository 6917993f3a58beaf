"""The commands that talk to the API."""
