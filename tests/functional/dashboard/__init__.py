"""The dashboard in front of the API, without a browser."""
