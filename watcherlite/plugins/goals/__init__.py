"""The goals that come with watcherlite; all have Watcher's names."""
