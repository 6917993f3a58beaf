"""The planners that come with watcherlite."""
