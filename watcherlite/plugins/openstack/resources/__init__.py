"""Resource types of OpenStack."""
