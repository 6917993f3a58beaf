"""The types of resources that come with watcherlite."""
