"""Tests of watcherlite with unmodified third-party clients and keystone."""
