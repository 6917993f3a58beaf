"""The policies that come with watcherlite.

What several of them share is `sizes`: how many nodes an action has come or go.
"""
