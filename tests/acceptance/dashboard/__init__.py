"""Tests of the dashboard in a browser."""
