"""Samples of all notifications, and the generated parts of the reference."""
