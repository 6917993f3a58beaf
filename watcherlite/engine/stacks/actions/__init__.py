"""The action types of stacks and resources, and their execution."""
