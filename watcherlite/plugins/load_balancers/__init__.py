"""The drivers of load balancers that come with watcherlite."""
