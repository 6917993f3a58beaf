"""The strategies for OpenStack, with the names and parameters of Watcher."""
