"""The builders that fill the payloads of each kind of object."""
