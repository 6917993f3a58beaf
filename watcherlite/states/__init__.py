"""The state machines: pure tables, with a reason on each line."""
