"""The commands of action plans and actions."""
