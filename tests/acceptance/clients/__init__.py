"""Clients and an identity service of others, unmodified, against our processes."""
