"""The action types that use OpenStack, with the names and inputs of Watcher."""
