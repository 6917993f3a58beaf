"""Rows of clusters and nodes, updated as their actions change state."""
