"""`watcherlite-engine`: serves the lane engine."""

import sys

from watcherlite.cmd import daemon
from watcherlite.domain.actions import ENGINE


def main() -> None:
    """Run the daemon."""
    sys.exit(daemon.main('watcherlite-engine', (ENGINE,)))
