"""Stacks: requests of users, the actions that execute them, and the projection.

A stack operation is an action that derives one action for each resource, along the
dependencies. The rows of stacks and resources follow these actions, see `projection`.
"""
