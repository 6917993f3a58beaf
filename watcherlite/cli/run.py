"""`watcherlite run`: one action plan, from its document to its end."""

import argparse
from typing import TYPE_CHECKING

from watcherlite.cli import plan_file
from watcherlite.cli.command import Command
from watcherlite.cmd import exits
from watcherlite.cmd.arguments import usage

if TYPE_CHECKING:
    from watcherlite.domain.documents import Validate

EPILOG = """\
Exit codes: 0 the plan SUCCEEDED; 1 it did not; 2 the command line, the plan or the
configuration is wrong; 3 the database cannot be reached, or its schema does not fit;
130 the plan was cancelled by Ctrl-C, 143 by SIGTERM. While the broker cannot be reached
plans run, and their notifications wait in the database.
"""


class Run(Command):
    """Execute an action plan to its end.

    The plan is stored before it is started. Ctrl-C cancels it and waits until
    what runs has stopped; a second one leaves at once. A plan whose process was
    lost goes on with --resume.
    """

    def get_epilog(self) -> str:
        return EPILOG

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'plan',
            nargs='?',
            metavar='PLAN',
            help='the plan document, YAML or JSON; - for standard input',
        )
        parser.add_argument(
            '--resume',
            metavar='UUID',
            help='go on with a stored plan; `last` is the newest that has not ended',
        )
        parser.add_argument(
            '--skip',
            action='append',
            default=[],
            metavar='NAME[=REASON]',
            help='do not execute this action; may be repeated',
        )
        parser.add_argument(
            '--dry-run',
            action='store_true',
            help='check the plan, show what would run in which order, change nothing',
        )
        parser.add_argument(
            '-o',
            '--output',
            choices=('text', 'json'),
            default='text',
            help='json: one document on standard output at the end, progress on '
            'standard error',
        )
        parser.add_argument(
            '-v',
            '--verbose',
            action='store_true',
            help='show every change and every action of a large plan too',
        )
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Run the plan; return the exit code."""
        if (parsed_args.plan is None) == (parsed_args.resume is None):
            raise exits.UsageError(
                usage('watcherlite run', 'name either a PLAN file or --resume UUID')
            )
        if parsed_args.dry_run and parsed_args.resume:
            raise exits.UsageError('--dry-run needs a PLAN file, not --resume')
        document = None
        if parsed_args.plan is not None:
            document = plan_file.read(
                parsed_args.plan, lambda: self._validator(parsed_args)
            )
            plan_file.skips(parsed_args.skip, (a.name for a in document.actions))
        # The database's libraries wait until the command line makes sense
        from watcherlite.cli import executing

        configuration = self.configuration(parsed_args)
        request = executing.Request(
            skip=parsed_args.skip,
            dry_run=parsed_args.dry_run,
            as_json=parsed_args.output == 'json',
            verbose=parsed_args.verbose,
            debug=self.debug(parsed_args),
        )
        if document is None:
            return executing.resume(configuration, request, parsed_args.resume).run()
        execution = executing.prepare(configuration, request, document)
        # A large one takes more memory than its execution
        del document
        return execution.run() if execution is not None else exits.SUCCESS

    def _validator(self, parsed_args: argparse.Namespace) -> 'Validate':
        from watcherlite.cli import executing

        return executing.validator(
            self.configuration(parsed_args), self.debug(parsed_args)
        )
