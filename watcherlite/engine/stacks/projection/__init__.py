"""Projection of actions on the rows of stacks and resources, and the events."""
