"""Clusters, nodes, profiles and policies on the actions of the core.

A request is one action, see `actions`; it derives an action for each node. What
clusters and nodes are meanwhile, and what is told of it, follows these actions: see
`progress`.
"""
