"""The datasources of the strategies for OpenStack."""
