"""Requests on clusters: validated, and stored as actions and objects."""
