"""The infra-optim vocabulary: what clients of Watcher speak."""
