"""Clusters, nodes, profiles and policies, on the actions of the core.

A request (`requests`) is stored as one action, whose execution (`actions`) derives an
action for each node. The rows of clusters and nodes, and their events, are projected
from the changes of these actions (`projection`).
"""
