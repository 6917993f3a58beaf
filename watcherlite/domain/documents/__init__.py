"""Documents of users: JSON and YAML, their values, and the plan document."""
