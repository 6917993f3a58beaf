"""Stacks: what users do with them, and the actions that do it.

A stack operation is an action that derives one for each resource, along the
dependencies. The rows of stacks and resources follow these actions, see `progress`.
"""
