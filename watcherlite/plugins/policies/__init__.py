"""The built-in policies.

They share `sizes`: the number of nodes that an action creates or removes.
"""
