"""`watcherlite-api`: serves the REST API."""

import sys

from watcherlite.cmd import daemon, serving


def main() -> None:
    """Run the daemon."""
    sys.exit(daemon.main('watcherlite-api', (), api=serving.Api()))
