"""The built-in goals; all have Watcher's names."""
