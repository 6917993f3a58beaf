"""The strategies that come with watcherlite; none of them needs a cloud."""
