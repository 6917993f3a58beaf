"""The processes: each parses its configuration, builds a runtime and runs it."""
