"""Messages between workers, notifications to the world; kombu stays in here."""
