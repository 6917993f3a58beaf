"""Audits: requests, runs and the plans that they propose."""
