"""Plugins: the contract, the loader, and the built-in ones."""
