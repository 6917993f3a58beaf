"""Monitoring: health checks, metrics, and the log line of each request."""
