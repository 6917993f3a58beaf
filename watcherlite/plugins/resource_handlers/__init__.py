"""The built-in resource types."""
