"""The built-in drivers of load balancers."""
