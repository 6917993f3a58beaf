"""Tests against a real OpenStack."""
