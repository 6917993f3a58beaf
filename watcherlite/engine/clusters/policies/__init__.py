"""Policies of clusters: bindings and contexts."""
