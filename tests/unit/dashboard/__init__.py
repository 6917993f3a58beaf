"""Units of the dashboard."""
