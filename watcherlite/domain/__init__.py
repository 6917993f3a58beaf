"""The nouns, as frozen dataclasses without any I/O."""
