"""State that lasts: the port (`api`) and its adapter to databases."""
