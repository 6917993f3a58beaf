"""A sample of each notification, and the generated parts of the reference."""
