"""What requests may hold and answers hold: JSON schemas, one module per noun."""
