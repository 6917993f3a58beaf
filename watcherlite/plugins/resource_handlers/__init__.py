"""The built-in types of resources."""
