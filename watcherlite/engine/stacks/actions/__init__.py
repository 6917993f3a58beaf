"""The action types of stacks and resources, and what executes them."""
