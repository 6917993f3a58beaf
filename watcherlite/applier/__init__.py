"""Action plans: what operators do with them, and how they get on."""
