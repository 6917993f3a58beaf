"""What answers requests: one module per noun."""
