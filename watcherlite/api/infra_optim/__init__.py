"""The infra-optim API: that of Watcher."""
