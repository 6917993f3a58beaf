"""`watcherlite-applier`: serves the lane applier."""

import sys

from watcherlite.cmd import daemon
from watcherlite.domain.actions import APPLIER


def main() -> None:
    """Run the daemon."""
    sys.exit(daemon.main('watcherlite-applier', (APPLIER,)))
