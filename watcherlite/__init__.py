"""Plan, execute and watch over changes to infrastructure."""
