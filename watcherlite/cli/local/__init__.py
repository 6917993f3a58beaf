"""The commands that work in this process, without the API."""
