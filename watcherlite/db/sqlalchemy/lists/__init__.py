"""Lists: collections, filters and keyset pagination."""
