"""`watcherlite standalone`: all daemons in one process."""

import argparse

from watcherlite.cli.command import Command


class Standalone(Command):
    """Run all daemons in one process until SIGTERM or Ctrl-C.

    For single machines, development and tests. On exit, running actions get
    `graceful_shutdown_timeout` seconds to finish.
    """

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        # Only this command needs the daemons.
        from watcherlite.cmd import standalone

        return standalone.main(self.configuration_arguments(parsed_args))
