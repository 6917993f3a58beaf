"""`watcherlite standalone`: all daemons in one process."""

import argparse

from watcherlite.cli.command import Command


class Standalone(Command):
    """Run all daemons in one process until SIGTERM or Ctrl-C.

    For one machine, for development and for tests. What runs then gets
    `graceful_shutdown_timeout` seconds to finish.
    """

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Serve; return the exit code."""
        # Only this command needs the daemons' machinery
        from watcherlite.cmd import standalone

        return standalone.main(self.configuration_arguments(parsed_args))
