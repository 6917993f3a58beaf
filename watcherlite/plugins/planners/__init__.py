"""The built-in planners."""
