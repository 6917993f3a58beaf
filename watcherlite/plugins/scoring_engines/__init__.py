"""The built-in scoring engines."""
