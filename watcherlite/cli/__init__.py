"""The operator's command, `watcherlite`."""
