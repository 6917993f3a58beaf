"""Coroutines of plugins: steps that await them, and the event loop that runs them."""
