"""`watcherlite actionplan watch`: one plan of an API, to its end."""

import argparse
import sys

from watcherlite.cli import remote, waking
from watcherlite.cli.output import Output
from watcherlite.cmd import exits

EPILOG = """\
Exit codes: 0 the plan SUCCEEDED; 1 it did not; 2 the command line is wrong, or there
is no such plan; 3 the API cannot be reached; 130 Ctrl-C: the plan goes on.
"""


class ActionPlanWatch(remote.Remote):
    """Follow an action plan to its end.

    On a terminal its actions are a tree that changes in place, else there is a line
    for each change. Ctrl-C ends the watching and not the plan.
    """

    def get_epilog(self) -> str:
        return EPILOG

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        remote.add_identifier(parser, 'UUID')
        parser.add_argument(
            '-v',
            '--verbose',
            action='store_true',
            help='show every change and every action of a large plan too',
        )
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Follow the plan; return the exit code."""
        uuid = parsed_args.identifier
        with self.client(parsed_args) as client, waking.Insistent() as insistent:
            # It needs the client, which help does not
            from watcherlite.cli import watching

            watch = watching.Watch(
                client,
                uuid,
                Output(sys.stdout),
                Output(sys.stderr),
                verbose=parsed_args.verbose,
                wait=insistent.wait,
            )
            try:
                return watch.run()
            except KeyboardInterrupt:
                self.say(f'the plan goes on; watcherlite actionplan watch {uuid}')
                return exits.INTERRUPTED
