"""Requests on stacks: validation, admission and storage."""
