"""SQL statements of the store, by subject."""
