"""Action plans: the operations on them, and their progress."""
