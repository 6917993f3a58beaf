"""The domain objects: frozen dataclasses and pure functions, without I/O."""
