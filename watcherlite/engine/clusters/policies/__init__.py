"""Policies of clusters: their bindings, and what they are called with."""
