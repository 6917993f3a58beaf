"""The rows of stacks and resources, which follow their actions, and the events."""
