"""The rules from events to notifications."""
