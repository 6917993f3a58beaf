"""From rows to what clients read: one module per noun."""
