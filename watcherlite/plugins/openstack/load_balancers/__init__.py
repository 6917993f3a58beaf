"""Drivers of load balancers for services of OpenStack."""
