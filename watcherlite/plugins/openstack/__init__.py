"""Access of plugins to the services of OpenStack.

openstacksdk is an extra, and slow to import: only `session` and `authentication` import
it, and they are imported for the first connection.
"""
