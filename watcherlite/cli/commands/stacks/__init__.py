"""The commands of stacks."""
