"""The message bus: commands between workers, and the publishing of notifications."""
