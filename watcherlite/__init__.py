"""Plan, execute and monitor changes to infrastructure."""
