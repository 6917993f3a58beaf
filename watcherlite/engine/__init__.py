"""Audits, stacks and clusters, on the actions of the core."""
