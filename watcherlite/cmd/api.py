"""`watcherlite-api`: serves the REST API."""

import sys

from watcherlite.cmd import api_server, daemon


def main() -> None:
    """Run the daemon."""
    sys.exit(daemon.main('watcherlite-api', (), api=api_server.Api()))
