"""The execution of actions on clusters and nodes."""
