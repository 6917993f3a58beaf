"""The data models of OpenStack: their objects, collection and scopes."""
