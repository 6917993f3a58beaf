"""The built-in strategies; none of them requires a cloud."""
